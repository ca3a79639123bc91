# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Keeps raw messages of some topics in a bag, from the moment it is made until it is finished."""

from __future__ import annotations

from operator import itemgetter
from pathlib import Path
import time

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from robot_identification.errors import BagError, DataError, UsageError
from robot_identification.nodes.direct_subscription import DirectSubscription, fitting_qos
from robot_identification.nodes.recording_types import definitions_of, message_class
from robot_identification.nodes.replay_clock import ReplayClock
from robot_identification.recording import BagWriter, VALUE_TOPICS

DEPTH = 20_000  # messages; chosen: 40 s of a 500 Hz topic, as a replay may be faster than it was
# What is published under these names, whose type is unknown before they are published.
USUAL_TYPES = {
    'joint_states': 'sensor_msgs/msg/JointState',
    'rotor_states': 'sensor_msgs/msg/JointState',
    **dict.fromkeys(VALUE_TOPICS, 'sensor_msgs/msg/JointState'),
    'speed_scaling': 'std_msgs/msg/Float64',
    'robot_program_running': 'std_msgs/msg/Bool',
}


class RawListener:
    """
    Writes what arrives, as it arrives, to the bag `path`; the first topic keeps the time.

    Messages have no time in which they were recorded: it is made anew from the header stamps of
    the first topic, so that the bag is the same at any rate of the replay. Where the replay begins
    again, or at `largest` [MB] in all, nothing more is kept. Topics are relative names, or
    ``name=package/msg/Type`` where a type is not known before a topic is published.

    All its methods are called one at a time. Raises UsageError if there are no topics, a type is
    not known, or the bag exists; BagError if it cannot be written.
    """

    def __init__(self, node: Node, topics: list[str], path: Path, largest: float) -> None:
        self._node = node
        self.types = _find_types(node, topics)
        self._time_keeper = next(iter(self.types))
        self._classes = {
            topic: message_class(topic, kind) for topic, kind in self.types.items()
        }
        self._largest, self._size = 1e6 * largest, 0
        self.path = path
        self.problem = ''
        self._clock = ReplayClock()
        self._last_kept: float | None = None
        # Latched states come before the first message that has a time.
        self._waiting: list[tuple[str, bytes]] = []
        self._writer = BagWriter(path, {})
        try:
            for topic, kind in self.types.items():
                self._writer.add_topic(topic, kind, definitions=definitions_of(kind))
        except BagError:
            self._writer.close()
            raise
        self._subscriptions: dict[str, DirectSubscription] = {}
        self._requested: dict[str, QoSProfile] = {}
        for topic in self.types:
            self._subscribe(topic)

    @property
    def message_count(self) -> int:
        """Messages kept so far."""
        return int(self._writer.message_count)

    @property
    def quiet_for(self) -> float:
        """Time since the last message that was kept [s], on a steady clock; 0 before the first."""
        return 0.0 if self._last_kept is None else time.monotonic() - self._last_kept

    def poll(self) -> None:
        """
        Keep what has come; to be called regularly.

        Of a topic one of whose publishers offers less than is requested, less is requested.
        """
        self._take()
        for topic, requested in list(self._requested.items()):
            offered = self._qos(topic)
            lossy = _is_reliable(requested) and not _is_reliable(offered)
            if lossy:
                self._node.get_logger().warning(
                    f'{topic} is published best effort: messages may be lost'
                )
            if lossy or (_is_latched(requested) and not _is_latched(offered)):
                self._unsubscribe(topic)
                self._subscribe(topic)

    def finish(self) -> Path:
        """
        Keep what has arrived already, close the bag and return its folder.

        Raises DataError if nothing came, or more than is kept; BagError if the bag could not be
        written.
        """
        self.close()
        if self.problem:
            raise BagError(self.problem)
        if self._last_kept is None:
            raise DataError(
                f'nothing came on {self._time_keeper}: is the bag being played, in this '
                'ROS_DOMAIN_ID, and under this name?'
            )
        return self.path

    def close(self) -> None:
        """Close the bag, also without messages."""
        for topic in list(self._subscriptions):
            self._unsubscribe(topic)
        self._writer.close()

    def _subscribe(self, topic: str) -> None:
        qos = self._requested[topic] = self._qos(topic)
        self._subscriptions[topic] = DirectSubscription(
            self._node, self._classes[topic], topic, qos
        )

    def _unsubscribe(self, topic: str) -> None:
        """Keep what has come, and listen no more."""
        self._take()
        self._subscriptions.pop(topic).destroy()

    def _qos(self, topic: str) -> QoSProfile:
        return fitting_qos(self._node, topic, DEPTH, reliable_first=True)

    def _take(self) -> None:
        """Keep what has come, in the order of its arrival as far as that is known."""
        taken = [
            (info.get('received_timestamp') or 0, topic, data)
            for topic, subscription in self._subscriptions.items()
            for data, info in subscription.take(DEPTH)
        ]
        for _, topic, data in sorted(taken, key=itemgetter(0)):
            self._keep(topic, data)

    def _keep(self, topic: str, data: bytes) -> None:
        if self.problem or self._clock.has_come_round:
            return
        try:
            if topic == self._time_keeper:
                self._keep_time(data)
            if self._clock.has_come_round:
                return
            self._waiting.append((topic, data))
            if self._clock.now is not None:
                for one in self._waiting:
                    self._write(*one)
                self._waiting = []
        except DataError as error:
            self.problem = str(error)
            self._node.get_logger().error(self.problem)

    def _keep_time(self, data: bytes) -> None:
        before = self._clock.jumps
        self._clock.tick(data, self._node.get_clock().now().nanoseconds)
        if self._clock.has_come_round:
            self._node.get_logger().info(
                'the replay begins again: what comes now was received already and is not kept'
            )
        elif self._clock.jumps > before:
            self._node.get_logger().warning(f'the stamps on {self._time_keeper} jump back')

    def _write(self, topic: str, data: bytes) -> None:
        self._size += len(data)
        if self._size > self._largest:
            raise DataError(
                f'more than {self._largest / 1e6:g} MB were received: raise '
                'listen.maximum_size, or identify from the bag itself (identify.bags)'
            )
        self._writer.write(topic, self._clock.now or 0, data)
        self._last_kept = time.monotonic()


def _is_reliable(qos: QoSProfile) -> bool:
    return bool(qos.reliability == ReliabilityPolicy.RELIABLE)


def _is_latched(qos: QoSProfile) -> bool:
    return bool(qos.durability == DurabilityPolicy.TRANSIENT_LOCAL)


def _find_types(node: Node, topics: list[str]) -> dict[str, str]:
    """Return the type of each topic by its full name."""
    published = dict(node.get_topic_names_and_types())
    found = {}
    for entry in filter(None, topics):
        name, _, kind = entry.partition('=')
        topic = node.resolve_topic_name(name)
        kinds = [kind] if kind else published.get(topic) or [
            USUAL_TYPES.get(topic.rpartition('/')[2], '')
        ]
        if not kinds[0]:
            raise UsageError(
                f'{topic} is not published yet, so that its type is not known: write '
                f'{name}=package/msg/Type in listen.topics'
            )
        found[topic] = kinds[0]
    if not found:
        raise UsageError('listen.topics is empty: name the topic of the joint states first')
    return found
