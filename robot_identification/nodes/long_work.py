# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Work of a node that takes minutes: begun, reported and aborted the same way in every node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
import threading

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from rclpy.qos import QoSProfile
from robot_identification.errors import IdentificationError, UsageError
from robot_identification.nodes.common import in_parameters, no_arguments, STEADY_CLOCK
from robot_identification.nodes.diagnostics import Diagnostics
from robot_identification.nodes.status import PublishedState
from std_msgs.msg import Float32

STATE_PERIOD = 1.0  # of /diagnostics [s]; chosen: once a second is enough for a person


class AbortedError(IdentificationError):
    """The end of the work is requested."""


class LongWork:
    """
    One piece of work at a time, which another call may abort.

    `what` names it, such as design. Its state (IDLE, the node's own while it runs, DONE, FAILED),
    with a reason and the `values` of the node, is on ``~/state``, ``~/status`` and /diagnostics;
    its share that is done is on ``~/progress``. It is reported in callbacks of `group`.
    """

    def __init__(
        self, node: Node, what: str, group: CallbackGroup,
        values: Callable[[], Mapping[str, object]] = dict,
    ) -> None:
        self.state, self.reason = 'IDLE', ''
        self._node, self._what, self._values = node, what, values
        self._level = DiagnosticStatus.OK
        self._busy, self._aborted = threading.Lock(), threading.Event()
        self._closing = threading.Event()
        self._progress: dict[str, object] = {}
        self._progress_topic = node.create_publisher(Float32, '~/progress', QoSProfile(depth=100))
        self._state_topic = PublishedState(
            node, lambda: (self.state, self._content(), self.is_running)
        )
        self._diagnostics = Diagnostics(node, what)
        node.create_timer(
            STATE_PERIOD, self._diagnose, callback_group=group, clock=STEADY_CLOCK
        )
        self.enter('IDLE')

    @property
    def is_running(self) -> bool:
        """Return whether work is done."""
        return self._busy.locked()

    @property
    def is_aborted(self) -> bool:
        """Return whether the work is asked to end."""
        return self._aborted.is_set() or self._closing.is_set()

    def run(
        self, work: Callable[[], str], take_arguments: Callable[[], None] = no_arguments
    ) -> str:
        """
        Do the work, which enters its own states; return what it returns.

        Its arguments are taken when no other work is done any more. Raises UsageError if other
        work is done, AbortedError if the node is asked to leave; an error of the work is its
        state, and raised.
        """
        if not self._busy.acquire(blocking=False):
            raise UsageError(f'BUSY: the {self._what} is running')
        self._aborted.clear()
        try:
            if self._closing.is_set():
                raise AbortedError(
                    f'the node is asked to leave: the {self._what} does not begin'
                )
            take_arguments()
            return work()
        except (IdentificationError, OSError) as error:
            self.enter('FAILED', in_parameters(str(error)))
            raise
        finally:
            self._busy.release()

    def enter(self, state: str, reason: str = '', *, has_gaps: bool = False) -> None:
        """Enter a state and publish it; diagnostics warn of one that has gaps."""
        self.state, self.reason = state, reason
        self._level = DiagnosticStatus.WARN if has_gaps else DiagnosticStatus.OK
        if state == 'FAILED':
            self._level = DiagnosticStatus.ERROR
        self._state_topic.publish(state, self._content())
        self._diagnose()

    def report(self, share: float, **progress: object) -> None:
        """Publish the share of the work that is done, from 0 to 1, and more about it."""
        self._progress = {'progress': f'{share:.0%}', **progress}
        self._progress_topic.publish(Float32(data=share))

    def abort(self) -> str:
        """Ask the work to end; raise UsageError if none is done."""
        if not self.is_running:
            raise UsageError(f'no {self._what} is running')
        self._aborted.set()
        return f'the {self._what} ends'

    def close(self) -> bool:
        """Ask the work to end for good; return whether it has ended."""
        self._closing.set()
        return not self.is_running

    def _content(self) -> dict[str, object]:
        return {'reason': self.reason, **self._values()}

    def _diagnose(self) -> None:
        values = {'state': self.state, **self._values()}
        if self.is_running:
            values |= self._progress
        self._diagnostics.publish(self._level, self.reason or self.state.lower(), values)
