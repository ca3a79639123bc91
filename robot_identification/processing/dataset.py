# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Dataset: smoothed kinematics on the recorded stamps, with the raw effort."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import BoolArray, FloatArray, release
from robot_identification.model import (
    CorrectionSignals, EFFORT_UNITS, Motion, RobotModel,
)
from robot_identification.processing.blocks import take_rows, thin_chosen
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

    def joint(self, number: int) -> Dataset:
        """Return the dataset of one joint alone."""
        one = slice(number, number + 1)
        motion = self.motion
        temperature, rotor = motion.temperature, motion.rotor
        return replace(
            self,
            joint_names=self.joint_names[one],
            motion=Motion(
                motion.q[:, one], motion.dq[:, one], motion.ddq[:, one],
                None if temperature is None else temperature[:, one],
                rotor=None if rotor is None else Motion(
                    rotor.q[:, one], rotor.dq[:, one], rotor.ddq[:, one]
                ),
                starts=motion.starts,
            ),
            effort=self.effort[:, one],
            measured_dq=None if self.measured_dq is None else self.measured_dq[:, one],
        )

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
