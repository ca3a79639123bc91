# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Subscriptions and clients whose owner takes what comes, while no executor waits for them.

An executor of rclpy builds its wait set anew for every message, of every timer, service and event
of its node: at 500 Hz that is most of what a node takes. Here a message costs its taking.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
import time
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from rclpy.subscription import Subscription

try:
    from rclpy.event_handler import SubscriptionEventCallbacks, UnsupportedEventTypeError
except ImportError:
    # Humble has them elsewhere.
    from rclpy.qos_event import SubscriptionEventCallbacks, UnsupportedEventTypeError

# A later answer is none [s]; chosen: above every timeout of what asks.
ANSWERED_WITHIN = 10.0
# Of a serialized message [bytes]; chosen: a joint takes 24 bytes of numbers and its name, so that
# several hundred joints fit.
LARGEST_JOINT_STATE = 65_536
WARNED_EVERY = 5.0  # [s]; chosen: seen on a terminal, and no flood
Taken = tuple[bytes, Mapping[str, Any]]


def fitting_qos(node: Node, topic: str, depth: int, *, reliable_first: bool) -> QoSProfile:
    """
    Return what fits to every publisher of a topic: reliable and latched where all of them are.

    Where there is none yet, reliable if `reliable_first`, else best effort, which fits to all.
    """
    offered = [info.qos_profile for info in node.get_publishers_info_by_topic(topic)]
    reliable = bool(offered) or reliable_first
    latched = bool(offered)
    for qos in offered:
        reliable = reliable and qos.reliability == ReliabilityPolicy.RELIABLE
        latched = latched and qos.durability == DurabilityPolicy.TRANSIENT_LOCAL
    return QoSProfile(
        depth=depth,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
    )


class _LeftAlone(CallbackGroup):
    """
    Callback group of what no executor waits for.

    The events of a subscription belong to it: they wake a wait set as its messages do, which an
    executor would then leave where they are, and wake again.
    """

    def can_execute(self, entity: object) -> bool:
        return False

    def beginning_execution(self, entity: object) -> bool:
        return False

    def ending_execution(self, entity: object) -> None:
        """Do nothing: nothing has begun."""


class LossCounter:
    """
    Counts as `lost` what was published on a topic after its first message and did not arrive.

    A publisher numbers what it publishes, and DDS keeps the order of each publisher: what is
    missing between two numbers was lost, at any rate. rclpy does not know the publisher of a
    number. While there are several publishers, and where a middleware gives no numbers, the
    losses that the middleware itself reports are counted instead, and what a full queue replaced
    is not seen.
    """

    def __init__(self) -> None:
        self.lost = 0
        self._last: int | None = None
        self._numbered = True

    def add(self, number: int | None, publishers: int) -> None:
        """Count a message, with its publisher's number from 1; None or 0 where there is none."""
        self._numbered = bool(number) and publishers <= 1
        if not self._numbered:
            self._last = None
            return
        # A publisher that was started anew counts from the beginning.
        if self._last is not None and number > self._last:
            self.lost += number - self._last - 1
        self._last = number

    def update(self, publishers: int) -> None:
        """Forget the last number when it is not that of the only publisher any more."""
        if publishers != 1:
            self._last = None

    def report(self, count: int) -> None:
        """Take note of so many messages that the middleware reports as lost."""
        if not self._numbered:
            self.lost += count


class DirectSubscription:
    """
    Subscription to a topic, whose messages wait until they are taken, at most the depth of `qos`.

    Of those that were published since the first one, `lost` counts what did not arrive.
    """

    def __init__(self, node: Node, kind: Any, topic: str, qos: QoSProfile) -> None:
        self._node, self._kind, self._losses = node, kind, LossCounter()
        self._subscription = self._subscribe(topic, qos)
        self.handle = self._subscription.handle  # of rclpy's core, for a wait set

    def _subscribe(self, topic: str, qos: QoSProfile) -> Any:
        def subscribe(**events: Any) -> Any:
            return self._node.create_subscription(
                self._kind, topic, _ignore, qos, callback_group=_LeftAlone(), raw=True, **events
            )

        try:
            return subscribe(event_callbacks=SubscriptionEventCallbacks(
                message_lost=lambda info: self._losses.report(info.total_count_change)
            ))
        except UnsupportedEventTypeError:
            return subscribe()

    @property
    def lost(self) -> int:
        """Messages that were published and did not arrive, see `LossCounter`."""
        return self._losses.lost

    @property
    def publishers(self) -> int:
        """Return the number of publishers it has met; 1 where unknown, as on Humble."""
        count = getattr(self._subscription, 'get_publisher_count', None)
        return 1 if count is None else int(count())

    def take(self, most: int) -> list[Taken]:
        """Return what has come, the oldest first, with what the middleware knows of each."""
        messages: list[Taken] = []
        with self.handle:
            while len(messages) < most:
                taken = self.handle.take_message(self._kind, True)
                if taken is None:
                    break
                messages.append(taken)
        if messages:
            publishers = self.publishers
            for _, info in messages:
                self._losses.add(info.get('publication_sequence_number'), publishers)
        return messages

    def handle_events(self) -> None:
        """Handle what the middleware reports: losses, and publishers that leave or do not fit."""
        self._losses.update(self.publishers)
        for handler in self._subscription.event_handlers:
            # An executor would set this after its wait.
            handler._ready_to_take_data = True
            info = handler.take_data()
            if getattr(info, 'total_count_change', 0) > 0:
                handler.callback(info)

    def destroy(self) -> None:
        """Listen no more; what has come and was not taken is lost."""
        self._node.destroy_subscription(self._subscription)


class DirectClient:
    """
    Client of a service, whose owner takes the answers, in any thread.

    A question and its answer belong together: unlike a message, an answer cannot be replayed.
    """

    def __init__(self, node: Node, kind: Any, service: str) -> None:
        self._node, self._kind = node, kind
        self._client = node.create_client(kind, service, callback_group=_LeftAlone())
        # When each question was asked that may yet be answered [s], by its number.
        self._asked: dict[int, float] = {}

    @property
    def is_ready(self) -> bool:
        """Return whether the service is on the graph."""
        return bool(self._client.service_is_ready())

    def ask(self, request: Any = None) -> None:
        """Send a request, by default one as it is made."""
        now = time.monotonic()
        self._asked = {
            number: then for number, then in self._asked.items() if now - then < ANSWERED_WITHIN
        }
        with self._client.handle:
            self._asked[self._client.handle.send_request(
                self._kind.Request() if request is None else request
            )] = now

    def take(self) -> list[tuple[float, Any]]:
        """
        Return the answers that have come, each with the time of its question [s].

        Of two servers of one name each gives an answer.
        """
        answers = []
        with self._client.handle:
            while True:
                header, answer = self._client.handle.take_response(self._kind.Response)
                if header is None:
                    return answers
                number = header.request_id.sequence_number
                if number in self._asked:
                    answers.append((self._asked[number], answer))

    def destroy(self) -> None:
        """Ask no more."""
        self._node.destroy_client(self._client)


def _ignore(message: object) -> None:
    """Do nothing: rclpy asks for a callback."""


def within_bounds(
    node: Node, topic: str, receive: Callable[[bytes], object]
) -> Callable[[bytes], None]:
    """Return what hands serialized messages of a topic on, and warns of those of over 64 KiB."""
    def check(data: bytes) -> None:
        if len(data) <= LARGEST_JOINT_STATE:
            receive(data)
            return
        node.get_logger().warning(
            f'a message on {node.resolve_topic_name(topic)} has {len(data)} bytes, at most '
            f'{LARGEST_JOINT_STATE} are accepted: it is left out; find its publisher',
            throttle_duration_sec=WARNED_EVERY,
        )

    return check


def create_bounded_subscription(
    node: Node,
    kind: Any,
    topic: str,
    callback: Callable[[Any], None],
    qos: QoSProfile,
) -> Subscription:
    """
    Subscribe to a topic; serialized messages of more than 64 KiB are left out.

    A million names in a message are a million Python objects, and the node does nothing else until
    they are made. Here it is asked first how long the serialized message is; what is left is the
    copy that the middleware makes. A warning says what is left out.
    """
    receive = within_bounds(
        node, topic, lambda data: callback(deserialize_message(data, kind))
    )
    return node.create_subscription(kind, topic, receive, qos, raw=True)
