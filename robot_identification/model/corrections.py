# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Corrections: terms that predict more of the effort and are no parameters of the arm.

To add a group: write its class here, add one line to CORRECTIONS; the contract tests run over
every entry.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Protocol

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.errors import DescriptionError
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
class Residuals:
    """Residuals of a model at some samples of recordings, and what groups of corrections need."""

    robot: RobotModel
    signals: tuple[CorrectionSignals, ...]  # of each recording
    rows: tuple[BoolArray, ...]  # (N,) samples of each recording that are corrected
    torque: tuple[FloatArray, ...]  # (m, n) residuals there [N m]
    rigid: tuple[int, ...]  # independent columns of the bodies among the standard parameters
    causal: bool  # whether columns may use past samples only

    def of(self, joint: int) -> FloatArray:
        """Return the residuals of a joint, of all recordings, shape (M,) [N m]."""
        return np.concatenate([torque[:, joint] for torque in self.torque])


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
    def candidates(cls, residuals: Residuals, joint: int) -> tuple[CorrectionGroup, ...]:
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
    # Share by which it lowered the squared error on held-out blocks, after those before it.
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

    They were found after the parameters, which they leave as they are: predictions and errors
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


@dataclass(frozen=True)
class FastVelocity(CorrectionGroup):
    """
    A short filter of measured minus smooth velocity.

    The velocity loop of a drive reacts to what its encoder says, noise and vibration included,
    and a motion planned or smoothed does not have that.
    """

    # First and last lag of each column [samples]; negative ones look ahead. A column is the sum of
    # the lagged differences, zero beyond the ends of a part without a gap.
    bins: tuple[tuple[int, int], ...]

    name = 'fast_velocity'
    meaning = 'reaction of the drive to fast changes of the velocity that it measures'
    ridges = (0.03,)
    needs_velocity = True

    def __post_init__(self) -> None:
        bins = tuple(tuple(pair) for pair in self.bins)
        if not bins or any(
            len(pair) != 2 or not all(isinstance(lag, int) for lag in pair) or pair[0] > pair[1]
            for pair in bins
        ):
            raise DescriptionError(f'bins of {self.name} are {self.bins!r}: pairs of lags needed')
        object.__setattr__(self, 'bins', bins)

    @classmethod
    def candidates(cls, residuals: Residuals, joint: int) -> tuple[CorrectionGroup, ...]:
        """Return a filter of past samples, and one of both sides."""
        for one in residuals.signals:
            measured, smooth = one.measured_dq[:, joint], one.motion.dq[:, joint]
            # One that is the smooth one up to a thousandth of its spread has nothing to tell.
            if not np.isfinite(measured).all() or not (
                np.std(measured - smooth) > 1.0e-3 * np.std(smooth)
            ):
                return ()
        past = _lag_bins(min(one.rate for one in residuals.signals))
        if residuals.causal:
            return (cls(past),)
        ahead = tuple((-last, -first) for first, last in reversed(past) if last > 0)
        return cls(past), cls(ahead + past)

    @property
    def size(self) -> int:
        return len(self.bins)

    @property
    def reach(self) -> int:
        return max(max(abs(first), abs(last)) for first, last in self.bins)

    def columns(
        self, robot: RobotModel, signals: CorrectionSignals, joint: int
    ) -> FloatArray:
        difference = signals.measured_dq[:, joint] - signals.motion.dq[:, joint]
        columns = np.zeros((len(difference), self.size))
        for start, stop in pairwise(signals.edges):
            part, x = columns[start:stop], difference[start:stop]
            for at, (first, last) in enumerate(self.bins):
                for lag in range(first, last + 1):
                    if 0 <= lag < len(x):
                        part[lag:, at] += x[: len(x) - lag]
                    elif -len(x) < lag < 0:
                        part[:lag, at] += x[-lag:]
        return columns

    def add_to(self, sums: SampleSums, joint: int, coefficients: FloatArray) -> None:
        """Add the group; one that looks ahead raises a `DescriptionError`."""
        if min(first for first, _ in self.bins) < 0:
            raise DescriptionError(f'bins of {self.name} look ahead: no correction of a live arm')
        taps = np.zeros(1 + max(last for _, last in self.bins))
        for (first, last), coefficient in zip(self.bins, coefficients, strict=True):
            taps[first: last + 1] += coefficient
        sums.add_taps(joint, taps)


def _lag_bins(rate: float) -> tuple[tuple[int, int], ...]:
    """Return the lags from 0 to the memory of the filter at a rate [Hz]."""
    # 20 ms; measured on the current and torque signals of five arms.
    longest = max(round(0.02 * rate), 1)
    # Lags up to so many samples have a column each; more are summed in so many geometric bins.
    single = 12
    if longest <= single:
        return tuple((lag, lag) for lag in range(longest + 1))
    edges = np.unique(np.round([0.0, *np.geomspace(1.0, longest, single)]).astype(int))
    return ((0, 0), *((int(low) + 1, int(high)) for low, high in pairwise(edges)))


def harmonics(q: FloatArray, orders: Sequence[int]) -> FloatArray:
    """Return sines and cosines of multiples of positions (N,) [rad], shape (N, 2 orders)."""
    angles = np.outer(q, orders)
    return np.hstack([np.sin(angles), np.cos(angles)])


def check_orders(orders: Sequence[int], what: str) -> tuple[int, ...]:
    """Return orders as a tuple; a `DescriptionError` if they are no whole numbers from 1."""
    if not orders or not all(isinstance(order, int) and order >= 1 for order in orders):
        raise DescriptionError(f'orders of {what} are {orders!r}: whole numbers from 1 needed')
    return tuple(orders)


@dataclass(frozen=True)
class _Waves(CorrectionGroup):
    """Sines and cosines of multiples of the joint's position."""

    orders: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, 'orders', check_orders(self.orders, self.name))

    @property
    def size(self) -> int:
        return 2 * len(self.orders)

    def columns(
        self, robot: RobotModel, signals: CorrectionSignals, joint: int
    ) -> FloatArray:
        return harmonics(signals.motion.q[:, joint], self.orders)

    def add_to(self, sums: SampleSums, joint: int, coefficients: FloatArray) -> None:
        sums.add_waves(joint, self.orders, *np.split(coefficients, 2))


@dataclass(frozen=True)
class PositionSeries(_Waves):
    """Sines and cosines of low multiples of the joint's position."""

    # Periods a turn; measured: higher ones were never accepted on real arms.
    orders: tuple[int, ...] = (1, 2, 3, 4, 5)

    name = 'position_series'
    meaning = 'torque that repeats with a turn of the joint'
    ridges = (1.0, 0.1)
    # Measured: with one, residuals shifted in time were accepted for a tenth of the joints.
    certainty = 2.0
    # On 15 s a residual shifted in time was accepted for 5 to 30 % of the joints.
    shortest_motion = 20.0
    is_shared_with_bodies = True

    @classmethod
    def candidates(cls, residuals: Residuals, joint: int) -> tuple[CorrectionGroup, ...]:
        """Return the series of the low orders."""
        return (cls(),)


@dataclass(frozen=True)
class JointDeviation(CorrectionGroup):
    """The joint's own columns of the bodies once more, free for that joint alone."""

    parameters: tuple[int, ...]  # numbers of the standard parameters of the bodies

    name = 'joint_deviation'
    meaning = 'deviation of the joint from the bodies that all joints share'
    ridges = (1.0, 0.1)
    # Measured: with one, residuals shifted in time were accepted for a tenth of the joints.
    certainty = 2.0
    # As for the series of positions.
    shortest_motion = 20.0
    is_shared_with_bodies = True

    def __post_init__(self) -> None:
        if not self.parameters or not all(
            isinstance(one, int) and one >= 0 for one in self.parameters
        ):
            raise DescriptionError(
                f'parameters of {self.name} are {self.parameters!r}: whole numbers from 0 needed'
            )
        object.__setattr__(self, 'parameters', tuple(self.parameters))

    @classmethod
    def candidates(cls, residuals: Residuals, joint: int) -> tuple[CorrectionGroup, ...]:
        # Bodies before the joint do not act on it.
        own = tuple(one for one in residuals.rigid if one >= 10 * joint)
        return (cls(own),) if own else ()

    @property
    def size(self) -> int:
        return len(self.parameters)

    def columns(
        self, robot: RobotModel, signals: CorrectionSignals, joint: int
    ) -> FloatArray:
        N, own = len(signals.motion), list(self.parameters)
        # Every joint asks for the same signals; one of more than 16 MB is not kept for that.
        if N * 10 * robot.n**2 <= 2_000_000:
            return signals.regressor(robot)[:, joint, own]
        columns = np.empty((N, self.size))
        for rows in block_slices(N):
            columns[rows] = signals.part(rows).regressor(robot)[:, joint, own]
        return columns

    def add_to(self, sums: SampleSums, joint: int, coefficients: FloatArray) -> None:
        sums.add_bodies(joint, self.parameters, coefficients)


# Periods a turn that are searched: twice the ratio of the gears of arms, 50 to 160, and its half.
LOWEST_ORDER, HIGHEST_ORDER = 30, 420


@dataclass(frozen=True)
class Ripple(_Waves):
    """Sines and cosines of a high multiple of the position, and of its neighbours."""

    name = 'ripple'
    meaning = 'torque ripple of the gear'
    ridges = (0.3,)
    # Measured: with one, coloured noise of 12 s was accepted for 9 % of the joints.
    certainty = 2.0

    @classmethod
    def candidates(cls, residuals: Residuals, joint: int) -> tuple[CorrectionGroup, ...]:
        """Return the order that explains most in both halves."""
        q = np.concatenate([
            one.motion.q[rows, joint]
            for one, rows in zip(residuals.signals, residuals.rows, strict=True)
        ])
        order = find_ripple_order(q, residuals.of(joint))
        return () if order is None else (cls((order - 1, order, order + 1)),)


def find_ripple_order(q: FloatArray, residual: FloatArray) -> int | None:
    """
    Return the periods a turn of the largest ripple in a residual (N,) over positions (N,) [rad].

    None where no order explains enough in both halves of the samples.
    """
    half = len(q) // 2
    shares = np.minimum(
        _explained(q[:half], residual[:half]), _explained(q[half:], residual[half:])
    )
    best = int(np.argmax(shares))
    # Measured: noise explains less.
    return LOWEST_ORDER + best if shares[best] > 0.01 else None


def _explained(q: FloatArray, residual: FloatArray) -> FloatArray:
    """Return the share of the squares that each order explains."""
    step = np.exp(1j * q)
    turn = np.exp(1j * LOWEST_ORDER * q)
    squares = max(float(residual @ residual), np.finfo(float).tiny)
    shares = np.empty(HIGHEST_ORDER - LOWEST_ORDER + 1)
    for at in range(len(shares)):
        # Sine and cosine of a fast phase are orthogonal, each of squared length N / 2.
        shares[at] = 2.0 * abs(turn @ residual) ** 2 / len(q) / squares
        turn = turn * step
    return shares


# In the order in which they are offered to each joint.
CORRECTIONS: dict[str, type[CorrectionGroup]] = {
    'fast_velocity': FastVelocity,
    'position_series': PositionSeries,
    'joint_deviation': JointDeviation,
    'ripple': Ripple,
}
