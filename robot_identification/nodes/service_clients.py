# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Services of other nodes, called from a thread that may wait while another one serves."""

from __future__ import annotations

from collections.abc import Callable
import time
from typing import Any

from diagnostic_msgs.srv import SelfTest
from rcl_interfaces.msg import Parameter as ParameterMessage
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.client import Client
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.task import Future
from robot_identification.errors import DataError
from robot_identification.nodes.status import state_of
from std_srvs.srv import Trigger

# [s]; chosen: several times the 5 s for which the recorder waits for topics.
SERVICE_TIMEOUT = 20.0
LONG_SERVICE_TIMEOUT = 300.0  # of a design or an identification [s]; chosen: these take minutes
# Without an answer, a request that may be repeated is sent again after this [s]; chosen: by then a
# node of a busy machine has found a new client, whose first answer the middleware drops if not.
REPEATED_AFTER = 3.0
# By the last word of their names; others are Trigger.
_TYPES = {'status': SelfTest, 'with': SetParametersAtomically}
PAUSE = 0.02  # between two polls [s]; chosen: short for a person, no load for a processor


class ServiceClients:
    """
    Waits for services, calls them, and gives up when it is asked to stop.

    The node's executor has a thread for them.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self.group = ReentrantCallbackGroup()
        # Kept, as each new one has to be found by its server before an answer arrives.
        self._clients: dict[str, Client] = {}
        self.stopping = False

    def create_clients(self, *services: str) -> None:
        """
        Create the clients of services before they are called.

        A server discovers each before it answers, for which a process that ends has no time.
        """
        for service in services:
            verb = service.rpartition('/')[2]
            self._client(_TYPES.get(verb.rpartition('_')[2], Trigger), service)

    def set_parameters(self, node: str, values: dict[str, Any]) -> None:
        """Set parameters of another node; raise DataError with the reason of a refusal."""
        request = SetParameters.Request(parameters=_messages(values))
        answer = self._request(
            SetParameters, f'{node}/set_parameters', request, SERVICE_TIMEOUT, repeated=True
        )
        for name, result in zip(values, answer.results, strict=True):
            if not result.successful:
                raise DataError(f'{node} refuses {name}: {result.reason}')

    def call_with(
        self, service: str, values: dict[str, Any], timeout: float = SERVICE_TIMEOUT
    ) -> str:
        """
        Call a service of `nodes.common.serve` with arguments, and return its message.

        Raises DataError if it refuses them, or does not answer within `timeout` [s].
        """
        request = SetParametersAtomically.Request(parameters=_messages(values))
        result = self._request(
            SetParametersAtomically, f'{service}_with', request, timeout
        ).result
        if not result.successful:
            raise DataError(f'{service}: {result.reason}')
        return str(result.reason)

    def call(
        self, service: str, timeout: float = SERVICE_TIMEOUT, *, although_stopping: bool = False
    ) -> str:
        """
        Call a Trigger service; return its message.

        With `although_stopping` it is called, and waited for, even where this process is asked to
        stop. Raises DataError if it refuses, or does not answer within `timeout` [s].
        """
        answer = self._request(Trigger, service, Trigger.Request(), timeout, although_stopping)
        if not answer.success:
            raise DataError(f'{service}: {answer.message}')
        return str(answer.message)

    def status(
        self, node: str, timeout: float = SERVICE_TIMEOUT, *, although_stopping: bool = False
    ) -> dict[str, str]:
        """Return the state of runner or recorder; raise DataError if it does not answer."""
        return state_of(self._request(
            SelfTest, f'{node}/status', SelfTest.Request(), timeout, although_stopping,
            repeated=True,
        ))

    def wait(
        self, condition: Callable[[], bool], timeout: float, what: str, *,
        although_stopping: bool = False,
    ) -> None:
        """Wait until something holds; raise DataError, which names it, after `timeout` [s]."""
        deadline = time.monotonic() + timeout
        while not condition():
            if not although_stopping:
                self.check_stopping()
            if time.monotonic() > deadline:
                raise DataError(f'waited {timeout:.0f} s for {what}')
            self.pause()

    def check_stopping(self) -> None:
        """Raise DataError if `stopping` is set."""
        if self.stopping:
            raise DataError('interrupted')

    def pause(self) -> None:
        """Yield to other threads."""
        time.sleep(PAUSE)

    def _client(self, kind: Any, name: str) -> Client:
        if name not in self._clients:
            self._clients[name] = self._node.create_client(
                kind, name, callback_group=self.group
            )
        return self._clients[name]

    def _request(
        self, kind: Any, name: str, request: Any, timeout: float, although_stopping: bool = False,
        *, repeated: bool = False,
    ) -> Any:
        client = self._client(kind, name)
        self.wait(
            client.service_is_ready, min(timeout, SERVICE_TIMEOUT), f'the service {name}',
            although_stopping=although_stopping,
        )
        futures = [client.call_async(request)]
        sent_at = time.monotonic()

        def answered() -> Future | None:
            nonlocal sent_at
            if repeated and time.monotonic() - sent_at > REPEATED_AFTER:
                sent_at = time.monotonic()
                futures.append(client.call_async(request))
            return next((future for future in futures if future.done()), None)

        try:
            self.wait(
                lambda: answered() is not None, timeout, f'an answer of {name}',
                although_stopping=although_stopping,
            )
            answer = answered()
            assert answer is not None
            return answer.result()
        finally:
            for future in futures:
                client.remove_pending_request(future)


def _messages(values: dict[str, Any]) -> list[ParameterMessage]:
    return [Parameter(name, value=value).to_parameter_msg() for name, value in values.items()]
