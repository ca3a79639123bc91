# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The robot behind the interfaces: its modes, its program, its arm, and the faults it may have.

Nothing here knows of sockets or of wall-clock time: `step` is one cycle of the controller.
"""

from __future__ import annotations

from collections import deque
from dataclasses import asdict, dataclass
from enum import IntEnum
import hashlib
from itertools import accumulate
import math
import struct

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import UsageError
from robot_identification.model import RobotModel
from robot_identification.options import check_options, option
from robot_identification.simulation.ground_truth import GroundTruth, prior_truth
from robot_identification.simulation.mujoco_robot import (
    MujocoRobot, RigidInverseDynamics, Sample,
)
from robot_identification.simulation.run import driver_period
from robot_identification.simulation.ur_controller.external_control import (
    ExternalControl, Reference, STANDSTILL, STOP_DECELERATION,
)
from scipy.spatial.transform import Rotation

# Numbers of the types, by name; the others are variants that a controller states as these.
ROBOT_TYPES = {
    'ur5': 1, 'ur5e': 1, 'ur7e': 1, 'ur10': 2, 'ur10e': 2, 'ur12e': 2, 'ur3': 3, 'ur3e': 3,
    'ur16e': 4, 'ur18': 5, 'ur20': 7, 'ur30': 8, 'ur15': 9,
}
EXTERNAL_CONTROL = 'external_control'  # name of the installed program that the driver needs
CB3_TYPES = ('ur3', 'ur5', 'ur10')
SWITCHING_TIME = 0.5  # of power and brakes [s]; chosen: a test need not wait for 10 s
PROTECTIVE_DECELERATION = 15.0  # [rad/s^2]; chosen: at most 0.2 s from the largest speed
PAUSE_RATE = 4.0  # how fast the pace changes [1/s]; chosen: a pause stops within 0.25 s
# A joint this far beyond its limit of velocity ends in a protective stop; chosen.
SPEED_TOLERANCE = 1.1


class RobotMode(IntEnum):
    """What the robot does, as it states it itself."""

    POWER_OFF, IDLE, RUNNING = 3, 5, 7


class SafetyMode(IntEnum):
    """The state of the safety system, as the robot states it itself."""

    NORMAL, PROTECTIVE_STOP, ROBOT_EMERGENCY_STOP = 1, 3, 7


class Runtime(IntEnum):
    """The state of the program, as the robot states it itself."""

    STOPPED, PLAYING, PAUSING, PAUSED = 1, 2, 3, 4


@dataclass(frozen=True)
class UrOptions:
    """What a simulated controller states of itself, and which of it is wrong."""

    software: str = option(
        str, 'version of PolyScope that the controller states', otherwise='5.22 or 3.15.8',
        default='', metavar='X.Y',
    )
    serial: str = option(
        str, 'serial number that the controller states', default='20265000001', metavar='NUMBER'
    )
    powered_off: bool | None = option(
        bool, 'begin with the power off and the brakes engaged, as after booting'
    )
    missing_fields: str = option(
        str, 'RTDE fields that this controller does not know, with commas', default='',
        metavar='FIELDS',
    )
    calibration_error: float = option(
        float, 'added to the first length of the kinematics that the controller states [m]',
        default=0.0, minimum=-0.1, maximum=0.1, metavar='LENGTH',
    )

    def __post_init__(self) -> None:
        check_options(self)
        if self.software:
            self.version('')

    def version(self, robot: str) -> tuple[int, int, int, int]:
        """Return major, minor, bugfix and build number of the software."""
        text = self.software or ('3.15.8' if robot in CB3_TYPES else '5.22.0')
        try:
            numbers = [int(part) for part in text.split('.')]
            if not (2 <= len(numbers) <= 4 and numbers[0] in (3, 5) and min(numbers) >= 0
                    and max(numbers) < 2**31):
                raise ValueError
        except ValueError:
            raise UsageError(
                f'software {text!r:.40} is no version of PolyScope 3 or 5: give one such as 5.22'
            ) from None
        major, minor, bugfix, build = [*numbers, 0, 0, 0][:4]
        return major, minor, bugfix, build


def kinematics_of(robot: RobotModel) -> dict[str, FloatArray]:
    """Return the rows of an arm's table, (6,) each; raise UsageError if it is none of UR's."""
    table = robot.denavit_hartenberg
    if robot.name not in ROBOT_TYPES or table is None or robot.n != 6:
        raise UsageError(
            f'{robot.name} is no Universal Robots arm that is known: choose one of '
            f'{", ".join(ROBOT_TYPES)}'
        )
    return {
        'theta': table.theta.copy(), 'a': table.a.copy(), 'd': table.d.copy(),
        'alpha': table.alpha.copy(),
    }


@dataclass
class Faults:
    """Faults of the robot and its network that a person switches on and off."""

    payload_ignored: bool = False  # a payload that is set is not taken
    delay: float = 0.0  # of everything that is sent [s]
    loss: float = 0.0  # share of the RTDE samples that is lost
    cut_until: float = 0.0  # time of the robot until which RTDE takes no connection [s]


@dataclass
class Peaks:
    """The motion since it was asked for the last time, without noise."""

    speed: float = 0.0  # of the fastest joint [rad/s]
    acceleration: float = 0.0  # of the reference [rad/s^2]
    moved_at: float = -math.inf  # when a joint was last faster than 0.01 rad/s [s]


class UrRobot:
    """
    A simulated Universal Robots arm with its controller.

    `robot` is the arm as its description has it, `arm` the simulated one at rest, and `truth` its
    hidden parameters. Raises UsageError if the robot is none of `ROBOT_TYPES`.
    """

    def __init__(
        self, robot: RobotModel, truth: GroundTruth, arm: MujocoRobot,
        options: UrOptions | None = None,
    ) -> None:
        self.kinematics = kinematics_of(robot)
        self.options = UrOptions() if options is None else options
        self.name, self.period = robot.name, driver_period(robot)
        self.version = self.options.version(robot.name)
        self.rate = 1.0 / self.period
        self._robot, self._truth = robot, truth
        self.arm = arm
        self._model = RigidInverseDynamics(robot, prior_truth(robot))
        self.reference = Reference(arm.true_sample().q, self.period)
        self.kinematics['d'][0] += self.options.calibration_error
        self.limits = robot.limits
        off = self.options.powered_off
        self.robot_mode = RobotMode.POWER_OFF if off else RobotMode.RUNNING
        self.safety_mode = SafetyMode.NORMAL
        self.program: ExternalControl | None = None
        self.program_name, self.loaded = '', EXTERNAL_CONTROL
        self.paused = False
        self.slider = 1.0  # where a person or a client has set it
        # The slider's share of the speed, and the one that a pause leaves; both change slowly.
        self.fraction, self.scaling = 1.0, 1.0
        self.payload, self.payload_centre = 0.0, np.zeros(3)
        self.payload_inertia = np.zeros(6)
        self.outputs = 0  # digital outputs, as bits
        self.faults, self.peaks = Faults(), Peaks()
        self.messages: deque[str] = deque(maxlen=100)  # what the robot has to say, newest last
        self.time = 0.0
        self._switch: tuple[float, RobotMode] | None = None
        self.sample, self.target_moment = self.arm.measure()[0], np.zeros(6)

    # What a person or a program asks for.

    def power_on(self) -> None:
        """Switch the power on; the brakes stay engaged."""
        if self.robot_mode == RobotMode.POWER_OFF and self.safety_mode == SafetyMode.NORMAL:
            self._switch = self.time + SWITCHING_TIME, RobotMode.IDLE

    def power_off(self) -> None:
        """Engage the brakes, switch the power off and end the program."""
        self._engage(RobotMode.POWER_OFF)

    def release_brakes(self) -> None:
        """Release the brakes, with the power switched on before if it is off."""
        if self.robot_mode != RobotMode.RUNNING and self.safety_mode == SafetyMode.NORMAL:
            self._switch = self.time + SWITCHING_TIME, RobotMode.RUNNING

    def _engage(self, mode: RobotMode) -> None:
        self.stop(f'robot mode {mode.name}')
        self.robot_mode, self._switch = mode, None

    def start(self, name: str) -> ExternalControl | None:
        """Start the program; None where the arm may not move."""
        if not self.may_move:
            return None
        self.stop('another program was started')
        self.program = ExternalControl(self.reference, float(self.limits.velocity.min()))
        self.program_name, self.paused = name, False
        return self.program

    def stop(self, reason: str = 'stopped') -> None:
        """End the program."""
        if self.program is not None:
            self.program.finished = self.program.finished or reason
            self.messages.append(f'{self.program_name}: {self.program.finished}')
        self.program, self.paused = None, False

    def pause(self) -> None:
        """Pause the program."""
        self.paused = self.program is not None

    def resume(self) -> bool:
        """Go on with a paused program; return whether there is one that may move."""
        if self.program is None or self.safety_mode != SafetyMode.NORMAL:
            return False
        self.paused = False
        return True

    def protective_stop(self, reason: str = 'asked for') -> None:
        """Stop the arm and pause the program."""
        if self.safety_mode == SafetyMode.NORMAL and self.robot_mode == RobotMode.RUNNING:
            self.safety_mode = SafetyMode.PROTECTIVE_STOP
            self.messages.append(f'protective stop: {reason}')
            self.pause()

    def emergency_stop(self) -> None:
        """Stop the arm; at rest, the brakes are engaged and the power is off."""
        self.safety_mode = SafetyMode.ROBOT_EMERGENCY_STOP
        self.stop('emergency stop')

    def unlock(self) -> None:
        """Leave a protective stop; the program stays paused."""
        if self.safety_mode == SafetyMode.PROTECTIVE_STOP:
            self.safety_mode = SafetyMode.NORMAL

    def restart_safety(self) -> None:
        """Leave an emergency stop whose button is released; the power is off."""
        self._engage(RobotMode.POWER_OFF)
        self.safety_mode = SafetyMode.NORMAL

    def set_payload(self, mass: float, centre: FloatArray, inertia: FloatArray) -> None:
        """Take a payload: its mass [kg], centre (3,) [m] and inertia (6,) [kg m^2]."""
        if not self.faults.payload_ignored:
            self.payload, self.payload_centre, self.payload_inertia = mass, centre, inertia

    def set_gravity(self, against: FloatArray) -> None:
        """Take what the base is accelerated by against gravity (3,), in its own frame [m/s^2]."""
        # The controller's base is turned by half a turn about z in the description's root frame.
        self._model.set_gravity(against * (1.0, 1.0, -1.0))

    # What the robot is in.

    @property
    def runtime(self) -> Runtime:
        """Return the state of the program."""
        if self.program is None:
            return Runtime.STOPPED
        if self.paused:
            return Runtime.PAUSING if self.scaling > 0.0 else Runtime.PAUSED
        # A driver is silent in a program that resumes, so that none is stated.
        return Runtime.PLAYING

    @property
    def target_current(self) -> FloatArray:
        """Return the currents (6,) [A] that the controller's own model asks for."""
        return self._robot.drives.to_current(self.target_moment)

    @property
    def may_move(self) -> bool:
        """Return whether brakes and safety allow a motion."""
        return (
            self.robot_mode == RobotMode.RUNNING and self.safety_mode == SafetyMode.NORMAL
        )

    @property
    def is_at_rest(self) -> bool:
        """Return whether the reference does not move."""
        return not np.any(np.abs(self.reference.dq) > STANDSTILL)

    def step(self) -> None:
        """Advance by a cycle: modes, program, arm, and a new sample."""
        if self._switch is not None and self.time >= self._switch[0]:
            self.robot_mode, self._switch = self._switch[1], None
        reference = self.reference
        q, dq = reference.q, reference.dq
        self._move_reference()
        self._keep_limits(q, dq)
        self.arm.advance(q, dq, reference.ddq, self.period)
        measured, true = self.arm.measure()
        # Brakes hold the arm where the motors do not.
        self.sample = measured if self.robot_mode == RobotMode.RUNNING else Sample(
            measured.q, measured.dq, np.zeros(6), measured.temperature
        )
        self.target_moment = self._model.torque(reference.q, reference.dq, reference.ddq)
        self.time += self.period
        self._watch(true)

    def _move_reference(self) -> None:
        reference, rest = self.reference, np.zeros(6)
        change = PAUSE_RATE * self.period
        self.fraction += float(np.clip(self.slider - self.fraction, -change, change))
        self.scaling += float(np.clip((not self.paused) - self.scaling, -change, change))
        program = self.program
        if self.safety_mode != SafetyMode.NORMAL:
            reference.reach(rest, PROTECTIVE_DECELERATION)
            self.scaling = 0.0
            if program is not None:
                program.forget()
            emergency = self.safety_mode == SafetyMode.ROBOT_EMERGENCY_STOP
            if emergency and self.is_at_rest and self.robot_mode != RobotMode.POWER_OFF:
                self._engage(RobotMode.POWER_OFF)
        elif program is None:
            reference.reach(rest, STOP_DECELERATION)
        else:
            program.step(self.fraction * self.scaling)
            if program.finished:
                self.stop()

    def _keep_limits(self, q: FloatArray, dq: FloatArray) -> None:
        """Stop an arm whose reference would leave its limits, from where it was, (6,) each."""
        limits, reference = self.limits, self.reference
        beyond = (reference.q < limits.lower) | (reference.q > limits.upper)
        outward = np.where(reference.q > limits.upper, reference.dq, -reference.dq) > 0.0
        fast = np.abs(reference.dq) > SPEED_TOLERANCE * limits.velocity
        odd = np.flatnonzero((beyond & outward) | fast)
        if odd.size and self.safety_mode == SafetyMode.NORMAL:
            joint = odd[0]
            self.protective_stop(
                f'joint {joint + 1} at {reference.q[joint]:.3f} rad, {reference.dq[joint]:.3f} '
                'rad/s is beyond its limits'
            )
            reference.q, reference.dq = q, dq
            reference.reach(np.zeros(6), PROTECTIVE_DECELERATION)

    def _watch(self, true: Sample) -> None:
        """Keep the peaks of the motion."""
        peaks, speed = self.peaks, float(np.abs(true.dq).max())
        peaks.speed = max(peaks.speed, speed)
        peaks.acceleration = max(peaks.acceleration, float(np.abs(self.reference.ddq).max()))
        if speed > 0.01:
            peaks.moved_at = self.time

    # What it states of itself.

    def tool_pose(self, q: FloatArray) -> FloatArray:
        """Return the pose of the flange (6,) as the controller states it: [m], a vector [rad]."""
        pose = self._frames(q)[-1]
        vector = Rotation.from_matrix(pose[:3, :3]).as_rotvec()
        return np.concatenate([pose[:3, 3], vector])

    def tool_speed(self, q: FloatArray, dq: FloatArray) -> FloatArray:
        """Return the velocity of the flange (6,) [m/s], [rad/s]."""
        frames = self._frames(q)
        axes, origins = frames[:-1, :3, 2], frames[:-1, :3, 3]
        linear = np.cross(axes, frames[-1, :3, 3] - origins)
        return np.concatenate([dq @ linear, dq @ axes])

    def _frames(self, q: FloatArray) -> FloatArray:
        """Return the frames of the table (7, 4, 4) from the base to the flange."""
        a, d, alpha = (self.kinematics[name] for name in ('a', 'd', 'alpha'))
        angle = self.kinematics['theta'] + q
        c, s, ca, sa = np.cos(angle), np.sin(angle), np.cos(alpha), np.sin(alpha)
        steps = np.zeros((6, 4, 4))
        steps[:, 0] = np.column_stack([c, -s * ca, s * sa, a * c])
        steps[:, 1] = np.column_stack([s, c * ca, -c * sa, a * s])
        steps[:, 2, 1], steps[:, 2, 2], steps[:, 2, 3], steps[:, 3, 3] = sa, ca, d, 1.0
        return np.array(list(accumulate(steps, np.matmul, initial=np.eye(4))))

    def checksums(self) -> list[int]:
        """Return a number for each row of the kinematics; other kinematics, other numbers."""
        rows = np.array([self.kinematics[name] for name in ('theta', 'a', 'd', 'alpha')]).T
        digests = [hashlib.sha256(row.astype('>f8').tobytes()).digest() for row in rows]
        return [int(struct.unpack('>I', digest[:4])[0]) for digest in digests]

    def truth_record(self) -> dict[str, object]:
        """Return the hidden truth for a file; for tests and judges only."""
        known = {key: value for key, value in asdict(self._truth).items() if value is not None}
        return {'robot': self.name, 'joint_names': self._robot.joint_names, **known}
