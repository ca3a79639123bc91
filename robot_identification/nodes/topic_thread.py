# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A thread that takes the messages of topics at once, independent of its node's work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
import sys
import threading
import time
from typing import Any

from rclpy.context import Context
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from robot_identification.nodes.direct_subscription import (
    DirectSubscription, Taken, within_bounds,
)

# Messages of a topic taken at a time before others have their turn; chosen: 0.1 s of a 500 Hz
# topic.
AT_A_TIME = 50
# For which another thread may go on while this one waits for its turn [s]; chosen: a fifth of the
# period of 500 Hz. Python's own is 5 ms.
SWITCH_INTERVAL = 0.0004
STOP_TIMEOUT = 5.0  # [s] for the thread to end; chosen: above its longest turn, sending a motion
Receive = Callable[[list[Taken]], object]


class MessageWait:
    """Wait of a thread of its own for messages of some subscriptions."""

    def __init__(self, context: Context, subscriptions: Sequence[DirectSubscription]) -> None:
        self._subscriptions = tuple(subscriptions)
        with context.handle:
            self._wait_set = rclpy_implementation.WaitSet(
                len(self._subscriptions), 0, 0, 0, 0, 0, context.handle
            )

    def wait(self, seconds: float) -> bool:
        """Return whether a message waits to be taken, as soon as one does or after some time."""
        self._wait_set.clear_entities()
        for subscription in self._subscriptions:
            self._wait_set.add_subscription(subscription.handle)
        # A negative time would be a wait without end.
        self._wait_set.wait(max(round(1e9 * seconds), 0))
        return bool(self._wait_set.get_ready_entities('subscription'))


class TopicThread:
    """
    Thread of a node that receives the messages of some topics, and does nothing else.

    A service, a file, a proof or a burst of other messages, which take the node's executor, do not
    delay it. Callbacks are called in it, as messages come; `poll` is called `period` seconds apart
    [s], after all that came before. With `gather` [s] those messages are taken together that come
    within this time after one has. `on_error` takes what either raises, and both go on; if it
    raises an error itself, the first of these is `failure`, which `run_node` raises.
    """

    def __init__(self, node: Node, period: float, gather: float = 0.0) -> None:
        self.node, self._period, self._gather = node, period, gather
        self._subscriptions: list[tuple[DirectSubscription, Receive]] = []
        self._poll: Callable[[], object] = _nothing
        self._on_error: Callable[[Exception], object] = _raise
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name='topics', daemon=True)
        self.failure: Exception | None = None

    @property
    def is_current(self) -> bool:
        """Return whether this is called in the thread."""
        return threading.current_thread() is self._thread

    def subscribe(
        self, kind: Any, topic: str, qos: QoSProfile, callback: Callable[[Any], object], *,
        read: Callable[[bytes], Any] | None = None,
    ) -> DirectSubscription:
        """
        Subscribe to a topic, before `start`; messages of more than 64 KiB are left out.

        `read` makes of the serialized message what `callback` takes; by default the message.
        Returns the subscription, which counts what is lost.
        """
        receive = within_bounds(self.node, topic, lambda data: callback(
            deserialize_message(data, kind) if read is None else read(data)
        ))
        subscription = DirectSubscription(self.node, kind, topic, qos)
        self.add(subscription, lambda taken: [receive(data) for data, _ in taken])
        return subscription

    def add(self, subscription: DirectSubscription, receive: Receive) -> None:
        """
        Hand the messages of a subscription to `receive` as they are, those that wait together.

        It may be added after `start`; the thread waits for its messages within `period`.
        """
        self._subscriptions.append((subscription, receive))

    def start(
        self, poll: Callable[[], object] | None = None,
        on_error: Callable[[Exception], object] | None = None,
    ) -> None:
        """
        Begin; other threads of the process have to give way soon from then on.

        By default nothing is polled, and an error is a `failure`.
        """
        sys.setswitchinterval(SWITCH_INTERVAL)
        self._poll, self._on_error = poll or _nothing, on_error or _raise
        self._thread.start()

    def end(self) -> None:
        """End it; what comes from now on waits in its subscriptions."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join(STOP_TIMEOUT)

    def stop(self) -> None:
        """End it, and its subscriptions."""
        self.end()
        for subscription, _ in self._subscriptions:
            subscription.destroy()
        self._subscriptions = []

    def report_events(self) -> None:
        """Log what the middleware reports of publishers; to be called regularly, elsewhere."""
        for subscription, _ in self._subscriptions:
            subscription.handle_events()

    def _run(self) -> None:
        due, served = time.monotonic(), list(self._subscriptions)
        wait = MessageWait(self.node.context, [one for one, _ in served])
        while not self._ended.is_set():
            if len(served) < len(self._subscriptions):
                served = list(self._subscriptions)
                wait = MessageWait(self.node.context, [one for one, _ in served])
            self._attempt(partial(wait.wait, due - time.monotonic()))
            if self._gather:
                self._ended.wait(self._gather)
            for subscription, receive in served:
                self._attempt(partial(_deliver, subscription, receive))
            now = time.monotonic()
            if now >= due:
                self._attempt(self._poll)
                due = max(due + self._period, now)

    def _attempt(self, action: Callable[[], object]) -> None:
        try:
            action()
        except Exception as error:
            try:
                self._on_error(error)
            except Exception as failure:
                self.failure = self.failure or failure
            # An error that comes again at once would leave no processor time to others.
            self._ended.wait(self._period)


def _deliver(subscription: DirectSubscription, receive: Receive) -> None:
    taken = subscription.take(AT_A_TIME)
    if taken:
        receive(taken)


def _nothing() -> None:
    """Poll nothing."""


def _raise(error: Exception) -> None:
    raise error
