# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Positions that a driver keeps within one turn: they jump by it where the joint goes on."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import allocate, FloatArray, IntegerArray, release
from robot_identification.processing.blocks import row_blocks

TURN = 2.0 * np.pi  # [rad], by definition
# A jump from row to row of a turn within this [rad] is one: no joint goes so far in a sample, and
# at 10 Hz the fastest go half a radian.
NEAR_TURN = 0.5


def find_wraps(q: FloatArray, branch: IntegerArray) -> IntegerArray:
    """
    Return where positions (N, n) [rad] jump by a turn, shape (m, 3): row, joint, sign.

    The row is that after the jump; there is none from one branch of the clock to another. A joint
    of which most other large steps are no turns has none, as one whose unit is no radian.
    """
    found, large = [np.zeros((0, 3), dtype=np.int64)], np.zeros(q.shape[1])
    for block in row_blocks(len(q) - 1):
        steps = np.diff(q[block.start: block.stop + 1], axis=0)
        jumps = np.abs(np.abs(steps) - TURN) < NEAR_TURN
        large += np.count_nonzero(np.abs(steps) > NEAR_TURN, axis=0)
        if jumps.any():
            jumps &= (np.diff(branch[block.start: block.stop + 1]) == 0)[:, None]
            rows, joints = np.nonzero(jumps)
            signs = np.sign(steps[rows, joints]).astype(np.int64)
            found.append(np.column_stack([block.start + 1 + rows, joints, signs]))
        release(q)
    wraps: IntegerArray = np.concatenate(found)
    count = np.bincount(wraps[:, 1], minlength=q.shape[1])
    kept: IntegerArray = wraps[(2.0 * count > large)[wraps[:, 1]]]
    return kept


def unwrap(q: FloatArray, wraps: IntegerArray) -> FloatArray:
    """Return positions (N, n) without their jumps by a turn; the first ones stay."""
    unwrapped: FloatArray = allocate(q.shape)
    for block in row_blocks(len(q)):
        unwrapped[block] = q[block]
        for row, joint, sign in wraps[wraps[:, 0] < block.stop]:
            unwrapped[max(row, block.start): block.stop, joint] -= sign * TURN
        release(q)
        release(unwrapped)
    return unwrapped
