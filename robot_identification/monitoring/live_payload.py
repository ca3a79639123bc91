# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The payload of an arm at work, sample by sample.

What the joints need beyond the model of the bare arm is linear in ten parameters of the last link
and in the terms of every joint that may differ from the model. Both are estimated by recursive
least squares on triangular factors, with forgetting along the excited directions only.

A payload that is taken or dropped is found by a generalized likelihood ratio: do the last samples
fit better if mass and first moments may have changed since? [1]_

References
----------
.. [1] F. Gustafsson, "Adaptive Filtering and Change Detection", Wiley, 2000, chapter 9.
.. [2] D. Kubus, T. Kroeger, F. Wahl, "On-line estimation of inertial parameters using a recursive
   total least-squares approach", IROS 2008.

"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
import math

import numpy as np
import pinocchio as pin
from robot_identification.arrays import BoolArray, FloatArray, IntArray, triangle_of
from robot_identification.errors import NotIdentifiableError, UsageError
from robot_identification.estimation import fit_consistent_body
from robot_identification.excitation import residual_noise
from robot_identification.model import (
    check_shows_gravity, IdentifiedModel, Motion, observation_matrix, Payload,
    payload_from_parameters, to_frame, tool_frame,
)
from robot_identification.monitoring.live_residuals import LiveResiduals, RATE
from robot_identification.monitoring.recursive import RecursiveState, ResidualNoise
from robot_identification.studies.payload import (
    BODY_LENGTH, payload_errors, PayloadErrors, UNKNOWN_PAYLOAD, whitened,
)
import scipy

NOT_YET, NONE, PAYLOAD, IMPOSSIBLE = 'not enough yet', 'none', 'payload', 'impossible'
# The ten parameters, inertia about the centre, as they are named to a reader.
QUANTITIES = (
    'mass', 'center x', 'center y', 'center z', 'Ixx', 'Ixy', 'Iyy', 'Ixz', 'Iyz', 'Izz'
)
# What differs in a joint is expected to be of the size of so many of its residuals.
USUAL_CHANGE = 5.0
# Mass [kg] and size [m] that no payload reaches, for the weak prior.
HEAVIEST, LARGEST = 200.0, 0.3
# Samples of a joint that is slower than this are left out: static friction is in them, of which a
# model knows the size at most [rad/s].
SLOWEST = 0.05
# What of every joint may differ from the model: offset, Coulomb and viscous friction.
EACH = 3
WINDOW = 1.2  # how long the samples are that are compared with those before [s]
# Samples that are put into the state at once, and after how many a change is looked for.
BLOCK, CHECK = 10, 5
# A change is one if so many checks in a row see it.
CONFIRMATIONS = 2
FALSE_ALARMS = 0.1  # changes an hour of motion that may be reported where there are none
# For how long a sample counts where the motion excites [s]; chosen: friction warms up in minutes.
MEMORY = 60.0
# Accelerations whose noise is about a third of this are seen from here on [rad/s^2]: where none
# is larger, inertia is not estimated, and accelerations are taken as zero.
SEEN = 0.3
# An estimate is different from nothing at so many standard errors: a model also errs in ways that
# its covariance does not know.
SIGNIFICANT = 4.0
# Probability below which ten numbers are of no body.
IMPROBABLE = 1.0e-3
# A number is observed if its standard error is below this part of it, or below these.
SHARE = 0.25
LEAST_MASS, LEAST_CENTER, LEAST_INERTIA = 0.1, 0.02, 0.01
# Samples that the errors of the model are propagated with.
MOST_KEPT = 128
# They are propagated again when there are so many times as many samples.
RENEWED = 1.1
# Longer pauses of the stamps end a run of samples that follow each other, in sample periods.
GAP_SAMPLES = 5.0
LONGEST_NOISE = 600.0  # memory of the noise of residuals, at most [s]
# Variance by the state's errors, next to the noise, below which a residual shows the noise.
MOST_UNKNOWN = 0.5
# Changes that are remembered.
MOST_CHANGES = 100
# Relative size of a direction in which the last samples say nothing.
UNSEEN = 1.0e-6
ROUNDING = 1.0e-9  # relative; chosen between double precision and noise


@dataclass(frozen=True, eq=False)
class PayloadChange:
    """A payload that was taken or dropped."""

    stamp: float  # when it was found [s]
    earliest: float  # it happened after this [s]
    before: float  # mass until then [kg]
    step: float  # by how much the mass changed, by the samples of the window alone [kg]
    # Of the test; the statistic is chi-square distributed where nothing changed.
    statistic: float
    limit: float


@dataclass(frozen=True, eq=False)
class PayloadState:
    """Present estimate of the payload."""

    stamp: float  # of the newest sample behind it [s]; NaN before there is any
    # 'not enough yet', 'none' (no payload but for the errors), 'payload', or 'impossible': the
    # numbers are of no body, so that something else acts on the arm, or the model is not that of
    # the bare arm.
    verdict: str
    # With the verdict 'payload' alone: a body that can be; its inertia is zero where that is not
    # observed.
    payload: Payload | None
    frame: str  # link of the URDF in whose frame `parameters`, errors and payload are
    parameters: FloatArray  # (10,): without any condition, Pinocchio's order
    # (10, 10): of their errors, correlation of the residuals and the model's own errors included.
    covariance: FloatArray
    errors: PayloadErrors  # standard errors of mass, centre and inertia about it
    observed: BoolArray  # (10,): which of QUANTITIES the motion shows
    # (n, k): what differs from the model in every joint: offset [N m], Coulomb [N m] and viscous
    # friction [N m s/rad].
    changes: FloatArray
    samples: int  # behind it
    reason: str  # the verdict in words


@dataclass(frozen=True, eq=False)
class _Rows:
    """Whitened rows of the joints of one sample that count, and whether it follows another."""

    stamp: float
    joints: IntArray
    matrix: FloatArray
    torque: FloatArray
    follows: bool


class RecursivePayload:
    """
    Recursive estimator of the payload from residuals of the bare arm's model.

    Rows are divided by the standard deviation of the model's residual. Samples at rest are not
    used, so that standing still changes nothing, errors included. The last samples, as many as the
    window has, wait: those that a change has spoiled never enter the state. Standard errors hold
    for residuals correlated in time: the covariance is multiplied by the long-run variance of the
    whitened residuals, see `ResidualNoise`; the errors of the model's own parameters are added,
    propagated along the motion. `link`, fixed to the last one, has the frame of the payload; by
    default the tool's. `rate` is that of the samples [Hz], `memory` [s] may be infinite. Raises
    UsageError if the link is not fixed to the last one, the residual of the model is not known, or
    its scale is relative.
    """

    def __init__(
        self, model: IdentifiedModel, link: str | None = None, rate: float = RATE,
        memory: float = MEMORY,
    ) -> None:
        check_shows_gravity(model, UNKNOWN_PAYLOAD)
        if model.relative_scale:
            raise UsageError(
                f'the model of {model.robot.name} has a relative scale: a payload in kg cannot be '
                'found with it; identify with --drive-gains'
            )
        self._model = model
        self._n = model.robot.n
        self._noise = residual_noise(model)
        self.frame = tool_frame(model.robot, link)
        self._to_frame = to_frame(model.robot, self.frame)
        self._data = model.robot.pinocchio.createData()
        self._rate, self._memory = rate, memory
        self._width = max(round(WINDOW * rate), 2)
        self._alarm = min(FALSE_ALARMS * CHECK / (3600.0 * rate), 0.5)
        # Standard deviations of the unknowns before any sample, wide for payloads.
        self._prior = np.concatenate([
            HEAVIEST * LARGEST ** np.array([0, 1, 1, 1, *[2] * 6]),
            USUAL_CHANGE * np.repeat(self._noise, EACH),
        ])
        self.changes: tuple[PayloadChange, ...] = ()
        self._restart()

    def _restart(self) -> None:
        """Forget the payload; reported changes stay."""
        self._state = RecursiveState.expecting_zero(
            self._prior, 1.0 - 1.0 / (self._memory * self._rate)
        )
        self._theta = np.zeros(len(self._prior))
        self._window: deque[_Rows] = deque()
        self._block: list[_Rows] = []
        self._noise_tracker = ResidualNoise(
            self._n, self._rate, min(self._memory, LONGEST_NOISE)
        )
        self._kept: list[tuple[FloatArray, FloatArray, FloatArray, BoolArray]] = []
        self._stride, self._samples = 1, 0
        self._stamp = self._used = math.nan
        self._squares = np.full(self._n, np.nan)
        self._suspicions, self._follows = 0, False
        # What the errors of the model make of those of the payload, and by how many samples.
        self._of_model, self._of_model_at = np.zeros((10, 10)), 0
        self._estimate: PayloadState | None = None

    def add(
        self, stamp: float, q: FloatArray, dq: FloatArray, ddq: FloatArray, residual: FloatArray
    ) -> None:
        """
        Update the estimate with a sample, all of whose numbers are finite.

        `stamp` is in s; position [rad], velocity [rad/s], acceleration [rad/s^2] and `residual` [N
        m], the measured joint torque less that of the bare arm's model, are each (n,).
        """
        follows = 0.0 < stamp - self._stamp < GAP_SAMPLES / self._rate
        self._stamp = stamp
        counted = np.abs(dq) > SLOWEST
        first = np.isnan(self._squares)
        self._squares = np.where(
            first, ddq**2, self._squares + (ddq**2 - self._squares) / self._rate
        )
        if not np.any(counted):
            self._follows = False
            return
        static = bool(np.all(self._squares < SEEN**2))
        ddq = np.zeros(self._n) if static else ddq
        matrix = self._matrix(q, dq, ddq)
        if static:
            matrix[:, 4:10] = 0.0
        joints = np.flatnonzero(counted)
        self._window.append(_Rows(
            stamp, joints, matrix[joints] / self._noise[joints, None],
            residual[joints] / self._noise[joints], self._follows and follows,
        ))
        self._follows = True
        self._used = stamp
        self._estimate = None
        self._keep(q, dq, ddq, counted)
        self._samples += 1
        if len(self._window) > self._width:
            self._add_to_state(self._window.popleft())
            if self._samples % CHECK == 0:
                self._test_for_change(stamp)

    def _matrix(self, q: FloatArray, dq: FloatArray, ddq: FloatArray) -> FloatArray:
        """Return the rows of all joints, shape (n, 10 + k n)."""
        n = self._n
        matrix = np.zeros((n, 10 + EACH * n))
        matrix[:, :10] = self.regressor(q, dq, ddq)
        for joint in range(n):
            own = 1.0, math.copysign(1.0, dq[joint]), dq[joint]
            matrix[joint, 10 + joint * EACH: 10 + (joint + 1) * EACH] = own
        return matrix

    def regressor(self, q: FloatArray, dq: FloatArray, ddq: FloatArray) -> FloatArray:
        """Return the torque per parameter of the payload in the last joint's frame, (n, 10)."""
        columns: FloatArray = pin.computeJointTorqueRegressor(
            self._model.robot.pinocchio, self._data, q, dq, ddq
        )[:, -10:]
        return columns

    def _keep(self, q: FloatArray, dq: FloatArray, ddq: FloatArray, counted: BoolArray) -> None:
        """Keep samples that are spread evenly over all since the start."""
        if self._samples % self._stride:
            return
        self._kept.append((q.copy(), dq.copy(), ddq.copy(), counted))
        if len(self._kept) > MOST_KEPT:
            self._kept, self._stride = self._kept[::2], 2 * self._stride

    def _add_to_state(self, rows: _Rows) -> None:
        """Put a sample into the state: nothing has changed until then."""
        residual, counted = np.zeros(self._n), np.zeros(self._n, dtype=bool)
        k = self._state.size
        reach = scipy.linalg.solve_triangular(
            self._state.triangle[:k, :k], rows.matrix.T, trans='T'
        )
        unknown = np.sum(reach**2, axis=0)
        residual[rows.joints] = (rows.torque - rows.matrix @ self._theta) / np.sqrt(1.0 + unknown)
        # While the state says little, residuals tell of it and not of the noise.
        counted[rows.joints] = unknown < MOST_UNKNOWN
        if not rows.follows:
            self._noise_tracker.interrupt()
        self._noise_tracker.step(residual, counted)
        self._block.append(rows)
        if len(self._block) >= BLOCK:
            self._state = _updated(self._state, self._block)
            self._theta = self._state.estimate
            self._block.clear()

    def _test_for_change(self, stamp: float) -> None:
        found = self._compare()
        if found is None or not found[0] > found[1]:
            self._suspicions = 0
            return
        self._suspicions += 1
        if self._suspicions < CONFIRMATIONS:
            return
        statistic, limit, step = found
        change = PayloadChange(
            stamp, self._window[0].stamp, float(self._theta[0]), step, statistic, limit
        )
        self.changes = (*self.changes[1 - MOST_CHANGES:], change)
        tracker = self._noise_tracker
        self._restart()
        # Friction and gears make the same errors with another payload.
        tracker.interrupt()
        self._noise_tracker, self._stamp = tracker, stamp

    def _compare(self) -> tuple[float, float, float] | None:
        """Return statistic, limit and step of the mass; None where the window says nothing."""
        k = self._state.size
        level = self._noise_tracker.level
        rows = [*self._block, *self._window]
        scale = np.concatenate([1.0 / np.sqrt(level[one.joints]) for one in rows])
        matrix = np.vstack([one.matrix for one in rows]) * scale[:, None]
        torque = np.concatenate([one.torque for one in rows]) * scale
        before = sum(len(one.joints) for one in self._block)
        table = np.zeros((k + len(torque), k + 5))
        table[:k, :k] = self._state.triangle[:k, :k] / math.sqrt(level.mean())
        table[:k, -1] = self._state.triangle[:k, -1] / math.sqrt(level.mean())
        table[k:, :k], table[k:, -1] = matrix, torque
        # Mass and first moments once more, of the window alone.
        table[k + before:, k: k + 4] = matrix[before:, :4]
        triangle = triangle_of(np.asfortranarray(table))
        corner, side = triangle[k: k + 4, k: k + 4], triangle[k: k + 4, -1]
        units = LARGEST ** -np.array([0.0, 1.0, 1.0, 1.0])
        left, size, right = np.linalg.svd(corner / units)
        seen = size > UNSEEN * max(float(np.linalg.norm(corner)), ROUNDING)
        if not np.any(seen):
            return None
        parts = left.T @ side
        statistic = float(np.sum(parts[seen] ** 2))
        step = (right[seen].T @ (parts[seen] / size[seen])) / units
        limit = float(scipy.special.chdtri(int(np.count_nonzero(seen)), self._alarm))
        return statistic, limit, float(step[0])

    @property
    def estimate(self) -> PayloadState:
        """Return what all samples so far say, those of the window included."""
        if self._estimate is None:
            self._estimate = self._describe()
        return self._estimate

    def _describe(self) -> PayloadState:
        state = _updated(self._state, [*self._block, *self._window])
        theta, level = state.estimate, float(self._noise_tracker.level.mean())
        if self._samples > RENEWED * self._of_model_at:
            self._of_model, self._of_model_at = self._model_errors(), self._samples
        covariance = level * state.covariance[:10, :10] + self._of_model
        T = self._to_frame
        parameters, covariance = T @ theta[:10], T @ covariance @ T.T
        errors = payload_errors(parameters, covariance)
        observed = _observed(parameters, errors)
        verdict, payload, reason = _judge(parameters, covariance, observed, self.frame)
        return PayloadState(
            stamp=self._used, verdict=verdict, payload=payload, frame=self.frame,
            parameters=parameters, covariance=covariance, errors=errors, observed=observed,
            changes=theta[10:].reshape(self._n, EACH), samples=self._samples, reason=reason,
        )

    def _model_errors(self) -> FloatArray:
        """Return what the errors of the model's parameters make of the payload's, (10, 10)."""
        model = self._model
        q, dq, ddq, counted = (np.array(part) for part in zip(*self._kept, strict=True))
        motion = Motion(q, dq, ddq, starts=()).at_temperature(model.temperature)
        base = observation_matrix(model.robot, model.parameters, motion)
        base = base.reshape(*q.shape, -1)[:, :, model.reduction.independent]
        own = np.array([self._matrix(*one) for one in zip(q, dq, ddq, strict=True)])
        weight = counted / self._noise
        rows = (own * weight[:, :, None]).reshape(-1, own.shape[-1])
        sides = (base * weight[:, :, None]).reshape(-1, base.shape[-1])
        # The prior counts as it does beside all samples.
        prior = np.diag(math.sqrt(len(q) / max(self._samples, 1)) / self._prior)
        orthogonal, upper = np.linalg.qr(np.vstack([rows, prior]))
        reach = scipy.linalg.solve_triangular(upper, orthogonal[: len(rows)].T @ sides)[:10]
        found: FloatArray = reach @ model.covariance @ reach.T
        return found


class LivePayload(RecursivePayload):
    """
    Payload from the joint states of an arm at work; `model` is that of the bare arm.

    For `link` and what is raised see `RecursivePayload` and `LiveResiduals`.
    """

    def __init__(
        self, model: IdentifiedModel, link: str | None = None, rate: float | None = None
    ) -> None:
        self._residuals = LiveResiduals(model, rate)
        super().__init__(model, link, self._residuals.sample_rate)

    def step(
        self, stamp: float, q: FloatArray, dq: FloatArray, torque: FloatArray,
        temperature: FloatArray | None = None,
    ) -> None:
        """Process a joint state; for its values see `LiveResiduals.step`."""
        sample = self._residuals.step(stamp, q, dq, torque, temperature)
        if sample is not None:
            self.add(*sample)


def _updated(state: RecursiveState, rows: list[_Rows]) -> RecursiveState:
    """Return a state after the rows of some samples."""
    if not rows:
        return state
    return state.update(
        np.vstack([one.matrix for one in rows]), np.concatenate([one.torque for one in rows]),
        len(rows),
    )


def _observed(parameters: FloatArray, errors: PayloadErrors) -> BoolArray:
    """Return which of the ten quantities have small enough errors."""
    mass = float(parameters[0])
    size = 0.0
    if mass > 0.0:
        inertia = payload_from_parameters(parameters, '').inertia
        size = max(float(np.linalg.eigvalsh(inertia)[-1]), 0.0)
    # As Pinocchio orders them: xx, xy, yy, xz, yz, zz.
    inertia_errors = errors.inertia[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]
    return np.concatenate([
        [errors.mass <= max(SHARE * abs(mass), LEAST_MASS)],
        errors.center_of_mass <= LEAST_CENTER,
        inertia_errors <= max(SHARE * size, LEAST_INERTIA),
    ])


def _judge(
    parameters: FloatArray, covariance: FloatArray, observed: BoolArray, frame: str
) -> tuple[str, Payload | None, str]:
    """Return verdict, payload and words."""
    mass, error = float(parameters[0]), math.sqrt(max(float(covariance[0, 0]), 0.0))
    stated = f'{mass:.3f} +- {error:.3f} kg'
    if not observed[0]:
        return NOT_YET, None, 'the motion does not show the mass yet: turn the wrist, or lift'
    if mass < -SIGNIFICANT * error:
        return IMPOSSIBLE, None, (
            f'the mass found is negative, {stated}: something else acts on the arm, or the model '
            'is not that of the bare arm'
        )
    if mass <= SIGNIFICANT * error:
        return NONE, None, f'no payload within the errors: {stated}'
    body = payload_from_parameters(parameters, frame)
    if not np.all(observed[4:]):
        hidden = ', '.join(np.array(QUANTITIES)[~observed])
        return PAYLOAD, Payload(mass, body.center_of_mass, np.zeros((3, 3)), frame), (
            f'{stated}; not excited: {hidden}'
        )
    if body.is_possible:
        return PAYLOAD, body, stated
    try:
        near = fit_consistent_body(*whitened(parameters, covariance), BODY_LENGTH)
    except NotIdentifiableError as error_of_fit:
        return IMPOSSIBLE, None, f'{stated}: no body is near the numbers found ({error_of_fit})'
    if near.cost > scipy.special.chdtri(len(parameters), IMPROBABLE):
        return IMPOSSIBLE, None, (
            f'{stated}: the ten numbers found belong to no body, the nearest one is '
            f'{math.sqrt(near.cost):.1f} standard errors away'
        )
    return PAYLOAD, payload_from_parameters(near.parameters, frame), (
        f'{stated}; the nearest body that can be is stated'
    )
