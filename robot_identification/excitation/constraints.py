# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Limits of a motion, and how much of them its samples use."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import UsageError
from robot_identification.excitation.experiment import Experiment, ExtraLimits, JointValues
from robot_identification.excitation.parametrizations.fourier import (
    FourierParametrization, harmonic_rates,
)
from robot_identification.excitation.parametrizations.parametrization import Parametrization
from robot_identification.model import JointLimits, Motion, rigid_torque, RobotModel

# Where neither hardware nor experiment limits a position, one turn each way.
FREE_POSITION = 2.0 * np.pi
# The amplitude of a harmonic has a corner where it is zero. Its square root is taken of the
# square plus that of this [rad]: so much too large at the most, and never too small.
ROUNDING = 3.0e-4
# As of joints that turn. A rule is of angles, or of no unit.
UNITS = {
    'position': 'rad', 'velocity': 'rad/s', 'acceleration': 'rad/s^2', 'jerk': 'rad/s^3',
    'torque': 'N m', 'workspace': 'm', 'tool_speed': 'm/s',
}


@dataclass(frozen=True, eq=False)
class MotionLimits:
    """Limits of a motion, margins subtracted."""

    # (n,): position [rad].
    lower: FloatArray
    upper: FloatArray
    # (n,): magnitudes [rad/s], [rad/s^2], [N m]; infinite where unknown.
    velocity: FloatArray
    acceleration: FloatArray
    torque: FloatArray
    # (n,): magnitude [rad/s^3]; infinite where it is not limited, as it is by default.
    jerk: FloatArray = field(default_factory=lambda: np.array(np.inf))

    def __post_init__(self) -> None:
        object.__setattr__(self, 'jerk', np.broadcast_to(self.jerk, self.velocity.shape))

    @property
    def limits_jerk(self) -> bool:
        """Return whether the jerk of any joint is limited."""
        return bool(np.any(np.isfinite(self.jerk)))

    def centre(self, kind: str) -> FloatArray:
        """Return what values of a kind are measured from: for positions, the range's middle."""
        if kind == 'position':
            return 0.5 * (self.lower + self.upper)
        return np.zeros_like(self.lower)

    def reach(self, kind: str) -> FloatArray:
        """Return how far from `centre` values of a kind may be."""
        if kind == 'position':
            return 0.5 * (self.upper - self.lower)
        reach: FloatArray = getattr(self, kind)
        return reach


@dataclass(frozen=True)
class LimitUse:
    """The share of one limit that a motion uses, and where it is largest."""

    # 'position', 'velocity', 'acceleration', 'jerk' or 'torque', or the kind of a `PathConstraint`
    kind: str
    joint: str  # or the label of a path constraint
    share: float  # the limit is broken above 1
    value: float  # largest, SI units
    limit: float  # SI units
    time: float  # [s], NaN of a bound that holds at every instant
    unit: str = ''  # of value and limit, for people


def joint_index(robot: RobotModel, joint: str, what: str) -> int:
    """Return the number of a joint that `what` of an experiment names; UsageError if none."""
    if joint not in robot.joint_names:
        raise UsageError(
            f'{what} of the experiment names the joint {joint}; {robot.name} has the joints '
            f'{", ".join(robot.joint_names)}'
        )
    return robot.joint_names.index(joint)


def _by_joint(robot: RobotModel, values: JointValues | None, what: str) -> FloatArray:
    """Return limits of all joints, infinite where there is none, shape (n,)."""
    if values is None or isinstance(values, (int, float)):
        return np.full(robot.n, np.inf if values is None else float(values))
    limits = np.full(robot.n, np.inf)
    for joint, value in values.items():
        limits[joint_index(robot, joint, what)] = value
    return limits


def tightened(robot: RobotModel, extra: ExtraLimits) -> JointLimits:
    """Return the limits of the hardware, or those of the experiment where they are narrower."""
    def narrower(kind: str, limits: FloatArray) -> FloatArray:
        return np.minimum(limits, _by_joint(robot, extra.limits.get(kind), 'limits'))

    limits = robot.limits
    return replace(
        limits,
        velocity=narrower('velocity', limits.velocity),
        acceleration=narrower('acceleration', limits.acceleration),
        effort=narrower('torque', limits.effort),
    )


def jerk_limits(robot: RobotModel, extra: ExtraLimits) -> FloatArray:
    """Return the largest jerk of every joint [rad/s^3], of its URDF or narrower, shape (n,)."""
    stated = {joint.name: joint.jerk for joint in robot.urdf.joints}
    return np.minimum(
        _by_joint(robot, extra.jerk, 'jerk'),
        [stated.get(joint, np.inf) for joint in robot.joint_names],
    )


def hardware_limits(robot: RobotModel, extra: ExtraLimits | None = None) -> MotionLimits:
    """
    Return the limits of the robot's YAML, narrowed by `extra`, without margins.

    Raises UsageError if `extra` names a joint that the robot does not have.
    """
    wanted = extra or ExtraLimits()
    limits = tightened(robot, wanted)
    return MotionLimits(
        lower=np.where(np.isfinite(limits.lower), limits.lower, -FREE_POSITION),
        upper=np.where(np.isfinite(limits.upper), limits.upper, FREE_POSITION),
        velocity=limits.velocity,
        acceleration=limits.acceleration,
        torque=limits.effort,
        jerk=jerk_limits(robot, wanted),
    )


def motion_limits(robot: RobotModel, experiment: Experiment) -> MotionLimits:
    """
    Return the limits of the hardware with the experiment's margins.

    Raises UsageError if the experiment names a joint that the robot does not have, or nothing is
    left of a range.
    """
    unknown = sorted(set(experiment.window) - set(robot.joint_names))
    if unknown:
        raise UsageError(
            f'the experiment limits {", ".join(unknown)}; {robot.name} has the joints '
            f'{", ".join(robot.joint_names)}'
        )
    limits, margins = hardware_limits(robot, experiment.extra_limits), experiment.margins
    lower = limits.lower + np.where(np.isfinite(robot.limits.lower), margins.position, 0.0)
    upper = limits.upper - np.where(np.isfinite(robot.limits.upper), margins.position, 0.0)
    for joint, (low, high) in experiment.window.items():
        index = robot.joint_names.index(joint)
        lower[index], upper[index] = max(lower[index], low), min(upper[index], high)
    empty = np.flatnonzero(lower >= upper)
    if empty.size:
        joint = robot.joint_names[empty[0]]
        raise UsageError(
            f'no position is left for {joint} between {lower[empty[0]]:.3f} and '
            f'{upper[empty[0]]:.3f} {robot.position_units[empty[0]]}: widen its window or the '
            'margin'
        )
    return replace(
        limits, lower=lower, upper=upper, velocity=limits.velocity * margins.velocity,
        acceleration=limits.acceleration * margins.acceleration,
        torque=limits.torque * margins.torque,
    )


def measure_limit_use(
    robot: RobotModel, limits: MotionLimits, times: FloatArray, motion: Motion
) -> list[LimitUse]:
    """
    Return how much of every limit a motion uses, the worst instant of each joint.

    `limits` have their margins taken off; `motion` has dense samples at `times` (N,) [s]. Torques
    are those of the robot's prior.
    """
    kinds = {
        'position': motion.q,
        'velocity': motion.dq,
        'acceleration': motion.ddq,
        # The URDF's bodies alone: the margin has to cover friction and rotors.
        'torque': rigid_torque(robot, motion),
    }
    uses = []
    for kind, values in kinds.items():
        worst = np.argmax(np.abs(values - limits.centre(kind)), axis=0)
        largest = values[worst, np.arange(robot.n)]
        uses += joint_limit_uses(robot, limits, kind, largest, times[worst])
    return uses


def joint_limit_uses(
    robot: RobotModel, limits: MotionLimits, kind: str, values: FloatArray, times: FloatArray,
) -> list[LimitUse]:
    """Return the use of one kind of limit from the joints' largest values (n,) and times."""
    centre, reach = limits.centre(kind), limits.reach(kind)
    off = values - centre
    bounds = centre + np.copysign(reach, off) if kind == 'position' else reach
    return [
        LimitUse(
            kind, robot.joint_names[joint], float(share), float(value), float(limit), float(time),
            robot.unit(UNITS[kind], joint),
        )
        for joint, (share, value, limit, time) in enumerate(zip(
            np.abs(off) / reach, values, bounds, times, strict=True
        ))
    ]


def broken_limits(uses: list[LimitUse], tolerance: float = 1e-9) -> list[str]:
    """Return the limits that are broken, in words."""
    return [
        f'{use.kind} of {use.joint} reaches {use.value:.4g}{" " if use.unit else ""}{use.unit} '
        f'{"by its conservative bound" if np.isnan(use.time) else f"at {use.time:.3f} s"}, the '
        f'limit is {use.limit:.4g}'
        for use in uses
        if not use.share <= 1.0 + tolerance
    ]


def limits_entry(uses: list[LimitUse]) -> dict[str, Any]:
    """Return the certificate's entry: the worst use of each kind of limit."""
    kinds = dict.fromkeys(use.kind for use in uses)
    worst = {
        kind: max((use for use in uses if use.kind == kind), key=lambda use: use.share)
        for kind in kinds
    }
    return {
        kind: {
            'joint': use.joint,
            'share': round(use.share, 6),
            'value': round(use.value, 6),
            # JSON and YAML have no common infinity, and none for what is not a number.
            'limit': round(use.limit, 6) if np.isfinite(use.limit) else None,
            'time': round(use.time, 3) if np.isfinite(use.time) else None,
        }
        for kind, use in worst.items()
    }


def conservative_shares(
    form: Parametrization, coefficients: FloatArray, limits: MotionLimits,
    rounding: float = ROUNDING,
) -> FloatArray:
    """
    Return shares of limits that a Fourier series cannot exceed with any phases, (n, 4 or 5).

    The sum of the amplitudes of all harmonics bounds the position, sums times powers of their
    rates its derivatives. Columns are those of `amplitude_limits`. `rounding` [rad] makes the sums
    differentiable where an amplitude is zero; 0 gives the sums themselves. Other forms raise a
    `UsageError`.
    """
    powers, reaches = amplitude_limits(form, limits)
    a, b = _series(form).series(coefficients)
    sums = np.sqrt(a**2 + b**2 + rounding**2) @ powers
    off = coefficients[:, 0] - limits.centre('position')
    sums[:, 0] -= off
    sums[:, 1] += off
    shares: FloatArray = sums / reaches
    return shares


def conservative_limit_uses(
    robot: RobotModel, form: Parametrization, coefficients: FloatArray,
    limits: MotionLimits,
) -> list[LimitUse]:
    """Return the use of the joints' limits by sums over harmonics, which have no instant."""
    shares = conservative_shares(form, coefficients, limits, rounding=0.0)
    lower, upper = shares[:, 0], shares[:, 1]
    farther = np.where(upper >= lower, upper, -lower)
    values = {'position': limits.centre('position') + limits.reach('position') * farther}
    a, b = _series(form).series(coefficients)
    sums = np.hypot(a, b) @ amplitude_limits(form, limits)[0]
    values |= dict(zip(('velocity', 'acceleration', 'jerk'), sums.T[2:], strict=False))
    return [
        use for kind, largest in values.items()
        for use in joint_limit_uses(robot, limits, kind, largest, np.full(robot.n, np.nan))
    ]


def amplitude_limits(
    form: Parametrization, limits: MotionLimits
) -> tuple[FloatArray, FloatArray]:
    """
    Return the conservative limits as sums over the amplitudes of all K harmonics.

    `powers` (K, m) weigh the amplitudes for the lower and upper end of the position range, which
    count from its middle, velocity, acceleration, and jerk where it is limited; `reaches` (n, m)
    bound the sums.
    """
    series, half = _series(form), limits.reach('position')
    rates = harmonic_rates(series.harmonics, series.base_period)
    columns = [
        (0, half), (0, half), (1, limits.velocity), (2, limits.acceleration),
        *([(3, limits.jerk)] if limits.limits_jerk else []),
    ]
    powers = np.stack([rates**power for power, _ in columns], axis=1)
    return powers, np.column_stack([reach for _, reach in columns])


def _series(form: Parametrization) -> FourierParametrization:
    if not isinstance(form, FourierParametrization):
        raise UsageError(
            f'conservative bounds are of the form fourier, not of {form.name}: leave bounds out'
        )
    return form
