# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Motion that a dataset shows: joints that move, and the steps in which positions are read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.processing.blocks import row_blocks
from robot_identification.processing.dataset import Dataset

# A joint that stays within this range [rad] does not show its friction or inertia.
IDLE_RANGE = 0.05
# Part of the largest speed of a joint from which on it moves in a direction; chosen: noise of a
# joint at rest is below it, and so are its reversals.
DIRECTED_SHARE = 0.1


def find_stationary_joints(datasets: Sequence[Dataset]) -> tuple[int, ...]:
    """Return the joints that stay within `IDLE_RANGE` in all recordings."""
    ranges = np.max([_ranges(dataset) for dataset in datasets if dataset.scored.any()], axis=0)
    return tuple(np.flatnonzero(ranges < IDLE_RANGE).tolist())


def find_constant_effort_joints(dataset: Dataset) -> tuple[int, ...]:
    """Return the joints that move while their effort stays the same to the last bit."""
    moving = _ranges(dataset) >= IDLE_RANGE if dataset.scored.any() else np.zeros(0, dtype=bool)
    lowest, highest = _extremes(dataset, dataset.effort, dataset.fitted)
    return tuple(j for j in np.flatnonzero(moving).tolist() if lowest[j] == highest[j])


def find_unexcited_joints(datasets: Sequence[Dataset]) -> tuple[int, ...]:
    """Return the joints that hardly move, or whose effort never changes, in all recordings."""
    constant_effort = set.intersection(
        *(set(find_constant_effort_joints(dataset)) for dataset in datasets)
    )
    return tuple(sorted(constant_effort | set(find_stationary_joints(datasets))))


def seconds_by_direction(dataset: Dataset) -> FloatArray:
    """Return how long each joint moves forward and backward in what is fitted, (2, n) [s]."""
    dq, fitted = dataset.motion.dq, dataset.fitted
    slowest, fastest = _extremes(dataset, dq, fitted)
    least = DIRECTED_SHARE * np.maximum(-slowest, fastest)
    samples = np.zeros((2, dq.shape[1]))
    for rows in row_blocks(len(dataset), dq, fitted):
        speed = np.asarray(dq[rows])[fitted[rows]]
        samples += [np.sum(speed > least, axis=0), np.sum(speed < -least, axis=0)]
    return samples / dataset.rate


def _ranges(dataset: Dataset) -> FloatArray:
    """Return how far each joint moves in what is scored [rad], shape (n,)."""
    lowest, highest = _extremes(dataset, dataset.motion.q, dataset.scored)
    return highest - lowest


def _extremes(
    dataset: Dataset, signal: FloatArray, chosen: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Return the least and the largest chosen value of each joint; infinite without any."""
    n = signal.shape[1]
    lowest, highest = np.full(n, np.inf), np.full(n, -np.inf)
    for rows in row_blocks(len(dataset), signal, chosen):
        values = np.asarray(signal[rows])[chosen[rows]]
        lowest = np.minimum(lowest, values.min(axis=0, initial=np.inf))
        highest = np.maximum(highest, values.max(axis=0, initial=-np.inf))
    return lowest, highest


# Finer steps are below what friction before sliding depends on [rad]; chosen: a fifth of the
# smallest displacement of the dictionary.
FINEST_STEP = 2.0e-5
# Samples that are used, enough to see small changes.
MOST_SAMPLES = 20_000
# Changes of at most so many steps tell a multiple of a step from other numbers; chosen.
MOST_STEPS = 20.0
FEWEST_CHANGES = 20
# Distance of a change from a multiple of the step, as a share of the step; chosen.
ROUNDING = 0.01


def find_position_steps(q: FloatArray) -> FloatArray:
    """
    Return the steps in which positions (N, n) are read [rad or m], 0 where it is too fine.

    Positions have a step where all small changes from sample to sample are multiples of one.
    """
    steps = np.array([_step_of(of_joint) for of_joint in np.asarray(q[:MOST_SAMPLES]).T])
    return np.where(steps > FINEST_STEP, steps, 0.0)


def _step_of(q: FloatArray) -> float:
    """Return the step of the positions (N,) of a joint, 0 where they have none."""
    changes = np.abs(np.diff(q))
    changes = changes[changes > 0.0]
    if not changes.size:
        return 0.0
    step = float(changes.min())
    multiples = changes[changes < MOST_STEPS * step] / step
    is_stepped = multiples.size >= FEWEST_CHANGES and bool(
        np.all(np.abs(multiples - np.round(multiples)) < ROUNDING)
    )
    return step if is_stepped else 0.0
