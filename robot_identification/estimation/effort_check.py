# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Check of the stated unit of the effort against the kind that the recordings show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from robot_identification.errors import DataError
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.model import RobotModel
from robot_identification.processing import Dataset, EffortMeaning, judge_effort, KIND_NAMES

# Drive gains this near to one make current and torque numbers of one size [N m/A]; chosen, as the
# masses of a URDF are wrong by less.
NEAR_ONE = 2.0


class EffortFinding(NamedTuple):
    """Kind of the effort, in words."""

    text: str  # with the evidence, or the motion that would decide
    warning: str  # empty where nothing speaks against the stated unit


def check_effort_meaning(
    robot: RobotModel, datasets: Sequence[Dataset], options: IdentifyOptions, has_scale: bool
) -> EffortFinding:
    """
    Return what the effort of recordings is.

    The robot has the drive gains that are used; `has_scale` says whether they are known. Raises
    DataError if the recordings show another kind than the unit says, so that the model would be
    wrong, unless `trust_effort_unit` is set.
    """
    unit = datasets[0].effort_unit
    meaning = judge_effort(robot, datasets)
    if not meaning.contradicts(unit):
        text = meaning.describe()
        unlikely = meaning.joints and unit not in meaning.open_kinds
        return EffortFinding(text, f'effort is read as {unit}: {text}' if unlikely else '')
    finding = (
        f'effort is read as {KIND_NAMES[unit]} ({unit}), but the recording shows '
        f'{KIND_NAMES[str(meaning.kind)]} ({meaning.evidence()})'
    )
    if options.trust_effort_unit or not _is_harmful(robot, unit, meaning, has_scale):
        return EffortFinding(finding, finding)
    raise DataError(
        f'{", ".join(dataset.source for dataset in datasets)}: {finding}: {meaning.remedy}, or '
        'keep the unit with --trust-effort-unit'
    )


def _is_harmful(
    robot: RobotModel, unit: str, meaning: EffortMeaning, has_scale: bool
) -> bool:
    """Return whether a model from the stated unit would be wrong."""
    if unit == 'A' and meaning.kind == 'Nm':
        # A relative scale is no claim, and gains near one turn torques into torques.
        gains = np.abs(robot.drives.drive_gain)
        return has_scale and not 1.0 / NEAR_ONE < float(np.median(gains)) < NEAR_ONE
    return True
