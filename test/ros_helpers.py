# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
A ROS graph for one test: its own domain on this host, node processes, a client node.

Importing this file skips the test module that does so where rclpy is not installed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
import signal
import threading
import time
from typing import Any

from forked_nodes import Forker, NODES
import pytest
from rcl_interfaces.msg import SetParametersResult
from rcl_interfaces.srv import (
    GetParameters, GetParameterTypes, SetParameters, SetParametersAtomically,
)
from rclpy.duration import Duration
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from rclpy.task import Future
from robot_identification.cli.processes import (
    isolated_environment, NodeProcess, own_domain, running,
)
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

try:
    import rclpy
except ImportError as error:
    pytest.skip(f'needs ROS 2: {error}', allow_module_level=True)

DEADLINE = 20.0
POLL = 0.02
ANYWHERE = {'allowed_read_roots': ['/'], 'allowed_write_roots': ['/']}
RELIABLE = QoSProfile(depth=10_000, reliability=ReliabilityPolicy.RELIABLE)
BEST_EFFORT = QoSProfile(depth=10_000, reliability=ReliabilityPolicy.BEST_EFFORT)
PROFILE_VARIABLES = ('FASTRTPS_DEFAULT_PROFILES_FILE', 'FASTDDS_DEFAULT_PROFILES_FILE')
LATCHED = QoSProfile(
    depth=1,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)


# Added to the shipped Fast DDS profile for the clients here: what a busy machine lost is sent
# again after 50 ms instead of 3 s, and acknowledgements come as fast.
QUICK_REPAIR = """
  <data_writer profile_name="quick_repair" is_default_profile="true">
    <times>
      <heartbeatPeriod><sec>0</sec><nanosec>50000000</nanosec></heartbeatPeriod>
    </times>
  </data_writer>
</profiles>
"""


# Those of the tests that run now, for whoever explains a failure.
OPEN_GRAPHS: list[Graph] = []
LAST_WORDS = 3000


def seconds(stamp) -> float:
    return stamp.sec + stamp.nanosec * 1e-9


def joint_state(nanoseconds, names, position, velocity, effort) -> JointState:
    """Return a joint state with a stamp [ns]."""
    message = JointState(
        name=list(names), position=[float(q) for q in position],
        velocity=[float(dq) for dq in velocity], effort=[float(value) for value in effort],
    )
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(nanoseconds, 10**9)
    return message


def deserialized(kind: type, data: bytes) -> Any:
    """Return the message in bytes that came over the wire, read by ROS itself."""
    return deserialize_message(data, kind)


def acknowledged(publisher) -> bool:
    """Wait until everything published has arrived at every reliable listener."""
    return publisher.wait_for_all_acked(Duration(seconds=DEADLINE))


def wait_until(condition: Callable[[], Any], what: str, deadline: float = DEADLINE) -> Any:
    """Return what `condition` returns as soon as it is true; fail after `deadline` seconds."""
    end = time.monotonic() + deadline
    while True:
        value = condition()
        if value:
            return value
        for graph in OPEN_GRAPHS:
            if graph.failure is not None:
                raise graph.failure
        if time.monotonic() > end:
            pytest.fail(f'waited {deadline:g} s for {what}')
        time.sleep(POLL)


@contextmanager
def paused(process: NodeProcess) -> Iterator[None]:
    """Let a process stand still; what comes meanwhile waits, or is lost."""
    process.process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        process.process.send_signal(signal.SIGCONT)


def told_in(statuses: list, name: str) -> list[tuple[bytes, str, dict[str, str]]]:
    """Return level, message and values of the diagnostics of a name, oldest first."""
    return [
        (status.level, status.message, {pair.key: pair.value for pair in status.values})
        for message in list(statuses) for status in message.status if status.name == name
    ]


class TestedNode(NodeProcess):
    """A node that need not import anything any more, unless it has variables of its own."""

    def __init__(self, *given: Any, remap: tuple[str, ...], forked: bool) -> None:
        self._remap, self._forked = [word for rule in remap for word in ('-r', rule)], forked
        super().__init__(*given)

    def _start(self, arguments: list[str], environment: dict[str, str]) -> Any:
        if self._forked:
            return forker().start(self.name, arguments + self._remap, environment, self.log)
        return super()._start(arguments + self._remap, environment)


@cache
def forker() -> Forker:
    """Return the process that forks nodes for the tests here."""
    return Forker()


class Graph:
    """Nodes of ours as processes and clients in this process, on one private domain."""

    def __init__(self, domain: int, folder: Path, environment: Mapping[str, str]) -> None:
        self.domain, self.folder, self.environment = domain, folder, dict(environment)
        self.processes: list[NodeProcess] = []
        self._killed: set[NodeProcess] = set()
        self._context = rclpy.Context()
        rclpy.init(args=[], context=self._context, domain_id=domain)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._nodes: list[Node] = []
        self._clients: dict[str, Any] = {}
        self._closing = threading.Event()
        # What ended the thread of the clients, which then hear nothing more.
        self.failure: Exception | None = None
        self._thread = threading.Thread(target=self._spin)
        self.node = self.add_node('test_client')
        self._thread.start()

    def _spin(self) -> None:
        try:
            while not self._closing.is_set():
                self._executor.spin_once(timeout_sec=0.05)
        except Exception as error:
            self.failure = error
            raise

    def run(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Call a function in the thread that waits for messages; wait for its end."""
        # An entity that another thread destroys during that wait ends it by InvalidHandle.
        task = self._executor.create_task(function, *arguments)
        wait_until(task.done, function.__name__)
        task.result()

    def end_publisher(self, publisher: Any) -> None:
        """Take a publisher of the client node off the graph."""
        self.run(self.node.destroy_publisher, publisher)

    def close(self) -> None:
        self._closing.set()
        self._thread.join()
        self._executor.shutdown()
        for node in self._nodes:
            node.destroy_node()
        self._context.try_shutdown()

    def add_node(self, name: str, namespace: str = '', *remap: str) -> Node:
        arguments = ['--ros-args', *(word for rule in remap for word in ('-r', rule))]
        node = Node(name, context=self._context, namespace=namespace, enable_rosout=False,
                    start_parameter_services=False, cli_args=arguments)
        self._nodes.append(node)
        self._executor.add_node(node)
        return node

    def remove_node(self, node: Node) -> None:
        self._nodes.remove(node)
        self.run(self._executor.remove_node, node)
        self.run(node.destroy_node)

    def start(
        self,
        name: str,
        parameters: Mapping[str, Any] | None = None,
        environment: Mapping[str, str] | None = None,
        *remap: str,
    ) -> NodeProcess:
        """Start an executable; several of one name get logs of their own."""
        # It may read and write everywhere, unless `parameters` say otherwise; `remap` has rules
        # such as `__ns:=/left`.
        process = TestedNode(
            name, {**ANYWHERE, **(parameters or {})}, {**self.environment, **(environment or {})},
            self.folder / f'{name}_{len(self.processes)}.log',
            remap=remap, forked=environment is None and name in NODES,
        )
        self.processes.append(process)
        return process

    def kill(self, process: NodeProcess) -> None:
        self._killed.add(process)
        process.process.kill()
        process.process.wait()

    def exit_code(self, process: NodeProcess, deadline: float = DEADLINE) -> int:
        wait_until(lambda: process.exit_code is not None, f'the end of {process.name}', deadline)
        return process.process.returncode

    def check_endings(self) -> None:
        """Fail if a node had to be killed, or showed a traceback."""
        for process in self.processes:
            said = process.log.read_text(errors='replace')
            print(f'--- {process.name} ended with {process.exit_code}\n{said}')
        for process in self.processes:
            if process in self._killed:
                continue
            assert process.exit_code != -signal.SIGKILL, f'{process.name} did not hear SIGINT'
            said = process.log.read_text(errors='replace')
            assert 'Traceback' not in said, f'{process.name} shows a traceback:\n{said}'

    def describe(self) -> str:
        """Return how all processes are, with their last words."""
        return '\n'.join(
            f'--- {process.name}: exit code {process.exit_code}, domain {self.domain}\n'
            + process.log.read_text(errors='replace')[-LAST_WORDS:]
            for process in self.processes
        )

    def hear(self, kind: type, topic: str, qos: QoSProfile = RELIABLE) -> list:
        """Return a list that grows with every message of a topic."""
        heard: list = []
        self.node.create_subscription(kind, topic, heard.append, qos)
        return heard

    def hear_matched(self, kind: type, topic: str, qos: QoSProfile = RELIABLE) -> list:
        """Return the same as `hear`, as soon as a publisher is there."""
        heard = self.hear(kind, topic, qos)
        wait_until(lambda: self.node.count_publishers(topic), f'a publisher of {topic}')
        return heard

    def publisher(self, kind: type, topic: str, qos: QoSProfile = RELIABLE, listeners: int = 1):
        """Return a publisher that has found its listeners."""
        publisher = self.node.create_publisher(kind, topic, qos)
        wait_until(
            lambda: publisher.get_subscription_count() >= listeners, f'a listener to {topic}'
        )
        return publisher

    def request(self, kind: type, service: str, request: Any) -> Future:
        """Send a request as soon as the service is there; return the future."""
        if service not in self._clients:
            client = self.node.create_client(kind, service)
            wait_until(client.service_is_ready, f'the service {service}')
            self._wait_until_known(service.rpartition('/')[0])
            self._clients[service] = client
        return self._clients[service].call_async(request)

    def _wait_until_known(self, node: str) -> None:
        """Wait until a node has met every client made so far."""
        # An answer to a client that the node has not met yet is lost. Discovery keeps the order,
        # so a node that answers a client made last has met the others; asking again does no harm
        # here.
        client = self.node.create_client(GetParameterTypes, f'{node}/get_parameter_types')
        wait_until(client.service_is_ready, f'the parameter services of {node}')
        deadline = time.monotonic() + DEADLINE
        future = client.call_async(GetParameterTypes.Request())
        asked = time.monotonic()
        while not future.done():
            if time.monotonic() > deadline:
                pytest.fail(f'waited {DEADLINE:g} s for an answer of {node}')
            if time.monotonic() > asked + 1.0:
                future = client.call_async(GetParameterTypes.Request())
                asked = time.monotonic()
            time.sleep(POLL)
        self.run(self.node.destroy_client, client)

    def answer(self, future: Future, deadline: float = DEADLINE) -> Any:
        wait_until(future.done, 'an answer', deadline)
        return future.result()

    def call(self, service: str, deadline: float = DEADLINE) -> Trigger.Response:
        return self.answer(self.request(Trigger, service, Trigger.Request()), deadline)

    def done(self, service: str, deadline: float = DEADLINE) -> str:
        """Call a Trigger service that has to succeed; return its message."""
        answer = self.call(service, deadline)
        assert answer.success, answer.message
        return answer.message

    def refused(self, service: str, deadline: float = DEADLINE) -> str:
        """Call a Trigger service that must not succeed; return why."""
        answer = self.call(service, deadline)
        assert not answer.success, answer.message
        return answer.message

    def configure(self, node: str, values: Mapping[str, Any]) -> list:
        """Set parameters of a node; return the reasons of those that were refused."""
        request = SetParameters.Request(parameters=_messages(values))
        answer = self.answer(self.request(SetParameters, f'{node}/set_parameters', request))
        return [result.reason for result in answer.results if not result.successful]

    def call_with(self, service: str, values: Mapping[str, Any]) -> SetParametersResult:
        """Call a service with its arguments; return its answer."""
        request = SetParametersAtomically.Request(parameters=_messages(values))
        future = self.request(SetParametersAtomically, f'{service}_with', request)
        return self.answer(future).result

    def parameter(self, node: str, name: str) -> Any:
        """Return the value of a parameter of a node."""
        request = GetParameters.Request(names=[name])
        answer = self.answer(self.request(GetParameters, f'{node}/get_parameters', request))
        return parameter_value_to_python(answer.values[0])


def _messages(values: Mapping[str, Any]) -> list:
    return [Parameter(name, value=value).to_parameter_msg() for name, value in values.items()]


@contextmanager
def own_graph(folder: Path) -> Iterator[Graph]:
    """Yield a graph that no other test shares; its processes are stopped and looked at."""
    with pytest.MonkeyPatch.context() as patch, own_domain() as domain:
        # The clients here see the same part of the world as the processes.
        environment = isolated_environment(domain)
        shipped = Path(environment[PROFILE_VARIABLES[0]]).read_text()
        profile = folder / 'fast_dds.xml'
        profile.write_text(shipped.replace('</profiles>', QUICK_REPAIR))
        for name, value in environment.items():
            patch.setenv(name, str(profile) if name in PROFILE_VARIABLES else value)
        graph = Graph(domain, folder, environment)
        OPEN_GRAPHS.append(graph)
        try:
            with running(graph.processes):
                yield graph
        finally:
            OPEN_GRAPHS.remove(graph)
            graph.close()
        graph.check_endings()


def state_message(state, **values):
    """Return what a node publishes on ~/state."""
    from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

    return DiagnosticArray(status=[DiagnosticStatus(message=state, values=[
        KeyValue(key=key, value=str(value)) for key, value in values.items()
    ])])


def state_in(message):
    """Return a state and its values, all of them texts, as ~/state and ~/status have them."""
    status, = message.status
    return {'state': status.message, **{one.key: one.value for one in status.values}}
