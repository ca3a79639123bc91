# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Records raw messages to a rosbag2 MCAP bag between ~/start and ~/stop."""

from __future__ import annotations

from functools import partial
import importlib
from pathlib import Path
import sys
import time

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy
from rclpy.qos import QoSProfile
from rclpy.qos import ReliabilityPolicy
from robot_identification.errors import BagError
from robot_identification.errors import IdentificationError
from robot_identification.experiment.bag import BagWriter
from robot_identification.nodes.common import declare
from robot_identification.nodes.common import named_file
from robot_identification.nodes.common import run_node
from std_srvs.srv import Trigger

TOPIC_TIMEOUT = 5.0
# 4 s of a 500 Hz driver: the disk may stall that long.
DEPTH = 2000


class BagRecorder(Node):
    """
    Writes what arrives, as it arrives; nothing is deserialised.

    One thread does everything: rclpy's executor of several threads is too slow for 500 Hz.
    """

    def __init__(self) -> None:
        super().__init__('bag_recorder')
        declare(self, 'start.output', '', 'folder of the bag to write; it must not exist')
        declare(self, 'start.topics', ['joint_states'], 'topics to record')
        declare(self, 'start.robot', '', 'name of the robot, noted in the bag')
        declare(self, 'start.effort_unit', '', 'A or Nm, noted in the bag; empty: not known')
        declare(self, 'start.trajectory_sha256', '', 'of the trajectory, noted in the bag')
        self._writer: BagWriter | None = None
        self._subscriptions_made: list = []
        self._failure: str | None = None
        self.create_service(Trigger, '~/start', self._on_start)
        self.create_service(Trigger, '~/stop', self._on_stop)

    def close(self) -> bool:
        """Close the bag; return True."""
        self._finish()
        return True

    def _on_start(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self._writer is not None:
            response.message = f'BUSY: {self._writer.path} is being recorded'
            return response
        try:
            response.message = f'recording to {self._start()}'
            response.success = True
        except (IdentificationError, OSError) as error:
            self.get_logger().error(str(error))
            response.message = str(error)
        return response

    def _start(self) -> Path:
        topics = [
            self.resolve_topic_name(topic) for topic in self.get_parameter('start.topics').value
        ]
        types = self._wait_for(topics)
        path = Path(named_file(self, 'start.output'))
        metadata = {
            name: self.get_parameter(f'start.{name}').value
            for name in ('robot', 'effort_unit', 'trajectory_sha256')
        }
        writer = BagWriter(path, {key: value for key, value in metadata.items() if value})
        self._failure = None
        self._writer = writer
        try:
            for topic, kind in types.items():
                writer.add_topic(topic, kind)
        except BagError:
            self._finish()
            raise
        for topic, kind in types.items():
            self._subscriptions_made.append(self.create_subscription(
                _message_class(kind), topic, partial(self._write, topic), self._qos(topic),
                raw=True,
            ))
        self._wait_until_connected()
        return path

    def _wait_until_connected(self) -> None:
        """Wait until every subscription has met its publisher, which may take seconds."""
        deadline = time.monotonic() + TOPIC_TIMEOUT
        while not all(_is_connected(made) for made in self._subscriptions_made):
            if time.monotonic() > deadline:
                topics = [s.topic_name for s in self._subscriptions_made if not _is_connected(s)]
                self._finish()
                raise BagError(
                    f'no publisher of {", ".join(topics)} was met within {TOPIC_TIMEOUT:.0f} s: '
                    'compare the quality of service with `ros2 topic info --verbose`'
                )
            time.sleep(0.02)

    def _wait_for(self, topics: list[str]) -> dict[str, str]:
        """Return the type of each topic as soon as all are published."""
        deadline = time.monotonic() + TOPIC_TIMEOUT
        while True:
            types = {
                topic: kinds[0] for topic, kinds in self.get_topic_names_and_types()
                if topic in topics and self.count_publishers(topic)
            }
            missing = [topic for topic in topics if topic not in types]
            if not missing:
                return types
            if time.monotonic() > deadline:
                raise BagError(
                    f'nobody publishes {", ".join(missing)}: is the driver running, and in this '
                    'ROS_DOMAIN_ID?'
                )
            time.sleep(0.02)

    def _qos(self, topic: str) -> QoSProfile:
        """Reliable and latched where every publisher is."""
        offered = [info.qos_profile for info in self.get_publishers_info_by_topic(topic)]
        reliable = all(qos.reliability == ReliabilityPolicy.RELIABLE for qos in offered)
        latched = all(qos.durability == DurabilityPolicy.TRANSIENT_LOCAL for qos in offered)
        return QoSProfile(
            depth=DEPTH,
            reliability=(
                ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT
            ),
            durability=(
                DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE
            ),
        )

    def _write(self, topic: str, data: bytes) -> None:
        if self._writer is None or self._failure:
            return
        try:
            self._writer.write(topic, self.get_clock().now().nanoseconds, data)
        except BagError as error:
            self._failure = str(error)
            self.get_logger().error(str(error))

    def _on_stop(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self._writer is None:
            response.message = 'nothing is being recorded'
            return response
        writer = self._writer
        self._finish()
        response.success = self._failure is None
        response.message = self._failure or f'{writer.message_count} messages in {writer.path}'
        return response

    def _finish(self) -> None:
        """Write what has arrived already, and close the bag."""
        if self._writer is None:
            return
        for subscription in self._subscriptions_made:
            self._drain(subscription)
            self.destroy_subscription(subscription)
        self._subscriptions_made = []
        writer, self._writer = self._writer, None
        writer.close()
        self.get_logger().info(f'{writer.message_count} messages in {writer.path}')

    def _drain(self, subscription) -> None:
        """Take what waits in the queue of a subscription; a busy machine lets it grow."""
        with subscription.handle:
            for _ in range(DEPTH):
                taken = subscription.handle.take_message(subscription.msg_type, True)
                if taken is None:
                    return
                self._write(subscription.topic_name, taken[0])


def _is_connected(subscription) -> bool:
    # Humble cannot say; there the first message has to tell.
    count = getattr(subscription, 'get_publisher_count', None)
    return count is None or count() > 0


def _message_class(kind: str):
    package, folder, name = kind.split('/')
    return getattr(importlib.import_module(f'{package}.{folder}'), name)


def main() -> None:
    """Run the node."""
    sys.exit(run_node(BagRecorder))


if __name__ == '__main__':
    main()
