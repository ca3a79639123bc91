# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The bag recorder against a 500 Hz driver: losses, CPU time and memory.

The driver is a process of its own (`python -m benchmarks.recorder`), and so are the recorder and,
beside it, the least that a node in Python can do: a subscriber of rclpy that throws away what it
hears. Each repeat records twice: on the machine as it is, and with a busy process for every core.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
import subprocess
import sys
import tempfile
import time
from typing import Any

from robot_identification.cli.processes import (
    check_ros, isolated_environment, NodeProcess, own_domain, running,
)
from robot_identification.errors import DataError
from robot_identification.recording import JOINT_STATE, rosbags_library

from .figures import Figure
from .processes import busy_cores, cpu_share, resident_memory

REPEATS = 3
SECONDS = 20.0
RATE = 500.0
DEADLINE = 30.0
JOINTS = [f'joint_{number}' for number in range(6)]


def measure(repeats: int, seconds: float = SECONDS) -> list[Figure]:
    """Return what the recorder loses, and what it takes, in recordings of so many seconds."""
    check_ros()
    runs: dict[str, list[dict[str, float]]] = {'': [], ', cores busy': []}
    for _ in range(repeats):
        runs[''].append(_run(seconds))
        with busy_cores():
            runs[', cores busy'].append(_run(seconds))
    messages = round(RATE * seconds)
    figures = []
    for condition, results in runs.items():
        for name, unit, key in (
            (f'lost of {messages} messages at {RATE:.0f} Hz', '', 'lost'),
            ('CPU of the recorder, of one core', '%', 'recorder_cpu'),
            ('CPU of a bare subscriber beside it, of one core', '%', 'bare_cpu'),
            ('CPU of the recorder, of the bare subscriber', '', 'ratio'),
            ('CPU of the publisher, of one core', '%', 'publisher_cpu'),
            ('memory of the recorder at the start', 'MB', 'memory_start'),
            ('memory of the recorder at the end', 'MB', 'memory_end'),
            ('memory of the recorder at most', 'MB', 'memory_most'),
            ('latest publication', 'ms', 'latest'),
            ('size of the bag', 'MB', 'size'),
        ):
            values = tuple(result[key] for result in results)
            figures.append(Figure(name + condition, unit, values))
    return figures


def _run(seconds: float) -> dict[str, float]:
    nodes: list[NodeProcess] = []
    messages = round(RATE * seconds)
    with tempfile.TemporaryDirectory() as name, own_domain() as domain, running(nodes):
        folder = Path(name)
        environment = isolated_environment(domain)
        bag = folder / 'bag'
        recorder = NodeProcess(
            'bag_recorder',
            {
                'start.output': str(bag), 'start.expected_duration': seconds,
                'allowed_write_roots': [str(folder)],
            },
            environment, folder / 'recorder.log',
        )
        nodes.append(recorder)
        call: dict[str, Any] = {'env': environment, 'cwd': Path(__file__).resolve().parents[1]}
        command = [sys.executable, '-m', 'benchmarks.recorder']
        with subprocess.Popen([*command, 'listen'], **call) as bare:
            try:
                publisher = subprocess.run(
                    [*command, str(recorder.process.pid), str(bare.pid), str(messages)], **call,
                    capture_output=True, text=True, timeout=2.0 * seconds + 4.0 * DEADLINE,
                )
            finally:
                bare.kill()
        if publisher.returncode != 0:
            raise DataError(f'the publisher failed: {publisher.stderr or recorder.last_words()}')
        result = json.loads(publisher.stdout.splitlines()[-1])
        result['ratio'] = result['recorder_cpu'] / result['bare_cpu']
        from rosbags.rosbag2 import Reader

        types = rosbags_library().types
        with Reader(bag) as reader:
            found = [
                int(types.deserialize_cdr(data, JOINT_STATE).position[0])
                for connection, _, data in reader.messages()
                if connection.topic == '/joint_states'
            ]
        if len(set(found)) != len(found):
            raise DataError('the bag holds a message twice')
        result['lost'] = messages - len(found)
        result['size'] = sum(path.stat().st_size for path in bag.iterdir()) / 1e6
        return result


def listen() -> None:
    """Hear joint states and do nothing with them, until the process is killed."""
    import rclpy
    from rclpy.qos import qos_profile_sensor_data
    from sensor_msgs.msg import JointState

    rclpy.init()
    node = rclpy.create_node('bare_subscriber')
    # As a driver's listeners do: nobody waits for it.
    node.create_subscription(
        JointState, '/joint_states', lambda message: None, qos_profile_sensor_data
    )
    rclpy.spin(node)


def drive(recorder: int, bare: int, messages: int) -> dict[str, float]:
    """Publish at the rate of a driver while the recorder records; return what it took."""
    import rclpy
    from rclpy.duration import Duration
    from rclpy.qos import QoSProfile
    from sensor_msgs.msg import JointState
    from std_srvs.srv import Trigger

    rclpy.init()
    node = rclpy.create_node('driver')
    publisher = node.create_publisher(JointState, '/joint_states', QoSProfile(depth=1000))

    def call(verb: str) -> None:
        client = node.create_client(Trigger, f'/bag_recorder/{verb}')
        if not client.wait_for_service(DEADLINE):
            sys.exit(f'no service ~/{verb}')
        future = client.call_async(Trigger.Request())
        rclpy.spin_until_future_complete(node, future, timeout_sec=DEADLINE)
        if not future.done() or not future.result().success:
            sys.exit(f'~/{verb}: {future.result() if future.done() else "no answer"}')

    call('start')
    deadline = time.monotonic() + DEADLINE
    while publisher.get_subscription_count() < 2:
        if time.monotonic() > deadline:
            sys.exit('the recorder, or the bare subscriber, does not listen')
        time.sleep(0.01)
    message = JointState(name=JOINTS)
    start = resident_memory(recorder, 'VmRSS')
    latest = 0.0
    with (
        cpu_share(recorder) as recorder_cpu, cpu_share(bare) as bare_cpu,
        cpu_share(os.getpid()) as publisher_cpu,
    ):
        started = time.monotonic()
        for number in range(messages):
            due = started + number / RATE
            time.sleep(max(due - time.monotonic(), 0.0))
            latest = max(latest, time.monotonic() - due)
            nanoseconds = round((1000.0 + number / RATE) * 1e9)
            message.header.stamp.sec, message.header.stamp.nanosec = divmod(nanoseconds, 10**9)
            message.position = [float(number)] * 6
            message.velocity = [0.001 * number] * 6
            message.effort = [-0.001 * number] * 6
            publisher.publish(message)
    publisher.wait_for_all_acked(Duration(seconds=DEADLINE))
    end = resident_memory(recorder, 'VmRSS')
    call('stop')
    most = resident_memory(recorder, 'VmHWM')
    node.destroy_node()
    rclpy.shutdown()
    return {
        'recorder_cpu': recorder_cpu[0],
        'bare_cpu': bare_cpu[0],
        'publisher_cpu': publisher_cpu[0],
        'memory_start': start,
        'memory_end': end,
        'memory_most': most,
        'latest': 1e3 * latest,
    }


if __name__ == '__main__':
    if sys.argv[1:] == ['listen']:
        listen()
    else:
        print(json.dumps(drive(*map(int, sys.argv[1:]))))
