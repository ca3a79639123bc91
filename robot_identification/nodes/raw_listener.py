# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Keeps raw messages of some topics in a bag, from the moment it is made until it is finished."""

from __future__ import annotations

from functools import partial
from pathlib import Path
import time
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from robot_identification.errors import BagError, DataError, UsageError
from robot_identification.nodes.direct_subscription import fitting_qos, SubscriptionEventCallbacks
from robot_identification.nodes.recording_types import definitions_of, message_class
from robot_identification.nodes.replay_clock import ReplayClock
from robot_identification.recording import BagWriter, VALUE_TOPICS

DEPTH = 20_000  # messages; chosen: 40 s of a 500 Hz topic, as a replay may be faster than it was
# Messages of one topic that are taken at a time, before others have their turn; chosen: 0.13 s of
# a 500 Hz topic.
AT_A_TIME = 64
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

    All its methods and callbacks are called one at a time: in one exclusive callback group. Raises
    UsageError if there are no topics, a type is not known, or the bag exists; BagError if it
    cannot be written.
    """

    def __init__(
        self, node: Node, group: CallbackGroup, topics: list[str], path: Path, largest: float
    ) -> None:
        self._node, self._group = node, group
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
        self._subscriptions = {topic: self._subscribe(topic) for topic in self.types}

    @property
    def message_count(self) -> int:
        """Messages kept so far."""
        return int(self._writer.message_count)

    @property
    def quiet_for(self) -> float:
        """Time since the last message that was kept [s], on a steady clock; 0 before the first."""
        return 0.0 if self._last_kept is None else time.monotonic() - self._last_kept

    def adapt(self) -> None:
        """Request less of the publishers of a topic where one of them offers less."""
        for topic, subscription in self._subscriptions.items():
            requested, offered = subscription.qos_profile, self._qos(topic)
            lossy = _is_reliable(requested) and not _is_reliable(offered)
            if lossy:
                self._node.get_logger().warning(
                    f'{topic} is published best effort: messages may be lost'
                )
            if lossy or (_is_latched(requested) and not _is_latched(offered)):
                self._unsubscribe(topic)
                self._subscriptions[topic] = self._subscribe(topic)

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
                f'nothing was heard on {self._time_keeper}: is the bag being played, in this '
                'ROS_DOMAIN_ID, and under this name?'
            )
        return self.path

    def close(self) -> None:
        """Close the bag, also without messages."""
        for topic in self._subscriptions:
            self._unsubscribe(topic)
        self._subscriptions = {}
        self._writer.close()

    def _subscribe(self, topic: str) -> Any:
        # Without events: rclpy cannot leave the event of a subscription that was destroyed while
        # it waited, and then blocks the callback group. `adapt` does what their warnings ask for.
        return self._node.create_subscription(
            self._classes[topic], topic, partial(self._on_message, topic),
            self._qos(topic), callback_group=self._group, raw=True,
            event_callbacks=SubscriptionEventCallbacks(use_default_callbacks=False),
        )

    def _unsubscribe(self, topic: str) -> None:
        """Keep what has arrived already, and listen no more."""
        self._take(topic, self._subscriptions[topic], DEPTH)
        self._node.destroy_subscription(self._subscriptions[topic])

    def _qos(self, topic: str) -> QoSProfile:
        return fitting_qos(self._node, topic, DEPTH, reliable_first=True)

    def _on_message(self, topic: str, data: bytes) -> None:
        self._keep(topic, data)
        if topic in self._subscriptions:
            self._take(topic, self._subscriptions[topic], AT_A_TIME)

    def _take(self, topic: str, subscription: Any, most: int) -> None:
        """Take what waits: cheaper than being woken for every message."""
        with subscription.handle:
            for _ in range(most):
                taken = subscription.handle.take_message(subscription.msg_type, True)
                if taken is None:
                    return
                self._keep(topic, taken[0])

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
                'the replay begins again: what comes now was heard already and is not kept'
            )
        elif self._clock.jumps > before:
            self._node.get_logger().warning(f'the stamps on {self._time_keeper} jump back')

    def _write(self, topic: str, data: bytes) -> None:
        self._size += len(data)
        if self._size > self._largest:
            raise DataError(
                f'more than {self._largest / 1e6:g} MB were heard: raise listen.maximum_size, or '
                'identify from the bag itself (identify.bags)'
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
