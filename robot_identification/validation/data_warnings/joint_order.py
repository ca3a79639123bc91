# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Test of exchanged signals of two joints: their names, their positions or their efforts."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from robot_identification.model import Motion
from robot_identification.validation.data_warnings.candidate import Candidate
from robot_identification.validation.data_warnings.evidence import add_load, Evidence
from robot_identification.validation.data_warnings.likelihood import fit_blocks, reduce_rows
from robot_identification.validation.data_warnings.thresholds import LEAST_FALL, LEAST_ORDER_GAIN
from robot_identification.validation.verdict import DataWarning

WORDS = {
    'names': 'the names of {} and {} may be exchanged',
    'positions': 'the positions and velocities of {} and {} may be exchanged',
    'efforts': 'the efforts of {} and {} may be exchanged',
}


def find_exchanged_joints(evidence: Evidence) -> list[Candidate]:
    """Return the exchanges of two joints that explain the data better."""
    found = []
    same = evidence.in_band(evidence.regressor())
    # An effort in ampere belongs to the drive of the joint that it is given to.
    gain_of = evidence.datasets[0].torque_per_effort(evidence.robot)
    effort, deviation = evidence.in_band(evidence.torque) / gain_of, evidence.deviation / gain_of
    measured = np.flatnonzero(evidence.independent > 0.0).tolist()
    for i, j in combinations(measured, 2):
        order = np.arange(evidence.robot.n)
        order[[i, j]] = order[[j, i]]
        motion = evidence.motion
        exchanged = Motion(motion.q[:, order], motion.dq[:, order], motion.ddq[:, order])
        other = evidence.in_band(evidence.regressor(exchanged))
        friction = add_load(
            [evidence.unloaded[k] for k in order], evidence.robot, exchanged, evidence.windows
        )
        independent = evidence.independent.copy()
        independent[[i, j]] = independent[[i, j]].mean()
        fit = fit_blocks(
            evidence.blocks, evidence.blocks.targets[:, :, 0], evidence.prior, independent
        )
        straight = np.arange(evidence.robot.n)
        for kind, rows, of_rows, of_torque in (
            ('names', other, friction, order),
            ('positions', other, friction, straight),
            ('efforts', same, evidence.friction, order),
        ):
            blocks = reduce_rows(
                rows, of_rows,
                (effort[:, of_torque] * gain_of)[:, :, None],
                np.abs(deviation[of_torque] * gain_of),
            )
            trial = fit_blocks(blocks, blocks.targets[:, :, 0], evidence.prior, independent)
            gain = fit.score - trial.score
            if gain > LEAST_ORDER_GAIN and evidence.fall(trial) > LEAST_FALL:
                found.append(Candidate(_warning(evidence, kind, i, j, gain), gain))
    return found


def _warning(evidence: Evidence, kind: str, i: int, j: int, gain: float) -> DataWarning:
    names = evidence.names((i, j))
    return DataWarning(
        'joint_order', names, WORDS[kind].format(*names),
        'gain in log likelihood when they are exchanged back', '', gain, LEAST_ORDER_GAIN,
        'compare the joint names of the driver with the joints that move on the robot, one by one',
    )
