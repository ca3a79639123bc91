# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Evidence of a recording for what its effort is: current, torque, torque without gravity.

Each hypothesis says how the effort of a joint comes from the bodies of the URDF, whose inertial
parameters are uncertain: a Gaussian for them, a payload of unknown mass, a scale of the effort and
a level of what no hypothesis explains are averaged over. Friction and rotors are taken out of
effort and torques first, for all hypotheses alike. The likelihood of a joint is mixed with that of
a joint that obeys none of the hypotheses, so that no joint alone decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.model import (
    inertial_regressor, Motion, prior_inertial_parameters, RobotModel, static_regressor,
)
from robot_identification.processing.dataset import MOVING_SPEED
import scipy

CURRENT, TORQUE, WITHOUT_GRAVITY = 'A', 'Nm', 'Nm-without-gravity'
KINDS = (CURRENT, TORQUE, WITHOUT_GRAVITY)

SPEED_WIDTH = 0.02  # of the smoothed sign of the velocity [rad/s]; chosen, as that of the laws
# Time between two samples that count as independent [s]; chosen: what no law of friction explains
# is correlated over some tenths of a second.
CORRELATION_TIME = 0.5
# The same of a joint that stands still while others move, where friction holds [s]; chosen.
HOLDING_TIME = 2.0
SAME_POSE = 0.01  # two poses that differ by less are one rest [rad or m]; chosen
DEPENDENT = 1.0e-6  # columns of which less is new, as a share, are combinations of others [1]
# How far a URDF may be wrong, as deviations: masses as a share; centres of mass over a body's
# radius of gyration about its joint; moments of inertia as a share. Makers' files were found to be
# off by tens of per cent. A controller's own model of gravity is known better.
MASS_SHARE, CENTRE_SHARE, INERTIA_SHARE, CONTROLLER_SHARE = 0.2, 0.15, 0.4, 0.1
# Centre of a payload that a controller knows, over the length of the arm.
KNOWN_CENTRE = 0.01
# A body below this share of an arm's largest mass or inertia is not stated by its URDF.
SMALLEST_BODY = 1.0e-3
# Payloads over the mass that the joints move, and how likely each is before anything is seen;
# arms carry up to a half of their mass, and most runs have no payload that the URDF has not.
PAYLOADS, PAYLOAD_WEIGHTS = (0.0, 0.04, 0.09, 0.17, 0.32), (0.52, 0.12, 0.12, 0.12, 0.12)
PAYLOAD_SPREAD = 0.3  # of its mass, as a share
# Distance of its centre from the last joint, over the length of the arm: a gripper, a long tool.
PAYLOAD_REACHES = (0.04, 0.12)
# Motor constants: joint torque per current, from geared motors of small arms to large ones [N m/A]
GAINS = np.exp(np.linspace(np.log(0.1), np.log(200.0), 77))
# Torques of a joint over the limit that its description states, at most: limits are of lasting
# loads or rounded, and motors can do more for a moment [1]; chosen, as data sheets' peak torques.
LARGEST_TORQUE = 1.5
# Errors of a driver's own torque constants, as a share.
TORQUE_SCALE = 0.1
SMALLEST_LEVEL = 1.0e-9  # of an effort that friction explains, a rounding error [A or N m]
# What no hypothesis explains, over the effort's variation without friction; less is not credible.
NOISE_LEVELS = np.exp(np.linspace(np.log(0.06), np.log(1.0), 9))
# How likely a joint obeys no hypothesis at all: a cable, a sign, a spring, an inertial left out.
OUTLIER = 1.0e-3


@dataclass(frozen=True, eq=False)
class JointSignals:
    """
    Effort and columns of one joint without what friction and rotor explain, compressed.

    Rows are weighted so that their squares sum up over independent samples; the first p rows of an
    orthogonal factorization of the columns are kept.
    """

    inertial: FloatArray  # (p, c): columns of the moved bodies without gravity
    gravity: FloatArray  # (p, c): those of gravity
    effort: FloatArray  # (p,): of the effort
    rest: float  # sum of squares of the effort that no column explains
    independent: float  # number of independent samples, without those that friction takes
    # Motor constant with which the largest current is all the torque that the joint has [N m/A]
    largest_gain: float

    @property
    def level(self) -> float:
        """Root mean square of the effort that friction does not explain; above zero."""
        squares = float(self.effort @ self.effort) + self.rest
        return max(float(np.sqrt(squares / self.independent)), SMALLEST_LEVEL)


@dataclass(frozen=True, eq=False)
class Gaussian:
    """Mean (c,) and covariance (c, c) of inertial parameters, or of an effort at scale one."""

    mean: FloatArray
    covariance: FloatArray


def sample_weights(motion: Motion, period: float) -> FloatArray:
    """
    Return how many independent samples each sample is worth, (N, n).

    Samples of a moving joint are `period` [s] apart. At rest friction holds any torque up to its
    break-away: a rest of the arm is one sample, however long it is.
    """
    moving = np.abs(motion.dq) > MOVING_SPEED
    weights: FloatArray = np.where(
        moving, min(period / CORRELATION_TIME, 1.0), min(period / HOLDING_TIME, 1.0)
    )
    resting: BoolArray = ~np.any(moving, axis=1)
    same = resting[1:] & resting[:-1] & np.all(
        np.abs(np.diff(motion.q, axis=0)) < SAME_POSE, axis=1
    )
    rest = np.cumsum(np.concatenate([[True], ~same]))
    lengths = np.bincount(rest)[rest]
    weights[resting] = np.minimum(1.0 / lengths[resting], 1.0)[:, None]
    return weights


def friction_columns(motion: Motion, joint: int) -> FloatArray:
    """Return the columns (N, 4) of offset, friction and rotor of a joint."""
    dq, ddq = motion.dq[:, joint], motion.ddq[:, joint]
    return np.column_stack([np.ones_like(dq), dq, np.tanh(dq / SPEED_WIDTH), ddq])


def orthonormal(columns: FloatArray) -> FloatArray:
    """Return an orthonormal basis of columns, some of which may be combinations of others."""
    size = np.linalg.norm(columns, axis=0)
    kept = columns[:, size > DEPENDENT * size.max(initial=0.0)]
    if not kept.size:
        return np.zeros((len(columns), 0))
    basis, triangle, _ = scipy.linalg.qr(
        kept / np.linalg.norm(kept, axis=0), mode='economic', pivoting=True
    )
    parts = np.abs(np.diag(triangle))
    found: FloatArray = basis[:, : int(np.sum(parts > DEPENDENT * parts[0]))]
    return found


def without_friction(
    motion: Motion, joint: int, signals: FloatArray, weights: FloatArray
) -> tuple[FloatArray, float]:
    """
    Return weighted signals (N, m) of a joint without what friction and rotor explain.

    With them goes the number of independent samples that is left; `weights` (N,) are as in
    `sample_weights`.
    """
    root = np.sqrt(weights)[:, None]
    basis = orthonormal(root * friction_columns(motion, joint))
    weighted = root * signals
    left: FloatArray = weighted - basis @ (basis.T @ weighted)
    return left, max(float(weights.sum()) - basis.shape[1], 1.0)


def body_columns(robot: RobotModel, motion: Motion) -> tuple[FloatArray, FloatArray]:
    """
    Return the inertial columns along a motion, in which gravity can be turned.

    (N, n, 10 n) are without gravity, (3, N, n, 10 n) those of unit gravity along the axes of the
    root frame [N m per parameter, and per m/s^2].
    """
    shape = (len(motion), robot.n, 10 * robot.n)
    axes = [static_regressor(robot.with_gravity(axis), motion.q) for axis in np.eye(3)]
    inertial = inertial_regressor(robot.with_gravity(np.zeros(3)), motion)
    return inertial.reshape(shape), np.reshape(axes, (3, *shape))


def joint_signals(
    robot: RobotModel, motion: Motion, bodies: tuple[FloatArray, FloatArray], effort: FloatArray,
    weights: FloatArray,
) -> list[JointSignals]:
    """
    Return the signals of every joint.

    `bodies` are the `body_columns` of the motion; `weights` (N, n) are as in `sample_weights`.
    """
    moving, static = bodies[0], np.tensordot(robot.gravity, bodies[1], 1)
    gains = _largest_gains(robot, (moving + static) @ prior_inertial_parameters(robot), effort)
    n = robot.n
    found = []
    for joint in range(n):
        own, c = slice(10 * joint, 10 * n), 10 * (n - joint)
        columns, independent = without_friction(
            motion, joint,
            np.column_stack([moving[:, joint, own], static[:, joint, own], effort[:, joint]]),
            weights[:, joint],
        )
        seen = orthonormal(columns[:, :-1])
        rows = seen.T @ columns
        found.append(JointSignals(
            rows[:, :c], rows[:, c:-1], rows[:, -1],
            max(float(columns[:, -1] @ columns[:, -1] - rows[:, -1] @ rows[:, -1]), 0.0),
            independent, float(gains[joint]),
        ))
    return found


def _largest_gains(robot: RobotModel, torque: FloatArray, effort: FloatArray) -> FloatArray:
    """
    Return the motor constants (n,) with which the largest efforts are all that joints can exert.

    Infinite where the description states no limit, or one that its own bodies exceed.
    """
    limit = robot.limits.effort
    stated = np.isfinite(limit) & (limit > np.abs(torque).max(axis=0))
    # A spike is no torque.
    peak = np.maximum(np.quantile(np.abs(effort), 0.99, axis=0), SMALLEST_LEVEL)
    return np.where(stated, LARGEST_TORQUE * limit / peak, np.inf)


def moved_mass(robot: RobotModel) -> float:
    """Return the mass that the joints move [kg]."""
    return float(prior_inertial_parameters(robot)[::10].sum())


def arm_length(robot: RobotModel) -> float:
    """Return the length of the way along the joints [m]."""
    placements = list(robot.pinocchio.jointPlacements)[2:]
    return float(sum(np.linalg.norm(placement.translation) for placement in placements)) or 1.0


def body_deviation(robot: RobotModel) -> FloatArray:
    """Return how far the inertial parameters (10 n,) of a URDF may be wrong, as deviations."""
    links = prior_inertial_parameters(robot).reshape(-1, 10)
    mass = np.maximum(links[:, 0], SMALLEST_BODY * links[:, 0].max())
    moment = 0.5 * (links[:, 4] + links[:, 6] + links[:, 9])
    moment = np.maximum(moment, SMALLEST_BODY * moment.max())
    deviation = np.empty_like(links)
    deviation[:, 0] = MASS_SHARE * mass
    # The radius of gyration about the joint is the distance of the mass, in the mean.
    deviation[:, 1:4] = (CENTRE_SHARE * mass * np.sqrt(moment / mass))[:, None]
    deviation[:, 4:] = (INERTIA_SHARE * moment)[:, None]
    return deviation.ravel()


def bodies_of(robot: RobotModel, share: float = MASS_SHARE) -> Gaussian:
    """
    Return the bodies of the URDF, and how far they may be wrong.

    `share` is the deviation of masses, with which that of all else grows. A wrong mass has wrong
    first moments and inertias in the same proportion: single joints are judged, in which these
    would not add up to it otherwise.
    """
    theta = prior_inertial_parameters(robot)
    covariance = np.diag(body_deviation(robot) ** 2)
    for link, body in enumerate(theta.reshape(-1, 10)):
        own = slice(10 * link, 10 * link + 10)
        of_mass = MASS_SHARE**2 * np.outer(body, body)
        covariance[10 * link, 10 * link] -= of_mass[0, 0]
        covariance[own, own] += of_mass
    return Gaussian(theta, (share / MASS_SHARE) ** 2 * covariance)


def payload_of(robot: RobotModel, share: float, reach: float, spread: float) -> Gaussian:
    """
    Return a payload at the last link.

    Its mass is a `share` of what the joints move, known up to a `spread`; its centre is in any
    direction from the last joint, `reach` is its distance over the length of the arm.
    """
    theta = np.zeros(10 * robot.n)
    covariance = np.zeros((theta.size, theta.size))
    mass, distance = share * moved_mass(robot), reach * arm_length(robot)
    last = slice(theta.size - 10, theta.size)
    theta[last.start] = mass
    deviation = mass * np.repeat([spread, distance, distance**2], [1, 3, 6])
    covariance[last, last] = np.diag(deviation**2)
    return Gaussian(theta, covariance)


@dataclass(frozen=True)
class Nuisance:
    """Unknown payload, the same for all joints."""

    payload: float  # over the mass that the joints move
    reach: float  # see `payload_of`
    known: bool  # whether the controller knows it, so that its torque is without its gravity
    weight: float  # how likely it is before anything is seen


def nuisances(kind: str) -> tuple[Nuisance, ...]:
    """Return the payloads of a hypothesis; their weights sum up to one."""
    cases = (True, False) if kind == WITHOUT_GRAVITY else (True,)
    return (
        Nuisance(0.0, PAYLOAD_REACHES[0], True, PAYLOAD_WEIGHTS[0]),
        *(
            Nuisance(share, reach, known, weight / (len(cases) * len(PAYLOAD_REACHES)))
            for share, weight in zip(PAYLOADS[1:], PAYLOAD_WEIGHTS[1:], strict=True)
            for reach in PAYLOAD_REACHES for known in cases
        ),
    )


class Hypotheses:
    """Likelihoods of the kinds of effort of an arm with uncertain bodies."""

    def __init__(self, robot: RobotModel) -> None:
        self._robot = robot
        self._arm = bodies_of(robot)
        self._controller = bodies_of(robot, CONTROLLER_SHARE).covariance
        largest = payload_of(robot, PAYLOADS[-1], PAYLOAD_REACHES[-1], 1.0)
        self._anything = bodies_of(robot, 1.0).covariance + largest.covariance

    def log_likelihoods(
        self, joint: int, signals: JointSignals, of: Mapping[str, Sequence[Nuisance]]
    ) -> Mapping[str, FloatArray]:
        """
        Return the log-likelihood of each kind for its nuisances, over that of none of the kinds.

        The two are mixed, so that no joint alone decides.
        """
        other = self._of_none(joint, signals)
        return {
            kind: np.logaddexp(np.log(OUTLIER), np.log1p(-OUTLIER) + np.array([
                _average(signals, self._expected(joint, signals, kind, nuisance), kind)
                for nuisance in some
            ]) - other)
            for kind, some in of.items()
        }

    def _expected(
        self, joint: int, signals: JointSignals, kind: str, nuisance: Nuisance
    ) -> Gaussian:
        own = slice(10 * joint, None)
        payload = payload_of(self._robot, nuisance.payload, nuisance.reach, PAYLOAD_SPREAD)
        mean = (self._arm.mean + payload.mean)[own]
        covariance = (self._arm.covariance + payload.covariance)[own, own]
        if kind != WITHOUT_GRAVITY:
            columns = signals.inertial + signals.gravity
            is_turned = kind == CURRENT and self._robot.drives.drive_gain[joint] < 0.0
            return Gaussian(
                columns @ (-mean if is_turned else mean), columns @ covariance @ columns.T
            )
        left, left_mean = self._left_of_gravity(nuisance, payload)
        return Gaussian(
            signals.inertial @ mean + signals.gravity @ left_mean[own],
            signals.inertial @ covariance @ signals.inertial.T
            + signals.gravity @ left[own, own] @ signals.gravity.T,
        )

    def _left_of_gravity(
        self, nuisance: Nuisance, payload: Gaussian
    ) -> tuple[FloatArray, FloatArray]:
        """Return covariance and mean of the bodies that a controller's gravity leaves out."""
        if not nuisance.known:
            return self._controller + payload.covariance, payload.mean
        known = payload_of(self._robot, nuisance.payload, KNOWN_CENTRE, CONTROLLER_SHARE)
        return self._controller + known.covariance, np.zeros_like(payload.mean)

    def _of_none(self, joint: int, signals: JointSignals) -> float:
        """Return the log-likelihood of a joint whose effort is any combination of its columns."""
        own = slice(10 * joint, None)
        spread = self._anything[own, own]
        covariance = sum(
            (columns @ spread @ columns.T for columns in (signals.inertial, signals.gravity)),
            np.zeros((len(signals.effort),) * 2),
        )
        free = replace(signals, largest_gain=np.inf)
        return _average(free, Gaussian(np.zeros(len(signals.effort)), covariance), CURRENT)


def _average(signals: JointSignals, signal: Gaussian, kind: str) -> float:
    """Return the log-likelihood averaged over the scales of a kind and the levels of noise."""
    if kind == CURRENT:
        # Larger ones were as likely as the others before the efforts were seen.
        possible = GAINS <= max(signals.largest_gain, GAINS[0])
        scales, weights = 1.0 / GAINS[possible], np.full(possible.sum(), 1.0 / len(GAINS))
    else:
        steps = np.linspace(-2.0, 2.0, 9)
        scales, weights = np.exp(TORQUE_SCALE * steps), np.exp(-0.5 * steps**2)
        weights /= weights.sum()
    likelihood = _scaled_likelihood(signals, signal, scales)
    return log_mean(
        likelihood, np.repeat(weights[:, None], len(NOISE_LEVELS), axis=1) / len(NOISE_LEVELS)
    )


def log_mean(values: FloatArray, weights: FloatArray) -> float:
    """Return the logarithm of the weighted mean of exponentials."""
    top = float(values.max())
    return top + float(np.log(np.sum(weights * np.exp(values - top))))


def _scaled_likelihood(
    signals: JointSignals, signal: Gaussian, scales: FloatArray
) -> FloatArray:
    """Return the log-likelihood at every scale and noise level, (scales, levels)."""
    p = len(signals.effort)
    variances, axes = np.linalg.eigh(signal.covariance)
    variances = np.maximum(variances, 0.0)
    effort, mean = axes.T @ signals.effort, axes.T @ signal.mean
    noise = (NOISE_LEVELS * signals.level) ** 2
    k = scales[:, None, None]
    spread = noise[None, :, None] + k**2 * variances
    misfit = np.sum((effort - k * mean) ** 2 / spread + np.log(spread), axis=2)
    likelihood: FloatArray = -0.5 * (
        misfit - p * np.log(noise) + signals.rest / noise + signals.independent * np.log(noise)
    )
    return likelihood
