# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The real controllers of ros2_control on mock hardware of a UR5e, and the runner beside them.

Importing this file skips the test module that does so where they are not installed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
import os
from pathlib import Path
import subprocess
import time
from typing import Any

from action_msgs.srv import CancelGoal
from diagnostic_msgs.msg import DiagnosticArray
from launching import package_prefix, why_not_installed
from nodes.runner import ATTEMPTS, commissioned, is_busy, is_over, Runner, SERIAL
import numpy as np
import pytest
from rclpy.action import ActionClient
from robot_identification.excitation import Trajectory
from robot_identification.files import dump_yaml
from robot_identification.model import RobotModel
from ros_helpers import (
    deserialized, Graph, LATCHED, own_graph, RELIABLE, seconds, state_in, wait_until,
)
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

MISSING = why_not_installed(
    'controller_manager', 'forward_command_controller', 'joint_state_broadcaster',
    'joint_trajectory_controller', 'ur_controllers',
)
try:
    from control_msgs.action import FollowJointTrajectory
    from control_msgs.msg import SpeedScalingFactor
    from controller_manager_msgs.srv import SwitchController
except ImportError as error:
    MISSING = str(error)
if MISSING:
    pytest.skip(f'needs the controllers of ros2_control: {MISSING}', allow_module_level=True)

JTC, SCALED = 'joint_trajectory_controller', 'scaled_joint_trajectory_controller'
# Another one of the same type and joints, and one that sets the speed scaling of the hardware.
OTHER, SLIDER = 'other_controller', 'slider'
BROADCASTER, SPEEDS = 'joint_state_broadcaster', 'speed_scaling_state_broadcaster'
TYPES = {
    BROADCASTER: 'joint_state_broadcaster/JointStateBroadcaster',
    JTC: 'joint_trajectory_controller/JointTrajectoryController',
    OTHER: 'joint_trajectory_controller/JointTrajectoryController',
    SCALED: 'ur_controllers/ScaledJointTrajectoryController',
    SPEEDS: 'ur_controllers/SpeedScalingStateBroadcaster',
    SLIDER: 'forward_command_controller/ForwardCommandController',
}
# That of an e-Series arm [Hz].
UPDATE_RATE = 500
# A joint rests below this speed [rad/s].
RESTS = 0.005
# Speeds and accelerations are differences of places so far apart [s]; chosen: ten cycles. A
# manager that is late by three has tens of rad/s^2 then, so a stop is judged by those of fifty.
SPACING, JUDGED = 0.02, 0.1
# Of the planned speed, what no stop may exceed, as in all tests of the runner. The 1.05 that
# stops are proved with leave nothing to late cycles of the manager, which look like 1.06.
SHARE = 1.1
SPAWNING = 60.0
# `calculate_dynamics` lets velocities follow the places: without it they are 0 for ever, and an
# arm "rests" in full motion.
HARDWARE = """
<ros2_control name="ur5e" type="system">
  <hardware>
    <plugin>mock_components/GenericSystem</plugin>
    <param name="calculate_dynamics">true</param>
    <param name="position_state_following_offset">{offset}</param>
  </hardware>
  {joints}
  <gpio name="speed_scaling">
    <state_interface name="speed_scaling_factor"><param name="initial_value">1</param>
    </state_interface>
    <command_interface name="speed_scaling_factor"><param name="initial_value">1</param>
    </command_interface>
  </gpio>
</ros2_control>
"""
JOINT = """
  <joint name="{name}">
    <command_interface name="position"/>
    <state_interface name="position"><param name="initial_value">{place}</param></state_interface>
    <state_interface name="velocity"/>
    <state_interface name="effort"><param name="initial_value">0</param></state_interface>
  </joint>
"""


def described(robot: RobotModel, q: np.ndarray, offset: float) -> str:
    """Return the URDF of an arm with mock hardware at `q` (n,), which misses commands [rad]."""
    joints = ''.join(
        JOINT.format(name=name, place=place)
        for name, place in zip(robot.joint_names, q, strict=True)
    )
    hardware = HARDWARE.format(joints=joints, offset=offset)
    return robot.urdf.text.replace('</robot>', f'{hardware}</robot>')


def of_driver(joints: tuple[str, ...] | list[str], **changes: Any) -> dict[str, Any]:
    """Return the parameters of a trajectory controller as the UR driver has them, and changes."""
    tolerances = {joint: {'trajectory': 0.2, 'goal': 0.1} for joint in joints}
    settings: dict[str, Any] = {
        'joints': list(joints), 'command_interfaces': ['position'],
        'state_interfaces': ['position', 'velocity'], 'state_publish_rate': 100.0,
        'action_monitor_rate': 20.0, 'allow_partial_joints_goal': False,
        'constraints': {'stopped_velocity_tolerance': 0.2, 'goal_time': 0.0, **tolerances},
    }
    for name, value in changes.items():
        if name == 'each':
            for joint in joints:
                tolerances[joint].update(value)
                settings['constraints'][joint] = tolerances[joint]
        elif name == 'constraints':
            settings['constraints'].update(value)
        else:
            settings[name] = value
    return settings


@dataclass(frozen=True, eq=False)
class Movement:
    """What the arm did, from its joint states."""

    stamps: np.ndarray  # (N,), by the system's clock [s]
    q: np.ndarray  # (N, n) [rad]
    dq: np.ndarray  # (N, n) [rad/s]
    since: float  # what `rests_after` counts from [s]

    @property
    def speed(self) -> float:
        """Largest speed of a joint, over 20 ms, from the places [rad/s]."""
        return float(np.max(np.abs(np.diff(self._places(), axis=0)), initial=0.0)) / SPACING

    def acceleration(self, spacing: float = SPACING) -> float:
        """Return the largest acceleration of a joint, from places so far apart [rad/s^2]."""
        changes = np.abs(np.diff(self._places(spacing), 2, axis=0))
        return float(np.max(changes, initial=0.0)) / spacing**2

    def _places(self, spacing: float = SPACING) -> np.ndarray:
        """Return the places of all joints, `spacing` apart [rad]."""
        # Velocities of mock hardware are steps over the time of a cycle, which jitters.
        times = np.arange(self.stamps[0], self.stamps[-1], spacing)
        return np.column_stack([np.interp(times, self.stamps, q) for q in self.q.T])

    @property
    def rests_after(self) -> float:
        """Time until all joints rest, and do so to the end [s]; infinite where they do not."""
        moves = np.flatnonzero(np.abs(self.dq).max(axis=1) > RESTS)
        last = moves[-1] if moves.size else -1
        return float(np.append(self.stamps, np.inf)[last + 1] - self.since)


class Bench:
    """ros2_control in a process of its own, the runner, and who listens to the arm."""

    def __init__(self, graph: Graph, robot: RobotModel, trajectory: Trajectory) -> None:
        self.graph, self.robot, self.trajectory = graph, robot, trajectory
        self.runner: Runner
        self.managers: list[subprocess.Popen[bytes]] = []
        self._processes: list[subprocess.Popen[bytes]] = []
        self._scalings: dict[str, Any] = {}
        self._states: list[bytes] = []
        graph.node.create_subscription(
            JointState, '/joint_states', self._states.append, RELIABLE, raw=True
        )
        times = trajectory.times(200.0)
        speeds = np.abs(trajectory.sample(times).dq).max(axis=1)
        # When the motion is fastest [s], and how fast that is [rad/s].
        self.fastest_at, self.fastest = float(times[speeds.argmax()]), float(speeds.max())

    def describe(self, offset: float) -> None:
        """Publish the description of the arm, which stands near the start of the motion."""
        start = self.trajectory.sample(np.zeros(1)).q[0] + 0.02
        publisher = self.graph.node.create_publisher(String, '/robot_description', LATCHED)
        publisher.publish(String(data=described(self.robot, start, offset)))

    def start_manager(self, settings: Mapping[str, Any]) -> None:
        file = self.graph.folder / f'controllers_{len(self.managers)}.yaml'
        file.write_text(dump_yaml({
            'controller_manager': {'ros__parameters': {
                'update_rate': UPDATE_RATE,
                **{name: {'type': kind} for name, kind in TYPES.items()},
            }},
            **{name: {'ros__parameters': dict(values)} for name, values in settings.items()},
        }))
        self.managers.append(self._run(
            'ros2_control_node', '--ros-args', '--params-file', str(file)
        ))

    def spawn(self, *names: str, inactive: bool = False) -> None:
        """Load controllers as launch files do, and activate them."""
        spawner = self._run('spawner', *names, *(['--inactive'] if inactive else []))
        assert spawner.wait(SPAWNING) == 0, self.said()

    def _run(self, executable: str, *arguments: str) -> subprocess.Popen[bytes]:
        prefix = package_prefix('controller_manager')
        assert prefix is not None
        with (self.graph.folder / f'{executable}.log').open('a') as log:
            self._processes.append(subprocess.Popen(
                [str(prefix / 'lib' / 'controller_manager' / executable), *arguments],
                env={**os.environ, **self.graph.environment}, stdout=log, stderr=log,
                start_new_session=True,
            ))
        return self._processes[-1]

    def said(self) -> str:
        return '\n'.join(path.read_text() for path in self.graph.folder.glob('*.log'))

    def switch(self, activate: list[str], deactivate: list[str]) -> None:
        request = SwitchController.Request(
            activate_controllers=activate, deactivate_controllers=deactivate,
            strictness=SwitchController.Request.STRICT,
        )
        assert self.graph.answer(
            self.graph.request(SwitchController, '/controller_manager/switch_controller', request)
        ).ok

    def cancel_all(self, kind: str) -> None:
        """Cancel all goals of a controller, as another client."""
        client = self.graph.node.create_client(
            CancelGoal, f'/{kind}/follow_joint_trajectory/_action/cancel_goal'
        )
        wait_until(client.service_is_ready, 'the action')
        client.call_async(CancelGoal.Request())

    def preempt(self, kind: str) -> None:
        """Send a controller a goal of two seconds to where it came from, as another client."""
        point = JointTrajectoryPoint(
            positions=self.trajectory.sample(np.zeros(1)).q[0].tolist(),
            velocities=[0.0] * self.robot.n,
        )
        point.time_from_start.sec = 2
        client = ActionClient(
            self.graph.node, FollowJointTrajectory, f'/{kind}/follow_joint_trajectory'
        )
        wait_until(client.server_is_ready, 'the action')
        goal = FollowJointTrajectory.Goal(trajectory=JointTrajectory(
            joint_names=list(self.robot.joint_names), points=[point]
        ))
        assert self.graph.answer(client.send_goal_async(goal)).accepted

    def set_slider(self, factor: float) -> None:
        """Set the speed scaling of the hardware."""
        heard = self.graph.hear(Float64, f'/{SPEEDS}/speed_scaling')
        publisher = self.graph.publisher(Float64MultiArray, f'/{SLIDER}/commands')

        def is_set() -> bool:
            # A listener that is found has not found the publisher yet, and loses the first.
            publisher.publish(Float64MultiArray(data=[factor]))
            return bool(heard) and abs(heard[-1].data - 100.0 * factor) < 0.1

        wait_until(is_set, f'a speed scaling of {factor:g}')

    def tell_scaling(self, kind: str, factor: float) -> None:
        if kind not in self._scalings:
            self._scalings[kind] = self.graph.publisher(
                SpeedScalingFactor, f'/{kind}/speed_scaling_input', LATCHED, 2
            )
        self._scalings[kind].publish(SpeedScalingFactor(factor=factor))

    def record(self, bag: Path) -> Callable[[], int]:
        """Record with our recorder; return what ends it and returns the lost joint states."""
        said = self.graph.hear(DiagnosticArray, '/bag_recorder/state', LATCHED)
        self.recorder = self.graph.start('bag_recorder', {
            'start.output': str(bag), 'start.robot': self.robot.name, 'start.effort_unit': 'A',
        })
        self.graph.done('/bag_recorder/start')

        def losses() -> int:
            self.graph.done('/bag_recorder/stop')
            return int(state_in(said[-1])['lost /joint_states'])

        return losses

    def end(self) -> None:
        """End managers, and spawners that wait for one; a spawner keeps others waiting."""
        for process in self._processes:
            process.kill()
            process.wait()
        print((self.graph.folder / 'ros2_control_node.log').read_text()[-5000:])

    # The execution

    def begin(self, **parameters: Any) -> str:
        """Arm and execute, again where a busy machine lets the runner wait; return the answer."""
        for _ in range(ATTEMPTS):
            self.runner.configure(**parameters, arm__sha256=self.trajectory.sha256)
            self.runner.arm()
            answer = self.runner.call('execute')
            if answer.success:
                return str(answer.message)
            assert is_busy(answer.message), answer.message
        pytest.fail(f'{ATTEMPTS} attempts, now {self.runner.state}')

    def wait_for(self, *wanted: str, deadline: float = 60.0) -> str:
        """Wait for one of some states, or the end of an execution; return the reason."""
        wait_until(
            lambda: self.runner.state[0] in (*wanted, 'DONE') or is_over(*self.runner.state),
            f'one of {wanted}, or the end', deadline,
        )
        state, reason = self.runner.state
        assert state in wanted, (state, reason)
        return str(reason)

    def refusal(self, words: str) -> str:
        """Return why the runner does not arm, as soon as it says some words."""
        reasons: list[str] = []

        def refused() -> bool:
            answer = self.runner.call('arm')
            if answer.success:
                # It does not know yet what speaks against that.
                self.runner.call('abort')
                self.runner.configure(arm__sha256=self.trajectory.sha256)
            reasons.append(answer.message)
            return not answer.success and words in answer.message

        wait_until(refused, f'{words!r} in a refusal')
        return reasons[-1]

    def wait_for_joint_states(self) -> None:
        wait_until(lambda: self._states, 'a joint state')

    def wait_for_full_speed(self) -> float:
        """Wait until the motion is as fast as it gets; return when that is [s]."""
        self.wait_for('EXECUTING')
        time.sleep(self.fastest_at)
        assert self.runner.state[0] == 'EXECUTING', self.runner.state
        return time.time()

    def movement(self, since: float = 0.0) -> Movement:
        """Return what the arm has done from a time on [s]."""
        states = [deserialized(JointState, data) for data in list(self._states)]
        joints = [states[0].name.index(name) for name in self.robot.joint_names]
        stamps = np.array([seconds(state.header.stamp) for state in states])
        rows = stamps >= since
        q, dq = (
            np.array([values(state) for state in states])[rows][:, joints]
            for values in (lambda state: state.position, lambda state: state.velocity)
        )
        return Movement(stamps[rows], q, dq, max(since, float(stamps[0])))

    def fault(self, since: float, words: str, *, rest: float, acceleration: float) -> Movement:
        """Wait for FAULT; check words, speed, time to rest [s] and acceleration [rad/s^2]."""
        reason = self.wait_for('FAULT')
        # Nothing goes on, whatever the controller held.
        time.sleep(0.5)
        found = self.movement(since)
        self.report(found, reason)
        assert words in reason
        assert reason.startswith('at rest after: ')
        assert found.speed < SHARE * self.fastest
        assert found.rests_after < rest
        assert found.acceleration(JUDGED) < acceleration
        return found

    def report(self, found: Movement, reason: str) -> None:
        """Print the row of a table (docs/execution.md)."""
        print(
            f'| {os.environ["PYTEST_CURRENT_TEST"].partition("::")[2]} | '
            f'{self.runner.state[0]}: {reason} | {np.abs(found.dq[0]).max():.2f} | '
            f'{found.speed:.2f} | {found.acceleration():.1f} | {found.rests_after:.2f} |'
        )


@contextmanager
def bench(
    folder: Path, robot: RobotModel, trajectory: Trajectory, settings: Mapping[str, Any],
    offset: float = 0.0, **parameters: Any,
) -> Iterator[Bench]:
    """
    Yield a manager that has loaded nothing yet, and the runner with a commissioned motion.

    `settings` are the parameters of controllers by name, `parameters` those of the runner; the
    arm stands `offset` beside what it is commanded [rad].
    """
    file = commissioned(folder, robot, trajectory)
    with own_graph(folder) as graph:
        made = Bench(graph, robot, trajectory)
        made.describe(offset)
        made.start_manager(settings)
        try:
            made.runner = Runner(graph, file, trajectory.sha256, {
                'simulation_token': '', 'robot': robot.name, 'payload': [0.0], 'serial': SERIAL,
                'dry_run': False, 'watch_safety': False, 'require_recorder': False, **parameters,
            }, free={})
            yield made
        finally:
            made.end()
