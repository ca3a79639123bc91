# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A thread that hands over what comes on a topic at once, whatever its node does meanwhile."""

from __future__ import annotations

from collections.abc import Callable
import sys
import threading

from rclpy.node import Node
from robot_identification.nodes.direct_subscription import DirectSubscription, MessageWait

# Of a wait, after which the thread looks whether it is to end [s]; chosen: a node ends soon.
LONGEST_WAIT = 0.1
# Messages taken before the first of them is handed over; chosen: a sensor's burst.
AT_A_TIME = 16
# For which a thread of Python may go on while another one waits [s]; chosen: a fifth of the period
# of 500 Hz; Python's own is 5 ms.
SWITCH_INTERVAL = 0.0004


class SampleThread:
    """
    Hands each message of a subscription, serialized, to a function in a thread of its own.

    `failure` is the error that the function raised, which ends the thread; `run_node` raises it.
    """

    def __init__(
        self, node: Node, subscription: DirectSubscription, receive: Callable[[bytes], object]
    ) -> None:
        self._subscription, self._receive = subscription, receive
        self._wait = MessageWait(node.context, [subscription])
        self._stopping = False
        self.failure: Exception | None = None
        self._thread = threading.Thread(target=self._run, name='samples', daemon=True)

    def start(self) -> None:
        """Begin; other threads of the process have to give way soon from then on."""
        sys.setswitchinterval(SWITCH_INTERVAL)
        self._thread.start()

    def stop(self) -> None:
        """End the thread after the message at hand; before its node is destroyed."""
        self._stopping = True
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            while not self._stopping:
                if self._wait.wait(LONGEST_WAIT):
                    self._take()
        except Exception as error:
            self.failure = error

    def _take(self) -> None:
        while not self._stopping:
            messages = self._subscription.take(AT_A_TIME)
            for data, _ in messages:
                self._receive(data)
            if len(messages) < AT_A_TIME:
                return
