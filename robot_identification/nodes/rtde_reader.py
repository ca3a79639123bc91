# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Publishes the data of a robot over RTDE: joint temperatures, currents and torques, its time."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
import math
import sys
import threading
import time
from typing import Any

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticStatus
import numpy as np
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile
from robot_identification.nodes.common import declare, run_node, STEADY_CLOCK
from robot_identification.nodes.conversions import to_time
from robot_identification.nodes.diagnostics import Diagnostics
from robot_identification.rtde import (
    Arrivals, check_host, check_keys, CONNECTING, judge_arrivals, PERIODS_TO_WAIT, PORT, RECEIVING,
    REFUSED, RtdeOptions, RtdeRefusedError, RtdeStream, StreamStatus, TIMESTAMP, Value,
)
from sensor_msgs.msg import JointState
import std_msgs.msg

KEYS = ('joint_temperatures', 'target_current', 'target_moment', 'actual_current')
# Vectors with a value of each joint, in kinematic order, and the field of a joint state that has
# it; others are of the tool.
JOINT_KEYS = {
    **dict.fromkeys((
        *KEYS, 'target_qdd', 'joint_control_output', 'actual_joint_voltage',
    ), 'effort'),
    'target_q': 'position', 'actual_q': 'position',
    'target_qd': 'velocity', 'actual_qd': 'velocity',
}
# The joints as UR's description names them.
JOINTS = (
    'shoulder_pan_joint', 'shoulder_lift_joint', 'elbow_joint', 'wrist_1_joint', 'wrist_2_joint',
    'wrist_3_joint',
)
# A reliable listener gets every sample, as from a driver; a sensor's listener is served, too.
QOS = QoSProfile(depth=100)
DIAGNOSTICS_PERIOD = 1.0  # [s] (docs/rtde.md); chosen: samples are counted a second at a time
# Of the samples asked for, the share that is enough (docs/rtde.md); chosen: a busy controller may
# skip some.
ENOUGH = 0.9
# The thread looks every 0.2 s at whether it has to end, and connecting takes a timeout [s];
# chosen: twice the default timeout.
JOIN_SECONDS = 4.0
# Message by the type of the field, and what makes its data of a value.
MESSAGES: dict[str, tuple[type, Callable[[Any], Any]]] = {
    'BOOL': (std_msgs.msg.Bool, bool),
    'UINT8': (std_msgs.msg.UInt8, int),
    'UINT32': (std_msgs.msg.UInt32, int),
    'UINT64': (std_msgs.msg.UInt64, int),
    'INT32': (std_msgs.msg.Int32, int),
    'DOUBLE': (std_msgs.msg.Float64, float),
    'VECTOR3D': (std_msgs.msg.Float64MultiArray, lambda values: array('d', values)),
    'VECTOR6D': (std_msgs.msg.Float64MultiArray, lambda values: array('d', values)),
    'VECTOR6INT32': (std_msgs.msg.Int32MultiArray, lambda values: array('i', values)),
    'VECTOR6UINT32': (std_msgs.msg.UInt32MultiArray, lambda values: array('I', values)),
}


class RtdeReader(Node):
    """
    Publishes each sample when it comes, from the thread that reads it.

    Nothing is kept in between: what a broken connection had brought cannot be published again.
    """

    def __init__(self) -> None:
        super().__init__('rtde_reader')
        self._topics: dict[str, tuple[str, Publisher]] = {}
        self._not_finite = 0
        self._late = 0
        self._failure: Exception | None = None
        self._published: tuple[str, str] = (CONNECTING, '')
        self._diagnostics = Diagnostics(self, 'reading')
        self._stream = self._declare_stream()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self.create_timer(DIAGNOSTICS_PERIOD, self._diagnose, clock=STEADY_CLOCK)
        if self._stream is None:
            self.get_logger().warning('no robot_ip is set: nothing is read')
        else:
            self._thread.start()

    def _declare_stream(self) -> RtdeStream | None:
        """Declare the parameters; return the samples to be, None where no robot is named."""
        host = declare(
            self, 'robot_ip', '', 'address or name of the robot; empty: nothing is read',
            longest=253, check=_check_host, read_only=True,
        )
        port = declare(
            self, 'port', PORT, 'TCP port of the RTDE interface', minimum=1, maximum=65535,
            read_only=True,
        )
        frequency = declare(
            self, 'frequency', 0.0,
            'rate of the samples [Hz]; 0: that of the robot, 125 (CB3) or 500',
            minimum=0.0, maximum=500.0, read_only=True,
        )
        keys = declare(
            self, 'keys', list(KEYS),
            'fields to publish, as RTDE names them; those that the robot lacks are left out',
            longest=100, check=_check_keys, read_only=True,
        )
        required = declare(
            self, 'required_keys', Parameter.Type.STRING_ARRAY,
            'required fields; without them nothing is read',
            longest=100, check=_check_keys, read_only=True,
        )
        timeout = declare(
            self, 'timeout', 2.0, 'longest wait for a connection, an answer or a sample [s]',
            minimum=0.05, maximum=60.0, read_only=True,
        )
        shortest = declare(
            self, 'reconnect_period', 1.0,
            'pause before the first attempt to connect again [s]; each next one is twice as long',
            minimum=0.05, maximum=600.0, read_only=True,
        )
        longest = declare(
            self, 'longest_reconnect_period', 30.0,
            'longest of these pauses, and the pause after a refusal by the robot [s]',
            minimum=0.05, maximum=3600.0, read_only=True,
        )
        prefix = declare(
            self, 'tf_prefix', '', "prefix of the driver's joint names", longest=128,
            read_only=True,
        )
        self._joints = [prefix + joint for joint in JOINTS]
        late = declare(
            self, 'longest_delay', 0.5,
            "samples that come later than this by the robot's time are dropped [s]",
            minimum=0.01, maximum=60.0, read_only=True,
        )
        if not host:
            return None
        return RtdeStream(
            RtdeOptions(
                host, tuple(filter(None, keys)), tuple(filter(None, required or ())), frequency,
                port, timeout, shortest, longest, late,
            ),
            self._on_start, self._on_sample,
        )

    def _read(self) -> None:
        try:
            self._stream.run()
        except Exception as error:
            # The timer raises it where the process can end of it.
            self._failure = error

    def _on_start(self, kinds: Mapping[str, str]) -> None:
        """Make the publishers of what the robot gives; most are there already."""
        for key, kind in kinds.items():
            if key not in self._topics:
                message = JointState if key in JOINT_KEYS else MESSAGES[kind][0]
                self._topics[key] = kind, self.create_publisher(
                    Time if key == TIMESTAMP else message, f'rtde/{key}', QOS
                )
            elif self._topics[key][0] != kind:
                raise RtdeRefusedError(
                    f'the robot gives {key} as {kind}, before it was {self._topics[key][0]}: '
                    'start this node anew'
                )

    def _on_sample(self, values: Mapping[str, Value]) -> None:
        """Publish a sample, its time first."""
        stamp = self.get_clock().now().to_msg()
        for key, value in values.items():
            kind, publisher = self._topics[key]
            if key == TIMESTAMP:
                publisher.publish(to_time(round(1e9 * value)))
            elif not all(map(math.isfinite, value if isinstance(value, tuple) else (value,))):
                self._not_finite += 1
            elif key in JOINT_KEYS:
                publisher.publish(JointState(
                    header=std_msgs.msg.Header(stamp=stamp), name=self._joints,
                    **{JOINT_KEYS[key]: array('d', value)},
                ))
            else:
                message, convert = MESSAGES[kind]
                publisher.publish(message(data=convert(value)))

    def _diagnose(self) -> None:
        """Publish how it stands, and log it where that has changed."""
        if self._failure is not None:
            raise self._failure
        if self._stream is None:
            self._diagnostics.publish(
                DiagnosticStatus.OK, 'no robot_ip is set: nothing is read'
            )
            return
        status, delays = self._stream.status, self._stream.take_delays()
        arrivals = judge_arrivals(self._stream.take_stamps())
        age = time.monotonic() - status.newest
        late, self._late = status.late - self._late, status.late
        level, text = judge(status, arrivals, age, late)
        self._log(status)
        values: dict[str, object] = {
            'state': status.state,
            'controller software': '.'.join(map(str, status.version)),
            'published': ', '.join(key for key in self._topics if key != TIMESTAMP),
            'not given by the robot': ', '.join(status.missing or ()),
            'rate [Hz]': f'{arrivals.rate:.2f}',
            'asked for [Hz]': f'{status.frequency:g}',
            'missing samples of the last second': arrivals.missing,
            'longest gap of the last second [s]': f'{arrivals.longest:.4f}',
            'age of the newest sample [s]': f'{age:.4f}',
            'delay, longest [s]': f'{np.max(delays, initial=0.0):.4f}',
            'samples': status.samples,
            'dropped as late': status.late,
            'repeated': status.repeated,
            'not finite': self._not_finite,
            'connections': status.connections,
            'attempts': status.attempts,
            'pause before the next attempt [s]': f'{status.pause:g}',
            'said by the robot': '; '.join(status.texts),
        }
        self._diagnostics.publish(level, text, values)

    def _log(self, status: StreamStatus) -> None:
        published = status.state, '' if status.state == RECEIVING else status.reason
        if published == self._published:
            return
        self._published = published
        if status.state == RECEIVING:
            version = '.'.join(map(str, status.version))
            self.get_logger().info(
                f'receiving {", ".join(self._topics)} at {status.frequency:g} Hz, controller '
                f'software {version}'
            )
            if status.missing:
                self.get_logger().warning(_missing_words(status.missing))
        elif status.state == REFUSED:
            self.get_logger().error(status.reason)
        else:
            self.get_logger().warning(status.reason)

    def destroy_node(self) -> None:
        """End the thread before its publishers go."""
        if self._stream is not None:
            self._stream.stop()
            self._thread.join(JOIN_SECONDS)
        super().destroy_node()


def _check_host(host: str) -> None:
    if host:
        check_host(host)


def _check_keys(keys: list[str]) -> None:
    check_keys(list(filter(None, keys)))


def _missing_words(missing: Mapping[str, str]) -> str:
    absent = ', '.join(f'{key} ({kind})' for key, kind in missing.items())
    return f'the robot does not give {absent}: the others are published'


def judge(
    status: StreamStatus, arrivals: Arrivals, age: float, late: int
) -> tuple[bytes, str]:
    """
    Return the diagnostic level and message of a stream.

    `arrivals` and `late`, the samples dropped because they came late, are those of the last
    second; `age` is that of the newest sample [s].
    """
    if status.state == REFUSED:
        return DiagnosticStatus.ERROR, (
            f'refused, next attempt {status.pause:g} s after the last: {status.reason}'
        )
    if status.state != RECEIVING:
        if not status.reason:
            return DiagnosticStatus.WARN, 'connecting'
        return DiagnosticStatus.WARN, (
            f'connecting, next attempt {status.pause:g} s after the last: {status.reason}'
        )
    problem = _arrival_problem(status, arrivals, age, late)
    if problem:
        return DiagnosticStatus.WARN, f'receiving, {problem}'
    if status.missing:
        return DiagnosticStatus.WARN, f'receiving, but {_missing_words(status.missing)}'
    return DiagnosticStatus.OK, f'receiving {status.frequency:g} Hz'


def _arrival_problem(
    status: StreamStatus, arrivals: Arrivals, age: float, late: int
) -> str:
    """Return what is wrong with the samples of the last second, empty where nothing is."""
    if late:
        return (
            f'but {late} samples came too late in the last second and were dropped: is the '
            'processor or the network busy?'
        )
    if not arrivals.samples:
        # At less than one sample a second there is none in most of them.
        waits = age > PERIODS_TO_WAIT / status.frequency
        return f'but no sample came for {age:.1f} s' if waits else ''
    if arrivals.rate < ENOUGH * status.frequency:
        return (
            f'but {arrivals.rate:.1f} Hz instead of the {status.frequency:g} Hz that were asked '
            'for: is the robot busy, or does this rate not divide its own?'
        )
    if arrivals.missing:
        return (
            f'but {arrivals.missing} samples of the last second are missing, in gaps of up to '
            f'{arrivals.longest:.3f} s'
        )
    return ''


def main() -> None:
    """Run the node."""
    sys.exit(run_node(RtdeReader))


if __name__ == '__main__':
    main()
