# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Margins of arms that the usual ones leave no motion: short strokes, weak or heavy joints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robot_identification.excitation.experiment_file import read_experiment
from robot_identification.excitation.holding import find_experiment_holding
from robot_identification.excitation.margins import MARGINS, TORQUE_SHARE
from robot_identification.model import RobotModel

# Torques that are allowed, as shares of their limits; the first that leaves a pose to rest in.
TORQUE_SHARES = (MARGINS['torque'], TORQUE_SHARE, 0.95)
# Share of the narrowest range that the margin takes at most; chosen: four fifths are left.
NARROW = 0.1
# Share of a range that the usual margins at its ends may take; chosen: half is left to move in.
USUAL_PART = 0.5


def narrow_margin(robot: RobotModel) -> float:
    """Return the distance to keep from the ends of all ranges [rad or m]."""
    spans = robot.limits.upper - robot.limits.lower
    return float(f'{min(MARGINS["position"], NARROW * float(spans.min())):.3g}')


def holding_share(robot: RobotModel, content: Mapping[str, Any], source: str) -> float:
    """
    Return the share of the torque limits that leaves an experiment a pose to rest in.

    The largest one where none does. `content` is that of an experiment file, `source` its name in
    errors.
    """
    for share in TORQUE_SHARES:
        margins = {**content['margins'], 'torque': share}
        experiment = read_experiment({**content, 'margins': margins}, source)
        if find_experiment_holding(robot, experiment).held > 0.0:
            break
    return share


def describe_share(share: float) -> str:
    """Return in words why an arm uses another share of its torques than the usual one."""
    return (
        f'{share:.0%} of the torque limits are allowed instead of {MARGINS["torque"]:.0%}: with '
        'less no pose could be held against gravity'
    )


def adapt_margins(
    robot: RobotModel, content: Mapping[str, Any]
) -> tuple[dict[str, float], tuple[str, ...]]:
    """
    Return the margins of a study, and remarks on those that are not the usual ones.

    Other than in a generic experiment the usual margin is kept wherever it leaves half of a range,
    since the runner of a real arm asks for it. `content` is that of one of its motions.
    """
    margins, remarks = dict(MARGINS), []
    spans = robot.limits.upper - robot.limits.lower
    if 2.0 * margins['position'] > USUAL_PART * float(spans.min()):
        margins['position'] = narrow_margin(robot)
        narrowest = int(spans.argmin())
        unit = robot.position_units[narrowest]
        remarks.append(
            f'{margins["position"]:g} rad (m) are kept from the position limits instead of '
            f'{MARGINS["position"]:g}: {robot.joint_names[narrowest]} has a range of '
            f'{spans[narrowest]:.4g} {unit}'
        )
    share = holding_share(robot, {**content, 'margins': margins}, 'the answers')
    if share != margins['torque']:
        margins['torque'] = share
        remarks.append(describe_share(share))
    return margins, tuple(remarks)
