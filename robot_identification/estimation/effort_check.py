# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Check of the stated unit of the effort against the kind that the recordings show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from robot_identification.errors import DataError
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.model import EFFORT_UNITS, POSITION_ERROR, RobotModel
from robot_identification.processing import Dataset, judge_effort

# Drive gains this near to one make current and torque numbers of one size [N m/A]; chosen, as the
# masses of a URDF are wrong by less.
NEAR_ONE = 2.0


class EffortFinding(NamedTuple):
    """Kind of the effort, in words."""

    text: str  # with the evidence, or the motion that would decide
    warning: str  # empty where nothing speaks against the stated unit


def check_effort_meaning(
    robot: RobotModel, datasets: Sequence[Dataset], options: IdentifyOptions, *,
    has_scale: bool, stated: bool,
) -> EffortFinding:
    """
    Return what the effort of recordings is.

    The robot has the drive gains that are used; `has_scale` says whether they are known, `stated`
    whether the unit is the user's or the recordings' word, and no default. Raises DataError,
    unless `trust_effort_unit` is set, if the model would be wrong: the recordings show another
    kind than the unit says, or leave it open while the unit is a default.
    """
    unit = datasets[0].effort_unit
    if unit == POSITION_ERROR:
        return EffortFinding(f'effort is the {EFFORT_UNITS[unit].description}', '')
    meaning = judge_effort(robot, datasets)
    text, name = meaning.describe(), f'{EFFORT_UNITS[unit].description} ({unit})'
    if meaning.contradicts(unit):
        kind = str(meaning.kind)
        shown = EFFORT_UNITS[kind].description
        wrong = _is_harmful(robot, unit, kind, has_scale, meaning.scale)
        remedy = f'give --effort-unit {kind}, or keep the unit with --trust-effort-unit'
        if EFFORT_UNITS[kind].is_current and meaning.scale > NEAR_ONE:
            # Geared joints have more torque per current; masses are guessed in many descriptions.
            shown += ', or torque of another unit, factor or mass than is stated'
            remedy = (
                f'give --effort-unit {kind} if it is {EFFORT_UNITS[kind].description}; if it is '
                'not, correct the unit or the factor of the effort, or the masses of the URDF, '
                'or keep both with --trust-effort-unit'
            )
        text = (
            f'effort is read as {name}, but the recording shows {shown} ({meaning.evidence()})'
        )
    elif not meaning.joints or meaning.open_kinds == (unit,):
        return EffortFinding(text, '')
    else:
        others = [kind for kind in meaning.open_kinds if kind != unit]
        wrong = bool(meaning.motion) and not stated and any(
            _is_harmful(robot, unit, kind, has_scale, np.nan) for kind in others
        )
        source = 'as stated' if stated else 'which is the default of this arm'
        text = f'effort is read as {name}, {source}, and the recording leaves it open: {text}'
        remedy = 'or state what it is with --effort-unit'
    if not wrong or options.trust_effort_unit:
        return EffortFinding(text, text)
    raise DataError(f'{", ".join(dataset.source for dataset in datasets)}: {text}: {remedy}')


def _is_harmful(
    robot: RobotModel, unit: str, kind: str, has_scale: bool, scale: float
) -> bool:
    """
    Return whether a model from a unit would be wrong if the effort is of another kind.

    `scale` is the effort per torque of the URDF, NaN where it is not known.
    """
    if EFFORT_UNITS[unit].is_current and kind == 'Nm':
        # A relative scale is no claim, and gains near one turn torques into torques.
        gains = np.abs(robot.drives.drive_gain)
        return has_scale and not 1.0 / NEAR_ONE < float(np.median(gains)) < NEAR_ONE
    # What is near the torque of the URDF is a torque as far as masses tell: a factor, a sign or an
    # axis of some joint makes it differ, which the tests of the data name.
    near = 1.0 / NEAR_ONE < scale < NEAR_ONE
    return not (unit == 'Nm' and EFFORT_UNITS[kind].is_current and near)
