# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Torque that a controller adds beforehand: gravity, friction, and what is left of both.

Friction has the direction of the wanted motion. The sign of a measured velocity is that of its
noise where a joint rests, and a torque that follows it makes a joint chatter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray, joint_vectors
from robot_identification.errors import UsageError
from robot_identification.model import IdentifiedModel, RigidTorque, RobotModel
from robot_identification.prediction.friction_table import no_friction, tabulate_friction

FRICTION = ('none', 'kinetic', 'break_away')
# After a longer pause, or a clock that goes back, everything starts anew [s].
LONGEST_PAUSE = 0.1
# A joint that is meant to rest and is slower does rest, but for noise [rad/s].
RESTING = 0.02
# No joint is faster [rad/s], none has more torque [N m].
LARGEST_SPEED, LARGEST_TORQUE = 1.0e4, 1.0e11
# A wanted motion ends below this share of the velocity that it begins at.
RELEASE = 0.5


@dataclass(frozen=True)
class FeedForwardOptions:
    """
    Options of the feed-forward torque.

    `friction` 'kinetic' is the model's friction at the wanted velocity; 'break_away' differs from
    it in slow motion only, where it is the torque that starts a joint. `observer_bandwidth` [Hz]
    is that of the first-order observer of the torque that the model lacks, None for no observer.
    `observer_share` and `effort_share` limit the observer's part and the whole torque, as shares
    of the effort limit. A motion begins at the wanted velocity `moving_velocity` [rad/s] and ends
    at half of it; from `slow_velocity` [rad/s] on a joint certainly slides. Friction is ramped
    over `transition_time` [s]. Raises UsageError if a value is out of its range.
    """

    gravity: bool = True
    friction: str = 'break_away'
    observer_bandwidth: float | None = None
    observer_share: float = 0.2
    effort_share: float = 1.0
    moving_velocity: float = 0.002
    slow_velocity: float = 0.05
    transition_time: float = 0.02

    def __post_init__(self) -> None:
        if self.friction not in FRICTION:
            raise UsageError(
                f'feed-forward: friction is {self.friction!r}, known are {", ".join(FRICTION)}'
            )
        for name in ('moving_velocity', 'slow_velocity', 'transition_time'):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0.0):
                raise UsageError(f'feed-forward: {name} is {value!r}, it must be positive')
        for name in ('observer_share', 'effort_share'):
            value = getattr(self, name)
            if not 0.0 < value <= 1.0:
                raise UsageError(f'feed-forward: {name} is {value!r}, it must be above 0, up to 1')
        bandwidth = self.observer_bandwidth
        if bandwidth is not None and not (np.isfinite(bandwidth) and bandwidth > 0.0):
            raise UsageError(
                f'feed-forward: observer_bandwidth is {bandwidth!r}, it must be positive [Hz]'
            )


class FeedForward:
    r"""
    Feed-forward torque from the joint state and the wanted velocity.

    The torque is :math:`g(q) + b + s F(|\dot q_w|) + \hat d`, within the effort limit: gravity,
    the bias of friction, the direction s of the wanted motion (-1 to 1) times the model's friction
    F in steady sliding, and the observer's part. With break-away, F at a slow velocity is the
    largest one from there up to `slow_velocity`; the difference of a measured break-away torque
    from it is added times :math:`\exp(-(2 \dot q_w / v_{slow})^2)`. s follows the wanted velocity
    with hysteresis and at a limited rate, so that noise about zero has no effect. The observer is
    a first-order low-pass of the torque that is neither in the model nor in the friction fed
    forward (W.-H. Chen, D. J. Ballance, P. J. Gawthrop and J. O'Reilly, "A nonlinear disturbance
    observer for robotic manipulators", IEEE Transactions on Industrial Electronics 47(4), 2000);
    it is held while a joint that is meant to rest does rest, since any torque below break-away is
    friction there. A RobotModel has no friction. `break_away` (n,) [N m] are measured torques that
    start the joints without load, by default those of the model; `temperature` (n,) [deg C] is as
    in `tabulate_friction`. After a step, `valid` is false if the sample could not be used,
    `limited` (n,) marks joints whose torque was limited, and `gravity`, `friction` and
    `disturbance` (n,) [N m] are the parts before the limit. Raises UsageError if the model was
    identified without drive gains, `break_away` is not a torque for every joint, or the observer's
    limit is unknown.
    """

    def __init__(
        self,
        model: IdentifiedModel | RobotModel,
        options: FeedForwardOptions | None = None,
        *,
        break_away: FloatArray | None = None,
        temperature: FloatArray | None = None,
    ) -> None:
        if isinstance(model, IdentifiedModel) and model.relative_scale:
            raise UsageError(
                f'the model of {model.robot.name} has torques of an unknown scale: identify the '
                'arm with its drive gains before its torques are fed forward'
            )
        self.options = options or FeedForwardOptions()
        self._rigid = RigidTorque(model)
        robot = self._rigid.robot
        self._table = (
            tabulate_friction(model, temperature) if isinstance(model, IdentifiedModel)
            else no_friction(robot.n)
        )
        if self.options.friction == 'break_away':
            self._table = self._table.with_break_away(self.options.slow_velocity)
        self._excess = np.zeros(robot.n)
        if break_away is not None:
            given = np.asarray(break_away, dtype=float)
            if given.shape != (robot.n,) or not np.all(np.isfinite(given) & (given >= 0.0)):
                raise UsageError(
                    f'break-away torques {given.tolist()} are not {robot.n} numbers of at least '
                    '0 N m, one for every joint in kinematic order'
                )
            self._excess = given - self._table.resistance[:, 0]
        self.limit: FloatArray = self.options.effort_share * robot.limits.effort
        self._observer_limit = self._find_observer_limit(robot)
        self._numbers = np.zeros((4, robot.n))  # those that are looked at together
        self._stamp = np.nan
        self._start()
        self._keep(True, *(np.zeros(robot.n) for _ in range(3)))

    def _find_observer_limit(self, robot: RobotModel) -> FloatArray:
        limit: FloatArray = self.options.observer_share * robot.limits.effort
        if self.options.observer_bandwidth is not None and not np.all(np.isfinite(limit)):
            unknown = np.array(robot.joint_names)[~np.isfinite(limit)]
            raise UsageError(
                f'the effort limit of {", ".join(unknown)} is unknown, and what the observer adds '
                'is a share of it: state it in the robot YAML, or leave the observer out'
            )
        return limit

    @property
    def n(self) -> int:
        """Return the number of joints."""
        return self._rigid.robot.n

    def _start(self) -> None:
        """Forget what was before."""
        self._heading = np.zeros(self.n)
        self._direction = np.zeros(self.n)
        self._observed = np.zeros(self.n)
        self._before: tuple[FloatArray, FloatArray, FloatArray] | None = None

    def _keep(
        self, valid: bool, gravity: FloatArray, friction: FloatArray, disturbance: FloatArray
    ) -> FloatArray:
        """Keep the parts and return the torque."""
        total = gravity + friction + disturbance
        self.valid = valid
        self.gravity, self.friction, self.disturbance = gravity, friction, disturbance
        self.limited: BoolArray = np.abs(total) > self.limit
        return _within(total, self.limit)

    def _refuse(self) -> FloatArray:
        """Return nothing for a sample that cannot be used, and trust nothing from before it."""
        self._stamp = np.nan
        self._start()
        return self._keep(False, *(np.zeros(self.n) for _ in range(3)))

    def step(
        self,
        stamp: float,
        q: FloatArray,
        dq: FloatArray,
        dq_wanted: FloatArray,
        tau: FloatArray | None = None,
    ) -> FloatArray:
        """
        Return the joint torque (n,) [N m] to add to a controller's at one joint state.

        `stamp` is in s; measured position [rad] and velocity [rad/s], wanted velocity [rad/s] and
        `tau`, the drive torque since the previous joint state [N m], are each (n,). Without `tau`
        the observer is held. After a pause longer than `LONGEST_PAUSE`, or if the clock goes back,
        the state is reset. The torque is within the limit; it is zero, and `valid` false, if an
        input is not finite. Raises UsageError if an array has not one number for every joint.
        """
        given = joint_vectors(self.n, q=q, dq=dq, dq_wanted=dq_wanted)
        q, dq, dq_wanted = given
        if tau is not None:
            given += joint_vectors(self.n, tau=tau)
            tau = given[-1]
        if not self._are_finite(stamp, given):
            return self._refuse()
        elapsed = stamp - self._stamp
        if not 0.0 <= elapsed <= LONGEST_PAUSE:
            self._start()
            elapsed = 0.0
        self._observe(elapsed, q, dq, tau)
        self._turn(elapsed, dq_wanted)
        gravity = self._rigid.gravity(q)
        load = np.abs(gravity)
        # NaN is not smaller either.
        if not (load.max() < LARGEST_TORQUE and self._are_finite(stamp, (self._observed,))):
            return self._refuse()
        friction = self._friction_torque(np.abs(dq_wanted), load)
        if not self.options.gravity:
            gravity = np.zeros(self.n)
        self._stamp = stamp
        if elapsed > 0.0 or self._before is None:
            self._before = q.copy(), dq.copy(), friction
        return self._keep(True, gravity, friction, self._observed.copy())

    def _are_finite(self, stamp: float, arrays: Sequence[FloatArray]) -> bool:
        """Return whether all numbers are finite."""
        numbers = self._numbers[: len(arrays)]
        for row, values in enumerate(arrays):
            numbers[row] = values
        return math.isfinite(stamp) and bool(np.isfinite(numbers).all())

    def _turn(self, elapsed: float, dq_wanted: FloatArray) -> None:
        """Make the directions follow the desired velocity."""
        begins, speed, sign = self.options.moving_velocity, np.abs(dq_wanted), np.sign(dq_wanted)
        goes_on = (speed > RELEASE * begins) & (sign == self._heading)
        self._heading = sign * (goes_on | (speed >= begins))
        reach = elapsed / self.options.transition_time
        self._direction = self._direction + _within(self._heading - self._direction, reach)

    def _friction_torque(self, speed: FloatArray, load: FloatArray) -> FloatArray:
        """Return what makes up for friction at the wanted speed [N m], shape (n,)."""
        if self.options.friction == 'none':
            return np.zeros(self.n)
        level, bias = self._table.at(speed, load)
        if self.options.friction == 'break_away':
            # Faster ones have no square.
            shares = np.minimum(speed, LARGEST_SPEED) * (2.0 / self.options.slow_velocity)
            level = np.maximum(level + np.exp(-shares * shares) * self._excess, 0.0)
        torque: FloatArray = bias + self._direction * level
        return torque

    def _observe(
        self, elapsed: float, q: FloatArray, dq: FloatArray, tau: FloatArray | None
    ) -> None:
        """Take what acted since the sample before and was not expected."""
        bandwidth = self.options.observer_bandwidth
        if bandwidth is None or tau is None or self._before is None or elapsed == 0.0:
            return
        q_before, dq_before, fed = self._before
        # A difference of velocities is noise; through the low-pass it is that of a momentum.
        # Of numbers that are too large the torque is not finite, which is looked for at the end.
        with np.errstate(over='ignore', invalid='ignore'):
            expected = self._rigid(
                0.5 * (q + q_before), 0.5 * (dq + dq_before), (dq - dq_before) / elapsed
            )
            share = 1.0 - np.exp(-2.0 * np.pi * bandwidth * elapsed)
            followed = self._observed + share * (tau - expected - fed - self._observed)
        rests = (self._heading == 0.0) & (np.abs(dq) < RESTING)
        self._observed = np.where(
            rests, self._observed, _within(followed, self._observer_limit)
        )


def _within(values: FloatArray, limit: FloatArray | float) -> FloatArray:
    """Return values (n,) within a limit to either side; quicker than `numpy.clip`."""
    return np.minimum(np.maximum(values, -limit), limit)
