# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Joints of datasets that show nothing: they hardly move, or their effort never changes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.model import block_slices
from robot_identification.processing.dataset import Dataset

# A joint that stays within this range [rad] does not show its friction or inertia.
IDLE_RANGE = 0.05


def find_stationary_joints(datasets: Sequence[Dataset]) -> tuple[int, ...]:
    """Return the joints that stay within `IDLE_RANGE` in all recordings."""
    ranges = np.max([_ranges(dataset) for dataset in datasets if dataset.scored.any()], axis=0)
    return tuple(np.flatnonzero(ranges < IDLE_RANGE).tolist())


def find_constant_effort_joints(dataset: Dataset) -> tuple[int, ...]:
    """Return the joints that move while their effort stays the same to the last bit."""
    moving = _ranges(dataset) >= IDLE_RANGE if dataset.scored.any() else np.zeros(0, dtype=bool)
    constant_effort = []
    for joint in np.flatnonzero(moving):
        effort = dataset.effort[:, joint][dataset.fitted]
        if effort.size and effort.min() == effort.max():
            constant_effort.append(int(joint))
    return tuple(constant_effort)


def find_unexcited_joints(datasets: Sequence[Dataset]) -> tuple[int, ...]:
    """Return the joints that hardly move, or whose effort never changes, in all recordings."""
    constant_effort = set.intersection(
        *(set(find_constant_effort_joints(dataset)) for dataset in datasets)
    )
    return tuple(sorted(constant_effort | set(find_stationary_joints(datasets))))


def _ranges(dataset: Dataset) -> FloatArray:
    """Return how far each joint moves in what is scored [rad], shape (n,)."""
    extremes = []
    for rows in block_slices(len(dataset)):
        q = dataset.motion.q[rows][dataset.scored[rows]]
        if len(q):
            extremes += [q.min(axis=0), q.max(axis=0)]
    ranges: FloatArray = np.ptp(extremes, axis=0)
    return ranges
