# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Blocks of a long recording that a model fits worse than the parts its errors are from."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.estimation.choice import Choice
from robot_identification.estimation.fitted_recordings import FittedRecordings

# RMS of the residual in a block over the largest one of a part, above which something is wrong
# there. Parts are 20 s and blocks longer, so that blocks differ less than parts do; chosen: half
# as much again.
WORSE = 1.5
# A block is named with so many joints at most.
MOST_NAMED = 3


def describe_worst_blocks(choice: Choice, fitted: FittedRecordings) -> tuple[str, ...]:
    """
    Return where a recording is unlike the evenly spread parts that the choices were made on.

    The factors of the fit have the residuals of all blocks of time without another pass; outliers
    count in them as in the fit, which makes the comparison a cautious one.
    """
    problem = fitted.fit.estimate.problem or fitted.fit.problem
    blocks = len(problem.blocks)
    if blocks < 2 or all(dataset.whole is None for dataset in choice.datasets):
        return ()
    squares = problem.squared_residuals_by_block(fitted.fit.estimate.unknowns)
    largest = largest_of_parts(choice, fitted)
    ratios = np.sqrt(squares * blocks / np.maximum(problem.samples, 1)) / largest
    found = []
    for block in np.flatnonzero(np.any(ratios > WORSE, axis=1)):
        joints = np.argsort(-ratios[block])[:MOST_NAMED]
        named = ', '.join(
            f'{fitted.robot.joint_names[joint]} ({ratios[block, joint]:.1f} times)'
            for joint in joints if ratios[block, joint] > WORSE
        )
        first, last = 100.0 * block / blocks, 100.0 * (block + 1) / blocks
        found.append(
            f'between {first:.0f} and {last:.0f} % of the joint states residuals are larger than '
            f'anywhere in the parts that errors are from: {named}; look at that time, and if the '
            'recording is wrong there, identify from what is before or after it (--stop, --start)'
        )
    return tuple(found)


def largest_of_parts(choice: Choice, fitted: FittedRecordings) -> FloatArray:
    """Return the largest RMS of held-out residuals in one part of the recordings, (n,) [N m]."""
    found = []
    for dataset, rows, predicted in zip(
        choice.datasets, fitted.rows, choice.trial.predictions, strict=True
    ):
        residual = (dataset.effort[rows] - predicted) * dataset.torque_per_effort(fitted.robot)
        # Of thinned samples, which parts begin at.
        edges = np.searchsorted(
            np.flatnonzero(rows), [0, *dataset.motion.starts, len(dataset)]
        )
        found += [
            np.sqrt(np.mean(residual[first:last] ** 2, axis=0))
            for first, last in pairwise(edges) if last > first
        ]
    largest: FloatArray = np.max(found, axis=0)
    return largest
