# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Friction of an arm at work against that of its model, joint by joint.

Each joint has recursive least squares of its own: an offset, Coulomb friction against the sign of
the velocity, and viscous friction against the velocity itself.
"""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.errors import UsageError
from robot_identification.estimation import check_positive
from robot_identification.excitation import residual_noise
from robot_identification.model import IdentifiedModel, Motion
from robot_identification.monitoring.online_noise import ResidualNoise
from robot_identification.monitoring.recursive import RecursiveState

# Standard deviation of the change, in residuals of the joint: a weak prior.
USUAL_CHANGE = 50.0
# Samples of a joint that is slower than this are left out [rad/s].
SLOWEST = 0.1
# Samples of a joint that are used at once.
BLOCK = 10
# A change is seen once its standard errors are below the residual's standard deviation: of
# Coulomb friction, and of viscous friction at this speed [rad/s].
USUAL_SPEED = 1.0
# Longer pauses of the stamps end a run of samples that follow each other, in sample periods.
GAP_SAMPLES = 5.0
# Speeds between which the model's friction is taken as a line [rad/s].
SLOPE_SPEEDS = (0.5, 1.5)


@dataclass(frozen=True)
class RecursiveFrictionOptions:
    """Options of the recursive friction estimate."""

    rate: float = 25.0  # samples per second that are used, at most [Hz]
    # For how long a sample counts while the joint slides [s]; `math.inf`: for ever.
    memory: float = 30.0

    def __post_init__(self) -> None:
        for name in ('rate', 'memory'):
            check_positive(getattr(self, name), f'{name} of live friction')
        if self.memory * self.rate < 2.0 * BLOCK:
            raise UsageError(
                f'the memory of live friction is {self.memory:g} s, which at {self.rate:g} Hz is '
                f'less than {2 * BLOCK} samples'
            )

    @property
    def forgetting(self) -> float:
        """Return what a sample counts for one sample later."""
        return 1.0 - 1.0 / (self.memory * self.rate) if math.isfinite(self.memory) else 1.0


@dataclass(frozen=True, eq=False)
class LiveFriction:
    """Present difference of friction from the model."""

    stamp: float  # of the newest sample [s]; NaN before there is any
    # (n, 3): offset [N m], Coulomb friction [N m] and viscous friction [N m s/rad], and their
    # standard errors.
    changes: FloatArray
    errors: FloatArray
    # (n,): joints whose motion shows their friction; the others are not excited.
    observed: BoolArray

    @property
    def coulomb(self) -> FloatArray:
        """Change of Coulomb friction [N m], shape (n,)."""
        return self.changes[:, 1]

    @property
    def viscous(self) -> FloatArray:
        """Change of viscous friction [N m s/rad], shape (n,)."""
        return self.changes[:, 2]


class RecursiveFriction:
    """
    Recursive estimator of the friction of each joint by itself, while it slides.

    A joint that stands still, or passes through rest, keeps its estimate, errors included.
    Standard errors hold for residuals that are correlated in time, see `ResidualNoise`. A payload
    has to be taken off the residual before: its gravity would look like an offset. Raises
    UsageError if the residual of the model is not known.
    """

    def __init__(
        self, model: IdentifiedModel, options: RecursiveFrictionOptions | None = None
    ) -> None:
        self.options = RecursiveFrictionOptions() if options is None else options
        self._n = model.robot.n
        self._noise = residual_noise(model)
        self.restart()

    def restart(self) -> None:
        """Forget everything."""
        prior = RecursiveState.known(
            np.zeros(3), USUAL_CHANGE**2 * np.eye(3), self.options.forgetting
        )
        self._states = [prior] * self._n
        self._theta = np.zeros((self._n, 3))
        self._waiting: list[list[tuple[float, float, float]]] = [[] for _ in range(self._n)]
        self._tracker = ResidualNoise(self._n, self.options.rate, min(self.options.memory, 600.0))
        self._counts = np.zeros(self._n, dtype=int)
        self._stamp = self._used = math.nan

    def step(self, stamp: float, dq: FloatArray, residual: FloatArray) -> None:
        """
        Take a sample; those that come faster than the rate of the options are left out.

        `stamp` [s], `dq` (n,) [rad/s]; `residual` (n,) is the measured joint torque less that of
        the model and of the payload [N m].
        """
        if not (math.isfinite(stamp) and np.all(np.isfinite([dq, residual]))):
            return
        elapsed, period = stamp - self._stamp, 1.0 / self.options.rate
        if 0.0 <= elapsed < 0.99 * period:
            return
        self._stamp = stamp
        slides = np.abs(dq) > SLOWEST
        if not np.any(slides) or not 0.0 < elapsed < GAP_SAMPLES * period:
            self._tracker.interrupt()
        if not np.any(slides):
            return
        self._used = stamp
        side = residual / self._noise
        left = side - (
            self._theta[:, 0] + self._theta[:, 1] * np.sign(dq) + self._theta[:, 2] * dq
        )
        # The first samples tell of the change and not of the noise.
        self._tracker.step(left, slides & (self._counts >= 2 * BLOCK))
        self._counts += slides
        for joint in np.flatnonzero(slides):
            waiting = self._waiting[joint]
            waiting.append((math.copysign(1.0, dq[joint]), float(dq[joint]), float(side[joint])))
            if len(waiting) >= BLOCK:
                self._states[joint] = _updated(self._states[joint], waiting)
                self._theta[joint] = self._states[joint].estimate
                waiting.clear()

    @property
    def estimate(self) -> LiveFriction:
        """Return what all samples so far say."""
        states = [
            _updated(state, waiting)
            for state, waiting in zip(self._states, self._waiting, strict=True)
        ]
        changes = np.array([state.estimate for state in states])
        # Prior and noise alike are in units of the joint's residual.
        deviation = np.sqrt(np.array([np.diag(state.covariance) for state in states]))
        errors = deviation * np.sqrt(self._tracker.level)[:, None]
        observed = (errors[:, 1] < 1.0) & (errors[:, 2] * USUAL_SPEED < 1.0)
        return LiveFriction(
            self._used, changes * self._noise[:, None], errors * self._noise[:, None], observed,
        )


def _updated(
    state: RecursiveState, samples: list[tuple[float, float, float]]
) -> RecursiveState:
    if not samples:
        return state
    direction, dq, side = np.array(samples).T
    matrix = np.column_stack([np.ones_like(dq), direction, dq])
    return state.update(matrix, side, np.arange(len(side)))


def viscous_slopes(model: IdentifiedModel) -> FloatArray:
    """
    Return how much friction of the model rises with speed [N m s/rad], shape (n,).

    It is that from 0.5 to 1.5 rad/s, with one joint moving, for any laws.
    """
    n, (slow, fast) = model.robot.n, SLOPE_SPEEDS
    speeds = np.concatenate([slow * np.eye(n), fast * np.eye(n)])
    rest = np.zeros_like(speeds)
    motion = Motion(rest, speeds, rest, starts=tuple(range(len(speeds))))
    torque = model.torque(motion.at_temperature(model.temperature))
    return (np.diag(torque[n:]) - np.diag(torque[:n])) / (fast - slow)
