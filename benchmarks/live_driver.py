# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
`python -m benchmarks.live_driver`: joint states at a rate, and when the answers come.

The driver writes serialized messages at times that are fixed before, and in between takes what
comes back, serialized as well, so that it takes little from the machine that is measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import gc
import json
from pathlib import Path
import struct
import sys
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
import numpy as np
import rclpy
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message, serialize_message
from robot_identification.model.model_file import load_model
from robot_identification.nodes.direct_subscription import DirectSubscription
from robot_identification.nodes.topic_thread import MessageWait
from robot_identification.prediction.comparison import Measured, read_measured
from robot_identification.prediction.torque_predictor import TorquePredictor
from sensor_msgs.msg import JointState

from .processes import cpu_share, resident_memory

DEADLINE = 30.0  # [s]
# After the last joint state, for what is under way, and for another second's diagnostics [s].
LAST = 2.5
# Stamps begin there [s]: a node takes zero for no time.
FIRST_STAMP = 1000.0
MOST = 1000  # messages taken at a time
TORQUE = '/torque_predictor/torque'


@dataclass(frozen=True)
class Drive:
    """What is driven, how fast and for how long."""

    process: int  # of the node that is measured
    folder: Path  # of the model and of the published motion
    rate: float  # [Hz]
    seconds: float
    topics: tuple[str, ...]  # of the answers; the first one's are timed


def joint_state_bytes(names: Sequence[str], measured: Measured) -> list[bytearray]:
    """Return a serialized joint state for each row of a recording; its stamp is to be written."""
    result = []
    for q, dq, effort in zip(measured.q, measured.dq, measured.effort, strict=True):
        message = JointState(
            name=list(names), position=q.tolist(), velocity=dq.tolist(), effort=effort.tolist()
        )
        result.append(bytearray(serialize_message(message)))
    return result


class Driver:
    """The driver's node, and what came back."""

    def __init__(self, drive: Drive) -> None:
        self._drive = drive
        self.model = load_model(drive.folder / 'identified_model.yaml')
        self.measured, _ = read_measured(self.model, drive.folder / 'published')
        self._messages = joint_state_bytes(self.model.robot.joint_names, self.measured)
        self.states = round(drive.rate * drive.seconds)
        self.sent, self.came = np.full((2, self.states), np.nan)
        self.answers: dict[int, bytes] = {}
        self._stamp = struct.Struct('=iI')
        self._node = rclpy.create_node('driver')
        self._publisher = self._node.create_publisher(
            JointState, '/joint_states', QoSProfile(depth=10)
        )
        self._heard = [
            DirectSubscription(self._node, JointState, topic, QoSProfile(depth=MOST))
            for topic in drive.topics
        ]
        self._diagnostics = DirectSubscription(
            self._node, DiagnosticArray, '/diagnostics', QoSProfile(depth=MOST)
        )
        self._wait = MessageWait(self._node.context, self._heard) if self._heard else None

    def meet(self) -> None:
        """Wait until the node listens, and publishes."""
        deadline = time.monotonic() + DEADLINE
        while not (
            self._publisher.get_subscription_count()
            and all(heard.publishers for heard in self._heard)
        ):
            if time.monotonic() > deadline:
                sys.exit('the node does not listen')
            time.sleep(0.1)
        # For the node to meet the driver, too.
        time.sleep(1.0)

    def run(self) -> float:
        """Publish; return by how much the latest publication was late [s]."""
        rate, rows, latest = self._drive.rate, len(self._messages), 0.0
        publish, monotonic = self._publisher.publish, time.monotonic
        start = monotonic() + 0.01
        for number in range(self.states):
            due = start + number / rate
            while (left := due - monotonic()) > 0.0:
                self._pause(left)
            message = self._messages[number % rows]
            nanoseconds = round((FIRST_STAMP + number / rate) * 1e9)
            self._stamp.pack_into(message, 4, *divmod(nanoseconds, 10**9))
            now = self.sent[number] = monotonic()
            latest = max(latest, now - due)
            publish(bytes(message))
        return latest

    def end(self) -> None:
        """Take what is under way."""
        deadline = time.monotonic() + LAST
        while (left := deadline - time.monotonic()) > 0.0:
            self._pause(left)

    def _pause(self, seconds: float) -> None:
        """Take what comes, at most for some time."""
        if self._wait is None:
            time.sleep(seconds)
            return
        self._wait.wait(seconds)
        for place, heard in enumerate(self._heard):
            for data, _ in heard.take(MOST):
                if place == 0:
                    self._note(data)

    def _note(self, data: bytes) -> None:
        seconds, nanoseconds = self._stamp.unpack_from(data, 4)
        number = round((seconds - FIRST_STAMP + nanoseconds * 1e-9) * self._drive.rate)
        self.came[number], self.answers[number] = time.monotonic(), data

    def received(self) -> int:
        """Return how many joint states the node tells in its diagnostics to have received."""
        counts = [
            int(pair.value)
            for data, _ in self._diagnostics.take(MOST)
            for status in deserialize_message(data, DiagnosticArray).status
            for pair in status.values if pair.key == 'received'
        ]
        return max(counts, default=0)


def drive(given: Drive) -> dict[str, float]:
    """Publish joint states to a node; return what became of them and what the node took."""
    rclpy.init()
    driver = Driver(given)
    driver.meet()
    gc.collect()
    gc.freeze()
    start = resident_memory(given.process, 'VmRSS')
    with cpu_share(given.process) as cpu:
        latest = driver.run()
    driver.end()
    result: dict[str, float] = {
        'states': driver.states, 'latest': 1e3 * latest, 'cpu': cpu[0], 'memory_start': start,
        'memory_end': resident_memory(given.process, 'VmRSS'),
        'lost': driver.states - driver.received(),
    }
    if given.topics:
        latency = 1e3 * (driver.came - driver.sent)
        known = latency[np.isfinite(latency)]
        result |= {
            'lost': driver.states - len(known), 'p50': float(np.percentile(known, 50)),
            'p99': float(np.percentile(known, 99)), 'longest': float(known.max()),
        }
    if TORQUE in given.topics:
        result['difference'] = difference(driver, given.rate)
    return result


def difference(driver: Driver, rate: float) -> float:
    """Return the largest difference of answers from the causal prediction [N m]."""
    numbers = np.array(sorted(driver.answers))
    rows = numbers % len(driver.measured.stamps)
    effort, _ = TorquePredictor(driver.model).run(
        FIRST_STAMP + numbers / rate, driver.measured.q[rows], driver.measured.dq[rows]
    )
    offline = effort / driver.model.effort_per_torque
    live = np.array([
        deserialize_message(driver.answers[number], JointState).effort for number in numbers
    ])
    return float(np.abs(live - offline).max())


def main(arguments: Sequence[str]) -> None:
    """Print the result as JSON."""
    process, folder, rate, seconds, *topics = arguments
    result: dict[str, Any] = drive(
        Drive(int(process), Path(folder), float(rate), float(seconds), tuple(topics))
    )
    print(json.dumps(result))


if __name__ == '__main__':
    main(sys.argv[1:])
