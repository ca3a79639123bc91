# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Interface of every group of corrections, and the corrections of an identified model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.model.parameters import StandardParameters
from robot_identification.model.regressor import block_slices, inertial_regressor, Motion
from robot_identification.model.robot_model import RobotModel


@dataclass(frozen=True, eq=False)
class CorrectionSignals:
    """Signals that corrections are computed from: N samples of one recording."""

    motion: Motion  # position as recorded, smooth velocity and acceleration
    measured_dq: FloatArray  # (N, n): velocity as recorded; NaN for a joint without it [rad/s]
    rate: float  # [Hz]

    @property
    def edges(self) -> list[int]:
        """First samples of the parts without a gap, and the number of samples."""
        return sorted({0, *self.motion.starts, len(self.motion)})

    def part(self, rows: slice) -> CorrectionSignals:
        """Return the signals of consecutive samples."""
        return replace(
            self, motion=self.motion.part(rows), measured_dq=np.asarray(self.measured_dq[rows])
        )

    @cached_property
    def _regressors(self) -> list[tuple[RobotModel, FloatArray]]:
        return []

    def regressor(self, robot: RobotModel) -> FloatArray:
        """Return the regressor of the bodies (N, n, 10 n) [SI], once for all joints of a block."""
        for known, regressor in self._regressors:
            if known is robot:
                return regressor
        found = inertial_regressor(robot, self.motion).reshape(len(self.motion), robot.n, -1)
        self._regressors.append((robot, found))
        return found

    def rows(self, chosen: BoolArray) -> CorrectionSignals:
        """Return the signals of samples that need not follow each other."""
        return replace(
            self, motion=self.motion.rows(chosen), measured_dq=self.measured_dq[chosen]
        )


@dataclass(frozen=True, eq=False)
class Evidence:
    """Residuals of one joint in some recordings, and what groups of corrections look at."""

    robot: RobotModel
    signals: tuple[CorrectionSignals, ...]  # of each recording
    # (N,) samples of each recording that are corrected, and the residuals there [N m]
    rows: tuple[BoolArray, ...]
    residuals: tuple[FloatArray, ...]
    joint: int
    rigid: tuple[int, ...]  # independent columns of the bodies among the standard parameters
    causal: bool  # whether columns may use past samples only


class SampleSums(Protocol):
    """Sums over groups and joints from which the torque at one sample after another follows."""

    def add_taps(self, joint: int, taps: FloatArray) -> None:
        """Add a filter of measured minus smooth velocity, the weight of the newest first."""

    def add_waves(
        self, joint: int, orders: Sequence[int], sines: FloatArray, cosines: FloatArray
    ) -> None:
        """Add sines and cosines of multiples of the position."""

    def add_bodies(self, joint: int, parameters: Sequence[int], values: FloatArray) -> None:
        """Add values of some standard parameters of the bodies, for this joint alone."""


class CorrectionGroup(ABC):
    """
    Columns that correct the torque of one joint, with their constants.

    A group is a frozen dataclass whose fields are its constants.
    """

    name: ClassVar[str]  # in a model file and in CORRECTIONS
    meaning: ClassVar[str]  # for a reader of the report
    # Ridge parameters to try, relative to the squared length of each column; a later one has to do
    # better than the first.
    ridges: ClassVar[tuple[float, ...]]
    # Standard errors over the held-out blocks by which the squared error has to fall.
    certainty: ClassVar[float] = 1.0
    # Shorter motions show too little: accepted there by chance [s].
    shortest_motion: ClassVar[float] = 0.0
    needs_velocity: ClassVar[bool] = False  # whether its columns are of the measured velocity
    # Whether bodies take a part of what it stands for, a different one in each motion.
    is_shared_with_bodies: ClassVar[bool] = False

    @classmethod
    @abstractmethod
    def candidates(cls, evidence: Evidence) -> tuple[CorrectionGroup, ...]:
        """Return the groups to try for a joint, the preferred one first."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Return the number of columns."""

    @property
    def reach(self) -> int:
        """Return the number of samples before and after one that its columns depend on."""
        return 0

    @abstractmethod
    def columns(
        self, robot: RobotModel, signals: CorrectionSignals, joint: int
    ) -> FloatArray:
        """Return the columns of a joint, shape (N, size)."""

    def columns_at(
        self, robot: RobotModel, signals: CorrectionSignals, joint: int, rows: BoolArray
    ) -> FloatArray:
        """Return the columns of a joint at m of the samples (N,), shape (m, size)."""
        if self.reach == 0:
            return self.columns(robot, signals.rows(rows), joint)
        return self.columns(robot, signals, joint)[rows]

    @abstractmethod
    def add_to(self, sums: SampleSums, joint: int, coefficients: FloatArray) -> None:
        """Add the group with its coefficients (size,) [N m] to sums for single samples."""

    def constants(self) -> dict[str, Any]:
        """Return the constants for a model file."""
        return asdict(self)  # type: ignore[call-overload,no-any-return]


@dataclass(frozen=True, eq=False)
class JointCorrection:
    """A group of corrections of one joint with its coefficients (size,), in N m per column."""

    joint: int
    group: CorrectionGroup
    coefficients: FloatArray
    # Share by which it lowered the squared error on held-out blocks, beside those before it.
    decrease: float = float('nan')

    def torque(self, robot: RobotModel, signals: CorrectionSignals) -> FloatArray:
        """Return the torque that is added, shape (N,) [N m]."""
        torque: FloatArray = self.group.columns(robot, signals, self.joint) @ self.coefficients
        return torque

    def torque_at(
        self, robot: RobotModel, signals: CorrectionSignals, rows: BoolArray
    ) -> FloatArray:
        """Return the torque that is added at m of the samples (N,), shape (m,) [N m]."""
        columns = self.group.columns_at(robot, signals, self.joint, rows)
        torque: FloatArray = columns @ self.coefficients
        return torque


@dataclass(frozen=True, eq=False)
class Corrections:
    """
    The corrections of an identified model.

    They were found beside the parameters, which they leave as they are: predictions and errors
    have them, bodies, payloads, monitoring and exports do not.
    """

    rate: float = float('nan')  # of the recordings that they were found in [Hz]
    offline: tuple[JointCorrection, ...] = ()  # for recordings with zero-phase kinematics
    live: tuple[JointCorrection, ...] = ()  # for the causal kinematics of live prediction
    # (n,): largest correction of each joint in the recordings that they were found in [N m]. Noise
    # of another recording may be many times larger, and a correction beyond what was seen is not
    # made. None in files of earlier versions, which have no limit.
    offline_limit: FloatArray | None = None
    live_limit: FloatArray | None = None

    def fit_rate(self, rate: float) -> bool:
        """
        Return whether recordings of a rate [Hz] can be corrected.

        Lags are whole samples; stamps of one driver scatter by a few per cent.
        """
        return bool(abs(rate - self.rate) <= 0.1 * self.rate)


def correction_blocks(
    corrections: Sequence[JointCorrection], robot: RobotModel, signals: CorrectionSignals,
    limit: FloatArray | None = None,
) -> Iterator[tuple[slice, FloatArray]]:
    """
    Yield samples and the sum of corrections there, shape (N, n) [N m], no larger than `limit`.

    A joint whose velocity was not recorded has no correction by it.
    """
    N, reach = len(signals.motion), max((one.group.reach for one in corrections), default=0)
    # Blocks with what is around them: of a long recording there is no room for all columns.
    for rows in block_slices(N if corrections else 0):
        first = max(rows.start - reach, 0)
        around = signals.part(slice(first, min(rows.stop + reach, N)))
        inner = slice(rows.start - first, rows.stop - first)
        torque = np.zeros((rows.stop - rows.start, robot.n))
        for one in corrections:
            torque[:, one.joint] += np.nan_to_num(one.torque(robot, around)[inner])
        yield rows, torque if limit is None else np.clip(torque, -limit, limit)


def rigid_columns(independent: Sequence[int], parameters: StandardParameters) -> tuple[int, ...]:
    """Return the independent columns of bodies among the standard parameters."""
    return tuple(int(column) for column in independent if column < 10 * parameters.n)
