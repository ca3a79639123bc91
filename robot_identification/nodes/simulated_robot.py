# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
A simulated robot that stands where ur_robot_driver stands.

Same topics, joint names in alphabetical order, effort in ampere, or in N m for an arm whose YAML
says so. Its command interface is that of a trajectory controller, or of a forward effort
controller of one joint. It leaves (exit code 5) as soon as another node publishes joint states or
listens to commands: it must not share a graph with a real arm.
"""

from __future__ import annotations

import sys
import time

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
import numpy as np
from rclpy.node import Node
from rclpy.qos import QoSProfile
from robot_identification.errors import UnsafeMotionError
from robot_identification.nodes.adapter import FollowJointTrajectory
from robot_identification.nodes.common import (
    declare, declare_options, declare_robot, LATCHED, run_node, serve,
)
from robot_identification.nodes.conversions import message_to_knots, to_time
from robot_identification.nodes.graph import are_named, EFFORT_COMMANDS, foreign_participants
from robot_identification.nodes.robot import DriverArm, robot_from_parameters
from robot_identification.nodes.simulated_effort import (
    declare_effort, EffortInterface, JointOfArm, OneJoint,
)
from robot_identification.nodes.simulated_interfaces import (
    CLOCK, COMMANDS, CONTROLLER, DriverTopics, identity, InjectedContact, InjectedFaults,
    ROTOR_STATES, TRUE_STATES,
)
from robot_identification.nodes.trajectory_action import TrajectoryAction
from robot_identification.options import from_values
from robot_identification.recording import SIMULATED_EPOCH
from robot_identification.simulation import (
    driver_period, GroundTruth, MujocoRobot, NOISE_FREE, ScaledController, Sensors,
    SimulatedArmOptions, Stream, with_warming,
)
from trajectory_msgs.msg import JointTrajectory

TRAJECTORY, EFFORT = 'trajectory', 'effort'
FOREIGN_CHECK_PERIOD = 0.5  # [s]; chosen: a query of the graph costs milliseconds
# [Hz] of wall clock; chosen: a faster clock would keep every listener busy with nothing but the
# time.
CLOCK_RATE = 100.0
SPEED_SCALING_RATE = 10.0  # [Hz] of wall clock; chosen: it changes by hand alone
# Simulated time between two messages of the joints' temperatures [s] (docs/nodes.md); chosen:
# joints take minutes to warm up.
TEMPERATURE_PERIOD = 1.0
# An arm faster than this is seen to rest for a while before the node leaves [rad/s]; chosen: half
# of what execution takes for motion.
MOVING_SPEED = 0.01
REST_SHOWN = 1.0  # [s]; chosen: a runner needs 0.1 s of rest (REST_TIME of execution)
LONGEST_FAREWELL = 4.0  # [s]; chosen: launch sends SIGTERM 5 s after Ctrl-C
# For which commands, calls and parameters may wait for a turn of the executor [s], of the wall
# clock and of simulated time; chosen: a cycle of a driver at 125 Hz.
TURN = 0.008


class SimulatedRobot(Node):
    """Steps the simulator at the driver's rate and speaks for it."""

    def __init__(self) -> None:
        super().__init__('simulated_robot')
        self.finished: int | None = None
        self._moved_at = self._asked_to_close_at = -np.inf
        declare_robot(self)
        takes_effort = declare(
            self, 'command_interface', TRAJECTORY, 'trajectory: the arm follows trajectories; '
            'effort: one joint takes torques, by itself or in the arm',
            choices=(TRAJECTORY, EFFORT), read_only=True,
        ) == EFFORT
        noise_seed = declare(
            self, 'noise_seed', 0, 'seed of the sensor noise', minimum=0, maximum=2**31 - 1
        )
        token = declare(
            self, 'simulation_token', '', 'shared with the node that may move the robot'
        )
        start = declare(
            self, 'initial_positions',
            [0.0] if takes_effort else [0.0, -1.57, 1.57, -1.57, -1.57, 0.0],
            'initial positions of the joints [rad], kinematic order; effort: by default zero',
            minimum=-10.0, maximum=10.0, longest=64,
        )
        discovery_time = declare(
            self, 'discovery_time', 2.0, 'time to look for other robots before publishing [s]',
            minimum=0.0, maximum=10.0,
        )
        options, constants = declare_effort(self)
        self._robot = robot_from_parameters(self)
        limits = self._robot.limits
        q = np.clip(
            np.resize(np.asarray(start, dtype=float), self._robot.n), limits.lower, limits.upper
        )
        self._commands = EFFORT_COMMANDS if takes_effort else COMMANDS
        if takes_effort:
            self._wait_alone(discovery_time)
            self.create_publisher(DiagnosticArray, '~/identity', LATCHED).publish(
                identity(self, token)
            )
            machine = (
                JointOfArm(options, self._robot, q, noise_seed) if options.in_arm
                else OneJoint(options, constants, noise_seed)
            )
            self._effort = EffortInterface(self, options, machine)
            self.create_timer(FOREIGN_CHECK_PERIOD, self._check_graph)
        else:
            self._follow_trajectories(q, noise_seed, token, discovery_time)

    def _follow_trajectories(
        self, q: np.ndarray, noise_seed: int, token: str, discovery_time: float
    ) -> None:
        """Simulate an arm at rest at `q` (n,) [rad] with a trajectory controller."""
        truth_seed = declare(
            self, 'truth_seed', 0, 'seed of the hidden masses, friction and gains',
            minimum=0, maximum=2**31 - 1,
        )
        noise = declare(self, 'sensor_noise', True, 'noisy and quantized sensors')
        factor = declare(
            self, 'real_time_factor', 1.0,
            'ratio of simulated to wall-clock time; other than 1 publishes /clock',
            minimum=0.1, maximum=20.0,
        )
        publish_truth = declare(
            self, 'publish_truth', False, 'publish ~/noise_free_joint_states (tests and demo)'
        )
        self._prefix = declare(self, 'tf_prefix', '', 'prefix of every joint name')
        self._arm = DriverArm(self._robot, self._prefix)
        self._period = driver_period(self._robot)
        truth = self._declare_truth(truth_seed)
        sensors = Sensors() if noise else NOISE_FREE
        self._simulator = MujocoRobot(self._robot, truth, sensors, q, noise_seed)
        self._controller = ScaledController(q, self._robot.limits.acceleration, self._period)
        self._stream = Stream(self._robot.n, noise_seed)
        self._was_silent = False
        self._cycles = 0
        cycles_per_second = factor / self._period
        self._clock_cycles = max(round(cycles_per_second / CLOCK_RATE), 1)
        self._speed_scaling_cycles = max(round(cycles_per_second / SPEED_SCALING_RATE), 1)
        self._temperature_cycles = max(round(TEMPERATURE_PERIOD / self._period), 1)
        self._wait_alone(discovery_time)
        # The epoch of wall-clock time [ns], so that stamps look like a driver's; simulated time
        # starts near zero.
        self._epoch = (
            self.get_clock().now().nanoseconds if factor == 1.0 else round(1e9 * SIMULATED_EPOCH)
        )
        self._create_interfaces(factor, publish_truth, token)

    def close(self) -> bool:
        """
        Stay until the arm has rested for a while; return True then.

        A runner that Ctrl-C reaches together with this node stops the arm, and sees it rest.
        """
        now = time.monotonic()
        if np.isinf(self._asked_to_close_at):
            self._asked_to_close_at = now
        return (
            now - self._moved_at > REST_SHOWN or now - self._asked_to_close_at > LONGEST_FAREWELL
        )

    def _declare_truth(self, truth_seed: int) -> GroundTruth:
        """Return the hidden robot; temperatures always change, friction with them when asked."""
        declare_options(self, SimulatedArmOptions)
        options = from_values(
            SimulatedArmOptions, lambda key: self.get_parameter(key).value or None
        )
        truth = options.truth(self._robot, truth_seed)
        return truth if truth.thermal else with_warming(truth, viscous_slope=0.0)

    def _wait_alone(self, duration: float) -> None:
        """Raise UnsafeMotionError if others publish joint states or listen to commands."""
        deadline = time.monotonic() + duration
        foreign: list[str] = []
        while not (foreign and are_named(foreign)) and time.monotonic() < deadline:
            time.sleep(0.02)
            # Before the first word even a node of our own name is another one.
            foreign = foreign_participants(self, '', self._commands)
        if foreign:
            raise UnsafeMotionError(_refusal(foreign))

    def _create_interfaces(self, factor: float, publish_truth: bool, token: str) -> None:
        wanted = {
            ROTOR_STATES: self._simulator.is_elastic, TRUE_STATES: publish_truth,
            CLOCK: factor != 1.0,
        }
        self._topics = DriverTopics(
            self, self._robot, self._prefix, token, [topic for topic in wanted if wanted[topic]]
        )
        self.create_subscription(
            JointTrajectory, COMMANDS, self._on_trajectory, QoSProfile(depth=10)
        )
        self._action = None
        if FollowJointTrajectory is not None:
            self._action = TrajectoryAction(
                self, f'{CONTROLLER}/follow_joint_trajectory', self._controller,
                self._arm, self._now,
            )
        self._faults = InjectedFaults(self)
        self._contact = InjectedContact(self, self._simulator.links)
        self._apply_faults()
        serve(self, '~/restart', self._restart)
        # A turn of the executor takes several times what a cycle does.
        self._wall_period = self._period / factor
        self._in_turn = max(int(TURN / max(self._period, self._wall_period)), 1)
        self.create_timer(self._in_turn * self._wall_period, self._take_turn)
        self.create_timer(FOREIGN_CHECK_PERIOD, self._check_graph)

    def _now(self) -> float:
        return self._cycles * self._period

    def _take_turn(self) -> None:
        """Step through the cycles of a turn, each at its time; the executor serves between two."""
        begun = time.monotonic()
        self._step()
        for cycle in range(1, self._in_turn):
            time.sleep(max(begun + cycle * self._wall_period - time.monotonic(), 0.0))
            self._step()

    def _step(self) -> None:
        self._apply_faults()
        self._apply_contact()
        now = self._now()
        measured, true = self._simulator.measure()
        if np.max(np.abs(true.dq)) > MOVING_SPEED:
            self._moved_at = time.monotonic()
        silent = self._controller.is_silent(now)
        if self._was_silent and not silent:
            self._show_condition()
            self._topics.repeat()
        self._was_silent = silent
        if not silent:
            for sample in self._stream.push(now, self._topics.values(measured), now):
                self._topics.publish_joints(self._stamp(sample.stamp), sample)
            if self._cycles % self._temperature_cycles == 0:
                self._topics.publish_temperatures(self._stamp(now), measured.temperature)
        # The truth and the time are not the driver's.
        self._topics.publish_truth(self._stamp(now), true)
        if self._cycles % self._clock_cycles == 0:
            self._topics.publish_clock(self._stamp(now))
        if not silent:
            self._topics.publish_speed_scaling(
                self._controller.speed_scaling,
                due=self._cycles % self._speed_scaling_cycles == 0,
            )
        if self._action is not None:
            self._action.update(measured.q)
        self._simulator.advance(*self._controller.sample(now), self._period)
        self._cycles += 1

    def _stamp(self, simulated: float) -> Time:
        return to_time(self._epoch + round(1e9 * simulated))

    def _apply_faults(self) -> None:
        changes = self._faults.changes()
        if changes is None:
            return
        self._stream.faults, condition = changes
        if self._controller.set_condition(condition, self._now()) and self._action is not None:
            self._action.abort()
        if not self._controller.is_silent(self._now()):
            self._show_condition()

    def _apply_contact(self) -> None:
        now = self._simulator.time
        if not self._contact.is_new(now):
            return
        self._simulator.release()
        contact = self._contact.take(now)
        if contact is not None:
            self._simulator.touch(contact)

    def _show_condition(self) -> None:
        self._topics.show(
            self._controller.condition, active=self._controller.is_active(self._now())
        )

    def _restart(self) -> str:
        self._controller.restart(self._now())
        self._stream.clear()
        if self._action is not None:
            self._action.abort()
        # The last word before the silence: a controller manager that is gone cannot be asked.
        self._show_condition()
        return 'the driver is being restarted'

    def _on_trajectory(self, message: JointTrajectory) -> None:
        try:
            self._controller.follow(
                message_to_knots(message, self._arm.joints, self._robot.encoders),
                self._now(),
            )
        except UnsafeMotionError as error:
            # As the real controller: a bad trajectory on the topic is ignored, with a log line.
            self.get_logger().error(f'trajectory rejected: {error}')

    def _check_graph(self) -> None:
        foreign = foreign_participants(self, self.get_fully_qualified_name(), self._commands)
        if foreign:
            self.get_logger().error(_refusal(foreign))
            self.finished = UnsafeMotionError.exit_code


def _refusal(foreign: list[str]) -> str:
    return (
        f'{"; ".join(foreign)}: a simulated robot does not share a graph with another robot; set '
        'ROS_DOMAIN_ID to one of its own'
    )


def main() -> None:
    """Run the node."""
    sys.exit(run_node(SimulatedRobot))


if __name__ == '__main__':
    main()
