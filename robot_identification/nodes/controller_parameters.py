# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The parameters of a controller, read from its services without blocking."""

from __future__ import annotations

from collections.abc import Sequence
import time
from typing import Any

from rcl_interfaces.srv import GetParameters, ListParameters
from rclpy.node import Node
from rclpy.parameter import parameter_value_to_python
from rclpy.task import Future
from robot_identification.errors import DataError
from robot_identification.execution import (
    check_controller_joints, constraint_names, constraints_from_parameters, ControllerConstraints,
    PREFIXES,
)

# An answer that did not come within it is asked for again [s]; chosen: far above the time of a
# call.
ANSWER_TIMEOUT = 2.0
# Tolerances may be set while the controller runs [s]; chosen: rare enough to be no load.
READ_EVERY = 5.0


class ControllerParameters:
    """
    Keeps what a controller's parameters state, for joints as the driver names them.

    `constraints` are those read last, None where they could not be read; `problem` says why an
    answer could not be used.
    """

    def __init__(self, node: Node, joints: Sequence[str]) -> None:
        self._node, self._joints = node, list(joints)
        self._controller = ''
        self._clients: list[Any] = []
        self._connected_at = self._asked_at = self._read_at = float('-inf')
        self._values: dict[str, object] = {}
        # Done with the first answer of the controller, or when none came in time.
        self._answered = Future()
        self.constraints: ControllerConstraints | None = None
        self.problem = ''

    async def settle(self) -> None:
        """Return when the controller answered, or has had `ANSWER_TIMEOUT` to do so."""
        if self._controller:
            await self._answered

    def check_joints(self) -> None:
        """Raise UnsafeMotionError if the controller states that it moves other joints."""
        check_controller_joints(self._controller, self._values, self._joints)

    def refresh(self, controller: str) -> None:
        """Ask this controller, if any, for its parameters where that is due; return at once."""
        if controller != self._controller:
            self._connect(controller)
        now = time.monotonic()
        if now - self._connected_at > ANSWER_TIMEOUT:
            self._settle()
        if (
            not self._clients or now - self._asked_at < ANSWER_TIMEOUT
            or now - self._read_at < READ_EVERY
            or not all(client.service_is_ready() for client in self._clients)
        ):
            return
        self._asked_at = now
        # Listed first: one name that is not declared would leave the answer of rclcpp empty.
        self._clients[0].call_async(
            ListParameters.Request(
                prefixes=list(PREFIXES), depth=ListParameters.Request.DEPTH_RECURSIVE
            )
        ).add_done_callback(lambda future: self._on_names(controller, future))

    def close(self) -> None:
        """Ask no more, and forget what was read."""
        self._connect('')

    def _connect(self, controller: str) -> None:
        for client in self._clients:
            self._node.destroy_client(client)
        self._settle()
        self._controller, self._clients, self._answered = controller, [], Future()
        self._connected_at, self._asked_at = time.monotonic(), float('-inf')
        self._read_at = float('-inf')
        self._values, self.constraints, self.problem = {}, None, ''
        if controller:
            self._clients = [
                self._node.create_client(ListParameters, f'{controller}/list_parameters'),
                self._node.create_client(GetParameters, f'{controller}/get_parameters'),
            ]

    def _on_names(self, controller: str, future: Future) -> None:
        answer = future.result()
        if controller != self._controller or answer is None:
            return
        names = sorted(set(constraint_names(self._joints)) & set(answer.result.names))
        self._clients[1].call_async(GetParameters.Request(names=names)).add_done_callback(
            lambda future: self._on_values(controller, names, future)
        )

    def _on_values(self, controller: str, names: list[str], future: Future) -> None:
        answer = future.result()
        if controller != self._controller or answer is None:
            return
        self._read_at = time.monotonic()
        try:
            if len(answer.values) != len(names):
                raise DataError(
                    f'{controller} answers with {len(answer.values)} values to {len(names)} names'
                )
            self._values = {
                name: value for name, value in zip(
                    names, map(parameter_value_to_python, answer.values), strict=True
                ) if value is not None
            }
            self.constraints = constraints_from_parameters(self._values, self._joints)
            self.problem = ''
        except DataError as error:
            self.constraints, self.problem = None, str(error)
        self._settle()

    def _settle(self) -> None:
        if not self._answered.done():
            self._answered.set_result(None)
