# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Status of runner and recorder, by question and answer.

What is decided on a motion or a recording rests on this: a message of a topic may be one of a bag
that is being replayed. The topics ``~/state`` have the same content, for operators and for bags.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
import time

from diagnostic_msgs.msg import DiagnosticStatus
from diagnostic_msgs.srv import SelfTest
import numpy as np
from rclpy.exceptions import NameValidationException
from rclpy.node import Node
from robot_identification.errors import BagError, UnsafeMotionError, UsageError
from robot_identification.nodes.common import LATCHED, SERVICE_QOS
from robot_identification.nodes.diagnostics import Diagnostics, values_of
from robot_identification.nodes.direct_subscription import DirectClient

# From one question to the next [s]; chosen: ten in STATUS_TIMEOUT.
QUESTION_PERIOD = 0.08
# [s] (docs/execution.md); chosen: ten questions, a fifth of what the recorder's queue holds at
# 500 Hz. A recorder that was kept from running for less has lost nothing; one that fails says so
# at once, and an arm that is moved unrecorded is in no danger.
STATUS_TIMEOUT = 0.8
# From the end of a motion to that of its bag [s] (docs/experiments.md); chosen: rest is recorded,
# too.
AFTERWARDS = 0.5
FAILURES = 'FAULT', 'FAILED', 'failed'


def full_topic_name(node: Node, topic: str, parameter: str) -> str:
    """Return the full name of a topic that a parameter names; raise UsageError if it has none."""
    try:
        return str(node.resolve_topic_name(topic))
    # rcl's own error is a RuntimeError, and other versions have their own.
    except (NameValidationException, RuntimeError, ValueError) as error:
        reason = str(error).partition(', at ')[0]
        raise UsageError(f'{parameter} names {topic!r:.80}: {reason}') from error


class PublishedState:
    """
    State of a node: on the latched topic ``~/state``, and as the answer of ``~/status``.

    `read` returns the present state, its values by name, and whether the node is at work (the
    runner moves the arm, the recorder records), which is ``passed`` of the answer.
    """

    def __init__(
        self, node: Node, read: Callable[[], tuple[str, Mapping[str, object], bool]]
    ) -> None:
        self._name, self._read = node.get_fully_qualified_name(), read
        self._topic = Diagnostics(node, 'state', '~/state', LATCHED)
        node.create_service(SelfTest, '~/status', self._answer, qos_profile=SERVICE_QOS)

    def publish(self, state: str, values: Mapping[str, object]) -> None:
        """Publish a state on ``~/state``."""
        self._topic.publish(_level(state), state, values)

    def _answer(
        self, request: SelfTest.Request, response: SelfTest.Response
    ) -> SelfTest.Response:
        state, values, at_work = self._read()
        response.id, response.passed = self._name, bytes([at_work])
        response.status = [self._topic.status(_level(state), state, values)]
        return response


def _level(state: str) -> bytes:
    return DiagnosticStatus.ERROR if state in FAILURES else DiagnosticStatus.OK


def state_of(answer: SelfTest.Response) -> dict[str, str]:
    """Return the values of an answer of ``~/status``, and `state`; empty where it has none."""
    return {
        name: value for status in answer.status[:1]
        for name, value in (('state', status.message), *values_of(status).items())
    }


class StatusClient:
    """
    Asks another node for its status while `poll` is called, by one thread.

    `is_at_work` and `content` are of its last answer, to the question that was asked at `asked_at`
    [s] of the monotonic clock.
    """

    def __init__(self, node: Node, name: str) -> None:
        self._client = DirectClient(node, SelfTest, f'{name}/status')
        self._next = -np.inf
        self.is_at_work, self.asked_at = False, -np.inf
        self.content: dict[str, str] = {}

    @property
    def is_there(self) -> bool:
        """Return whether the node is on the graph."""
        return self._client.is_ready

    def poll(self) -> None:
        """Take what was answered, and ask anew when it is time to."""
        for asked_at, answer in self._client.take():
            self.is_at_work, self.asked_at = any(answer.passed), asked_at
            self.content = state_of(answer)
        now = time.monotonic()
        if now >= self._next and self._client.is_ready:
            self._next = now + QUESTION_PERIOD
            self._client.ask()

    def wait_for_new(self, timeout: float) -> None:
        """Wait, in another thread than `poll`, for the answer to a question asked from now on."""
        begin = time.monotonic()
        while self.asked_at < begin and time.monotonic() < begin + timeout:
            time.sleep(0.01)

    def close(self) -> None:
        """Ask no more."""
        self._client.destroy()


class RecorderWatch:
    """The bag recorder of that node name; `poll` and `check` are called by the runner's watch."""

    def __init__(self, node: Node, recorder: str) -> None:
        self._recorder, self._status = recorder, StatusClient(node, recorder)
        self.poll = self._status.poll

    def check_anew(self) -> None:
        """Check it by an answer of its present state; called in another thread than `poll`."""
        # On a busy computer the last answer may be from before the recorder was started.
        self._status.wait_for_new(STATUS_TIMEOUT)
        self.check()

    def check(self, waited: Callable[[float, float], float] = lambda age, now: age) -> None:
        """
        Raise UnsafeMotionError, with the recorder's last state, if it does not record.

        `waited` returns for how long an answer was waited for [s], from the age of the last
        question that was answered and the present time.
        """
        status = self._status
        if np.isinf(status.asked_at):
            raise UnsafeMotionError(
                f'{self._recorder}/status does not answer: start the recorder, or set '
                'require_recorder false where something else records'
            )
        if not status.is_at_work:
            reason = status.content.get('reason') or 'call its ~/start first'
            raise UnsafeMotionError(
                f'{self._recorder} is {status.content.get("state")}, not RECORDING: {reason}'
            )
        now = time.monotonic()
        age = now - status.asked_at
        if waited(age, now) > STATUS_TIMEOUT:
            raise UnsafeMotionError(
                f'{self._recorder} gave no sign of life for {age:.2f} s, at most '
                f'{STATUS_TIMEOUT:g} s are accepted. Usually the computer was too busy to run '
                'it: end other programs, and record fewer topics. If the log of the recorder ends '
                'at this time, it was killed: start it again'
            )


class RunnerWatch:
    """
    The experiment runner, whose motion a recording is about.

    Raises BagError if it does not answer within `timeout` [s].
    """

    def __init__(self, node: Node, name: str, timeout: float) -> None:
        self._name = full_topic_name(node, name, 'runner')
        self._status = StatusClient(node, self._name)
        self._moved = False
        self._rests_since: float | None = None
        deadline = time.monotonic() + timeout
        while np.isinf(self._status.asked_at):
            self._status.poll()
            if time.monotonic() > deadline:
                self.close()
                raise BagError(
                    f'{self._name}/status does not answer: start the experiment runner, set the '
                    'parameter runner to its name, or start.until_runner_ends to false'
                )
            time.sleep(0.02)
        self._motions_before = self._motions

    @property
    def _motions(self) -> str | None:
        """Number of motions that the runner has begun."""
        return self._status.content.get('motions')

    def why_ended(self, now: float) -> str:
        """Return why there is nothing more to record, empty while there may be."""
        status = self._status
        status.poll()
        if not status.is_there:
            return f'{self._name} has ended'
        if status.is_at_work:
            self._moved, self._rests_since = True, None
        # A motion may end between two questions.
        elif self._rests_since is None and (
            self._moved or self._motions != self._motions_before
        ):
            self._rests_since = now
        if self._rests_since is not None and now > self._rests_since + AFTERWARDS:
            return f'the motion of the runner ended: {status.content.get("state")}'
        return ''

    def close(self) -> None:
        """Ask no more."""
        self._status.close()
