# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Dataset: smoothed kinematics on the recorded stamps, the raw effort, and what moves in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import BoolArray, FloatArray, release
from robot_identification.model import (
    CorrectionSignals, EFFORT_UNITS, Motion, RobotModel,
)
from robot_identification.processing.blocks import (
    extremes, row_blocks, take_rows, thin_chosen,
)
from robot_identification.processing.periods import find_repetition
from robot_identification.texts import short_repr

# Below this speed a joint counts as resting.
MOVING_SPEED = 0.02
# Delays below this change nothing [s].
SMALLEST_DELAY = 0.001


@dataclass(frozen=True)
class Gap:
    """A pause in which nothing was recorded."""

    start: float  # Last stamp before it, seconds after the first joint state
    duration: float  # Time to the next one [s]


@dataclass(frozen=True)
class Delay:
    """Time by which effort lags behind position, as found in a recording."""

    value: float  # Positive where the effort is recorded too late [s]
    # Of `value` [s]; the larger of what the noise explains and the scatter of the joints
    standard_error: float
    # The same of each joint alone, by the noise alone; None where it is not known
    of_joints: tuple[Delay | None, ...] = ()

    @property
    def is_significant(self) -> bool:
        """Return whether it exceeds the errors of the model: three standard errors, 1 ms."""
        return abs(self.value) > max(3.0 * self.standard_error, SMALLEST_DELAY)

    def describe(self, compensated: float = 0.0) -> str:
        """Return the delay in words, `compensated` [s] being taken off before."""
        relation = 'lags behind' if self.value >= 0.0 else 'is ahead of'
        done = f'beyond {compensated * 1e3:.1f} ms taken off' if compensated else 'not taken off'
        return (
            f'effort {relation} position by {abs(self.value) * 1e3:.1f} +- '
            f'{self.standard_error * 1e3:.1f} ms ({done})'
        )


@dataclass(frozen=True)
class Contradiction:
    """
    Effort that contradicts the arm in sign or size.

    Several joints do where a unit or a mounting is wrong. One joint whose bodies are light has
    another ratio where its centre of mass is a centimetre off: the hypotheses of `validation`,
    which know how far a URDF may be wrong, judge that.
    """

    text: str  # the joints, what was found and what to check
    of_several: bool
    joints: tuple[str, ...]  # their names


@dataclass(frozen=True, eq=False)
class Dataset:
    """Samples that estimators fit and validation scores."""

    source: str  # the bag
    joint_names: tuple[str, ...]  # the n joints, kinematic order
    # (N,): recorded stamps, seconds after the first joint state, not decreasing.
    stamps: FloatArray
    # Raw positions, smoothed velocities and accelerations at the stamps; those of the rotors, too,
    # where a second encoder recorded them.
    motion: Motion
    # (N, n): recorded effort, unfiltered, in `effort_unit`; NaN before the window.
    effort: FloatArray
    effort_unit: str  # unit of the effort; one of EFFORT_UNITS
    scored: BoolArray  # (N,): samples that errors are taken on
    # (N,): samples that parameters are estimated from: scored, no duplicate, not in the rest
    # before the first and after the last motion.
    fitted: BoolArray
    segments: tuple[slice, ...]  # parts without a gap
    excluded: Mapping[str, int]  # samples not scored, or not fitted, by the reason
    rate: float  # sampling rate by the median period [Hz]
    notes: tuple[str, ...]  # what a reader of the report should know about the data
    gaps: tuple[Gap, ...] = ()  # pauses that split the recording
    delay: float = 0.0  # time by which the kinematics were shifted to meet the effort [s]
    # What is left between them; None where it was not looked for, or could not be found.
    found_delay: Delay | None = None
    # Where the effort contradicts the arm; empty where that is not known.
    contradictions: tuple[Contradiction, ...] = ()
    # (n,): standard deviations of 'q', 'dq' and 'effort' about the mean of all periods, of one
    # sample; empty unless the kinematics are a Fourier series.
    noise: Mapping[str, FloatArray] = field(default_factory=dict)
    # (N, n): velocity as it was recorded, at the time of the kinematics; NaN for joints without
    # it, None where no joint has it.
    measured_dq: FloatArray | None = None
    # Joint states of the recording that these are evenly spread parts of; None where they are all.
    whole: int | None = None

    __repr__ = short_repr

    def __len__(self) -> int:
        return len(self.stamps)

    @property
    def correction_signals(self) -> CorrectionSignals:
        """Signals that corrections of a model are computed from."""
        measured = self.measured_dq
        if measured is None:
            measured = np.full(self.motion.q.shape, np.nan)
        return CorrectionSignals(self.motion, measured, self.rate)

    def thinned(self, most: int) -> tuple[Motion, FloatArray]:
        """Return motion and effort of every k-th sample to fit, hardly more than `most`."""
        rows = thin_chosen(self.fitted, most)
        q, dq, ddq, effort = (
            take_rows(signal, rows)
            for signal in (self.motion.q, self.motion.dq, self.motion.ddq, self.effort)
        )
        return Motion(q, dq, ddq), effort

    def torque_per_effort(self, robot: RobotModel) -> FloatArray:
        """Return what turns recorded effort into joint torque of an arm, shape (n,)."""
        is_current = EFFORT_UNITS[self.effort_unit].is_current
        return robot.drives.drive_gain if is_current else np.ones(robot.n)

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """All that has a row for each sample."""
        motion = self.motion
        sides = (motion,) if motion.rotor is None else (motion, motion.rotor)
        known = [array for array in (motion.temperature, self.measured_dq) if array is not None]
        return (
            *(array for side in sides for array in (side.q, side.dq, side.ddq)),
            self.effort, self.stamps, self.scored, self.fitted, *known,
        )

    def release(self) -> None:
        """Release the memory behind arrays that are files; they are read again when needed."""
        for array in self.arrays:
            release(array)

    @cached_property
    def period(self) -> float | None:
        """Time after which the motion repeats itself [s]; None where it does not."""
        return find_repetition(self.stamps, self.motion.q, self.fitted)

    @property
    def moving(self) -> BoolArray:
        """Samples in which each joint moves, shape (N, n)."""
        return np.abs(self.motion.dq) > MOVING_SPEED


def have_rotors(datasets: Sequence[Dataset]) -> bool:
    """Return whether rotor positions were recorded in all recordings."""
    return all(dataset.motion.rotor is not None for dataset in datasets)


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
    return extremes(len(dataset), lambda rows: signal[rows][chosen[rows]], signal, chosen)


# Finer steps are below what friction before sliding depends on [rad]; chosen: a fifth of the
# smallest displacement of the dictionary.
FINEST_STEP = 2.0e-5
# Samples that steps are looked for in, enough to see small changes.
STEP_SAMPLES = 20_000
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
    steps = np.array([_step_of(of_joint) for of_joint in np.asarray(q[:STEP_SAMPLES]).T])
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
