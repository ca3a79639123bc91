# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""One recording: subscriptions, the bag they are written to, and what did not arrive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
import json
from pathlib import Path
import threading
import time
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile
from robot_identification.errors import BagError, UsageError
from robot_identification.nodes.direct_subscription import (
    DirectSubscription, fitting_qos, Taken,
)
from robot_identification.nodes.recording_types import (
    definitions_of, has_header, message_class, stamp_of,
)
from robot_identification.nodes.topic_thread import AT_A_TIME, TopicThread
from robot_identification.recording import BagWriter, OfferedQos

# Messages; chosen: 4 s of a 500 Hz driver, as the disk may stall that long (docs/experiments.md).
DEPTH = 2000
# [bytes]; chosen: 0.3 s of six joints at 500 Hz. Killed recorders were measured to lose 0.23 s
# with chunks of 64 KiB and 5.8 s with those of 1 MiB.
CHUNK_SIZE = 48 * 1024
# A killed process loses at most this much, and what it had not taken yet [s]
# (docs/experiments.md); chosen: twice the period of the heartbeat.
FLUSH_PERIOD = 0.2
# From one look at losses and publishers to the next [s]; chosen: as the node's heartbeat.
EVENT_PERIOD = 0.1
# For which messages are gathered before they are taken [s]; chosen: ten come in it at 500 Hz. Of
# messages that were taken one by one a busy computer lost more (docs/benchmarks.md).
GATHERING_TIME = 0.02
# The same while /clock gives the time in which messages are recorded [s]; chosen: that of messages
# that are taken together is the same, and a simulation may be 20 times as fast as the clock here.
SIMULATED_GATHERING_TIME = 0.005


@dataclass(frozen=True)
class RecordingOrder:
    """Request for a recording."""

    output: Path  # folder of the bag
    topics: tuple[str, ...]  # those that must be published, with their full names
    optional_topics: tuple[str, ...]  # those that are recorded as soon as they are published
    metadata: Mapping[str, str]  # custom data of the bag
    timeout: float  # how long to wait for publishers [s]

    def __post_init__(self) -> None:
        if not self.topics:
            raise UsageError('start.topics is empty: name at least one topic to record')
        if self.output.exists():
            raise UsageError(f'{self.output} exists already: name another bag')


class DuplicateCounter:
    """Counts messages with the header stamp of the one before: `duplicates`."""

    def __init__(self) -> None:
        self.duplicates = 0
        self._last = 0

    def add(self, stamp: int) -> None:
        """Take note of a message by its stamp [ns]; 0 is none."""
        self.duplicates += bool(stamp) and stamp == self._last
        self._last = stamp


@dataclass
class RecordedTopic:
    """One topic and what is known of its messages."""

    # Full name and type.
    name: str
    kind: str
    stamps: DuplicateCounter | None  # where messages begin with a header
    messages: int = 0  # written so far
    # The first and the last of them.
    first: bytes = b''
    last: bytes = b''
    lost: int = 0  # published and not arrived, by what can be known here
    subscription: DirectSubscription | None = field(default=None, repr=False)
    # Nothing waited then any more [ns] of the system's clock: what is taken now came later.
    emptied_at: int = field(default_factory=time.time_ns)

    @property
    def publishers(self) -> int:
        """Return the number of publishers it has met; 1 where unknown, as on Humble."""
        return 0 if self.subscription is None else self.subscription.publishers

    def arrival(self, info: Mapping[str, Any], now: int) -> int:
        """Return when a message came [ns], by the system's clock."""
        # Some middleware knows only when it was sent, by the clock of its publisher.
        return int(info.get('received_timestamp') or min(
            max(info.get('source_timestamp') or now, self.emptied_at), now
        ))


class RecordingSession:
    """
    A bag being recorded, from the moment that every required topic is connected.

    A thread of its own writes messages as they come, and nothing is deserialized; one other
    thread calls the methods. `failure` says why nothing more is written; `is_gone` whether the bag
    is not at its place any more. Raises BagError if a topic is not published, not connected or of
    an unknown type, or the bag cannot be written; then no bag is left behind.
    """

    def __init__(self, node: Node, order: RecordingOrder) -> None:
        self.order = order
        self.topics: dict[str, RecordedTopic] = {}
        self.failure = ''
        self.is_gone = False
        self._node = node
        self._refused: set[str] = set()
        self._lag = 0
        self._flushed_at = time.monotonic()
        self._simulated_time = node.get_clock().ros_time_is_active
        # Held while the bag is written to.
        self._lock = threading.Lock()
        self._thread = TopicThread(
            node, EVENT_PERIOD,
            SIMULATED_GATHERING_TIME if self._simulated_time else GATHERING_TIME,
        )
        kinds = self._wait_for_topics()
        self._writer: BagWriter | None = None
        try:
            for name, kind in kinds.items():
                self._subscribe(name, kind)
            self._wait_until_connected()
            self._writer = BagWriter(
                order.output, order.metadata, chunk_size=CHUNK_SIZE, sync=True
            )
            self._identity = _identity_of(self._writer.file)
            for topic in self.topics.values():
                self._declare(topic)
                self._record(topic)
            self.add_published()
        except BaseException:
            self._unsubscribe()
            if self._writer is not None:
                self._writer.discard()
            raise
        self._thread.start(self._handle_events, self._on_error)

    @property
    def writer(self) -> BagWriter:
        """Return the bag."""
        if self._writer is None:
            raise BagError(f'{self.order.output} is not open yet')
        return self._writer

    @property
    def lost(self) -> dict[str, int]:
        """Lost messages by topic."""
        return {name: topic.lost for name, topic in self.topics.items()}

    def take_lag(self) -> float:
        """Return how long a message waited at most since this was asked last [s]."""
        lag, self._lag = self._lag, 0
        return 1e-9 * lag

    def check_file(self) -> None:
        """Fail when the bag was taken away or shortened: writing would go on unnoticed."""
        if self.is_gone or self._is_at_its_place():
            return
        self.is_gone = True
        self.failure = (
            f'{self.order.output} was deleted, moved, replaced or lost while it was recorded: '
            'nothing that was recorded can be read there; record again into a new folder, and '
            'leave it alone until the bag is closed'
        )

    def _is_at_its_place(self) -> bool:
        # Before the size of the file, which the thread makes larger in between.
        written = self.writer.byte_count
        try:
            size = self.writer.file.stat().st_size
            return _identity_of(self.writer.file) == self._identity and size >= written
        except OSError:
            return False

    def flush(self) -> None:
        """Check the file, and write what is collected when it is time to."""
        self.check_file()
        now = time.monotonic()
        if now < self._flushed_at + FLUSH_PERIOD or self.failure:
            return
        self._flushed_at = now
        try:
            with self._lock:
                self.writer.flush()
        except BagError as error:
            self.failure = str(error)

    def add_published(self) -> None:
        """Record the optional topics that are published by now."""
        wanted = [
            name for name in self.order.optional_topics
            if name not in self.topics and name not in self._refused
        ]
        if not wanted or self.failure:
            return
        for name, kind in self._published(wanted).items():
            try:
                self._subscribe(name, kind)
                self._declare(self.topics[name])
                self._record(self.topics[name])
            except Exception as error:
                # No content of a topic may end the recording.
                self._refused.add(name)
                self._drop(name)
                self._node.get_logger().warning(f'left out: {error}')

    def ends_of(self, kind: str) -> tuple[bytes, bytes] | None:
        """Return the first and the last message of the first topic of a type, None without any."""
        for topic in self.topics.values():
            if topic.kind == kind and topic.messages:
                return topic.first, topic.last
        return None

    def finish(self, notes: Mapping[str, str]) -> None:
        """
        Write what has arrived already, add notes and what was lost, and close the bag.

        Raises BagError if the disk does not take it, or the bag is not at its place any more.
        """
        self._thread.end()
        for topic in self.topics.values():
            if topic.subscription is not None:
                self._receive(topic, topic.subscription.take(DEPTH))
        self._unsubscribe()
        self.check_file()
        if self.is_gone:
            self.writer.abandon()
            raise BagError(self.failure)
        stamped = [topic for topic in self.topics.values() if topic.stamps is not None]
        self.writer.custom_data |= {
            **notes,
            'lost_messages': json.dumps(self.lost, sort_keys=True),
            'duplicate_messages': json.dumps(
                {topic.name: topic.stamps.duplicates for topic in stamped if topic.stamps},
                sort_keys=True,
            ),
        }
        self.writer.close()

    def _published(self, names: list[str] | tuple[str, ...]) -> dict[str, str]:
        """Return the types of the topics that have a publisher."""
        return {
            name: kinds[0] for name, kinds in self._node.get_topic_names_and_types()
            if name in names and self._node.count_publishers(name)
        }

    def _wait_for_topics(self) -> dict[str, str]:
        """Return the type of each topic as soon as all are published."""
        deadline = time.monotonic() + self.order.timeout
        while True:
            kinds = self._published(self.order.topics)
            missing = [name for name in self.order.topics if name not in kinds]
            if not missing:
                return kinds
            if time.monotonic() > deadline:
                raise BagError(
                    f'{", ".join(missing)} (start.topics): no publisher; is the driver '
                    'running, and in this ROS_DOMAIN_ID?'
                )
            time.sleep(0.02)

    def _subscribe(self, name: str, kind: str) -> None:
        message = message_class(name, kind)
        topic = RecordedTopic(name, kind, DuplicateCounter() if has_header(message) else None)
        # A publisher that has left may come back with any QoS, so the least is requested.
        qos = fitting_qos(self._node, name, DEPTH, reliable_first=False)
        topic.subscription = DirectSubscription(self._node, message, name, qos)
        self.topics[name] = topic

    def _declare(self, topic: RecordedTopic) -> None:
        offers = [
            offered_qos(info.qos_profile)
            for info in self._node.get_publishers_info_by_topic(topic.name)
        ]
        with self._lock:
            self.writer.add_topic(
                topic.name, topic.kind, definitions=definitions_of(topic.kind), qos=offers
            )

    def _record(self, topic: RecordedTopic) -> None:
        """Have the messages of a topic written from now on."""
        assert topic.subscription is not None
        self._thread.add(topic.subscription, lambda messages: self._receive(topic, messages))

    def _drop(self, name: str) -> None:
        topic = self.topics.pop(name, None)
        if topic is not None and topic.subscription is not None:
            topic.subscription.destroy()

    def _unsubscribe(self) -> None:
        for topic in self.topics.values():
            if topic.subscription is not None:
                topic.subscription.destroy()
                topic.subscription = None

    def _wait_until_connected(self) -> None:
        """Wait until every subscription has met its publisher, which may take seconds."""
        deadline = time.monotonic() + self.order.timeout
        while True:
            alone = [
                topic.name for topic in self.topics.values()
                if not topic.publishers
            ]
            if not alone:
                return
            if time.monotonic() > deadline:
                raise BagError(
                    f'no publisher of {", ".join(alone)} was met within {self.order.timeout:g} s: '
                    'compare the quality of service with `ros2 topic info --verbose`'
                )
            time.sleep(0.02)

    # In the thread

    def _receive(self, topic: RecordedTopic, messages: list[Taken]) -> None:
        """Write messages that waited together."""
        now = time.time_ns()
        with self._lock:
            for data, info in messages:
                self._write(topic, data, topic.arrival(info, now))
        if messages:
            self._lag = max(self._lag, now - topic.arrival(messages[0][1], now))
        if len(messages) < AT_A_TIME:
            topic.emptied_at = now
        if topic.subscription is not None:
            topic.lost = topic.subscription.lost

    def _handle_events(self) -> None:
        for topic in list(self.topics.values()):
            if topic.subscription is not None:
                topic.subscription.handle_events()
                topic.lost = topic.subscription.lost

    def _on_error(self, error: Exception) -> None:
        """End the recording: what is not written must be known."""
        self.failure = self.failure or f'{self.order.output} was closed: {error!r}'

    def _write(self, topic: RecordedTopic, data: bytes, arrival: int) -> None:
        if self.failure:
            return
        if topic.stamps is not None:
            topic.stamps.add(stamp_of(data))
        if self._simulated_time:
            arrival = self._node.get_clock().now().nanoseconds
        try:
            self.writer.write(topic.name, arrival, data)
        except BagError as error:
            self.failure = str(error)
        else:
            if not topic.messages:
                topic.first = data
            topic.last = data
            topic.messages += 1


def offered_qos(qos: QoSProfile) -> OfferedQos:
    """Return what a publisher offers in the words of a bag."""
    return OfferedQos(
        reliability=qos.reliability.name.lower(),
        durability=qos.durability.name.lower(),
        history=qos.history.name.lower(),
        depth=qos.depth,
        liveliness=qos.liveliness.name.lower(),
        deadline=qos.deadline.nanoseconds,
        lifespan=qos.lifespan.nanoseconds,
        lease=qos.liveliness_lease_duration.nanoseconds,
    )


def _identity_of(path: Path) -> tuple[int, int]:
    """Return the identity of a file, independent of its name."""
    status = path.stat()
    return status.st_dev, status.st_ino
