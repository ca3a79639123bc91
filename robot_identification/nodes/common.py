# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Common parts of every node: parameters with descriptions, QoS, start and stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager
import math
import signal
import sys
import time
from typing import Any
from weakref import WeakKeyDictionary

from rcl_interfaces.msg import (
    FloatingPointRange, IntegerRange, ParameterDescriptor, SetParametersResult,
)
from rcl_interfaces.srv import GetParameters, SetParametersAtomically
import rclpy
from rclpy.clock import Clock, ClockType
from rclpy.exceptions import InvalidParameterValueException, ParameterException
from rclpy.executors import Executor, MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from robot_identification.allowed_paths import root_folders
from robot_identification.cli import ending_signals
from robot_identification.errors import IdentificationError, UsageError
from robot_identification.nodes.bounds import ParameterBounds
from robot_identification.nodes.command_line import asked_help, options_as_parameters
from robot_identification.nodes.direct_subscription import DirectClient
from robot_identification.options import options_of
from robot_identification.removed import describe_unknown, REMOVED
from robot_identification.texts import suggestion
from std_srvs.srv import Trigger

LATCHED = QoSProfile(
    depth=1,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
# For timers: a simulated or replayed /clock may stand still.
STEADY_CLOCK = Clock(clock_type=ClockType.STEADY_TIME)
# Calls at once that wait to be answered; by default ten are kept.
SERVICE_QOS = QoSProfile(depth=1000)
READ_ROOTS = 'allowed_read_roots'
WRITE_ROOTS = 'allowed_write_roots'
# Logs then go to stderr and /rosout only.
WITHOUT_LOG_FILES = ('--ros-args', '--disable-external-lib-logs', '--')
INTERRUPTED = 130  # exit code; 128 + SIGINT, as shells have it
# For an ending after an unexpected error [s]; chosen: above the longest stop, 3.7 s by topic
# (docs/execution.md).
NEED_SECONDS = 6.0
LONGEST_ERROR = 300  # of a text of rclpy [characters]; chosen: a few lines of a terminal
# [s] of wall time; chosen: above discovery, 3 s at most (docs/security.md), and the 2 s for which
# a simulated robot that is started together with a node looks for others before it publishes.
CLOCK_TIMEOUT = 6.0
WARNED_EVERY = 30.0  # [s]; chosen: a reminder, and no flood
# After its start, in which a node looks whether its name is free [s]; chosen: twice the longest
# discovery (docs/security.md), of the name and of its services.
START_SECONDS = 6.0
STARTED_AT = 'started_at'
# Parameters of 1.0 that named a topic: without it another arm would be watched or commanded.
WATCHED_TOPICS = ('joint_states_topic', 'commands_topic')
NAME_PERIOD = 0.1  # [s]; chosen: a query of the graph costs milliseconds
_BOUNDS: MutableMapping[Node, dict[str, ParameterBounds]] = WeakKeyDictionary()


def declare(
    node: Node,
    name: str,
    default: Any,
    description: str,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    choices: Sequence[str] = (),
    longest: int | None = None,
    check: Callable[[Any], object] | None = None,
    read_only: bool = False,
) -> Any:
    """
    Declare a parameter with its description and bounds, and return its value.

    The type of `default` is that of the parameter; a `Parameter.Type` in its place is the type of
    a parameter that is not set, see `value_of`. Bounds hold for a number or text, or for each one
    of a list; `longest` limits the characters of a text or the entries of a list, see
    `ParameterBounds`. `check` raises an IdentificationError for a value that cannot be used. A
    `read_only` parameter is set at the start of the node only. Raises UsageError if the node was
    started with a value of another type or out of bounds; parameter services refuse such a value
    later, with a reason that names value and limit.
    """
    bounds = ParameterBounds(minimum, maximum, tuple(choices), longest, check)
    is_list = isinstance(default, (list, Parameter.Type))
    descriptor = ParameterDescriptor(
        description=description, read_only=read_only,
        additional_constraints=bounds.describe([] if is_list else default),
    )
    if minimum is not None and maximum is not None and isinstance(default, (int, float)):
        if isinstance(default, int):
            descriptor.integer_range = [
                IntegerRange(from_value=int(minimum), to_value=int(maximum), step=0)
            ]
        else:
            descriptor.floating_point_range = [
                FloatingPointRange(from_value=float(minimum), to_value=float(maximum), step=0.0)
            ]
    _bounds_of(node)[name] = bounds
    try:
        return node.declare_parameter(name, default, descriptor).value
    except ParameterException as error:
        raise UsageError(f'{node.get_name()}: {_in_words(error, name)}') from error


def value_of(node: Node, name: str) -> Any:
    """Return the value of a parameter, None where it is not set."""
    return node.get_parameter_or(name).value


def declare_options(
    node: Node, kind: type, *, prefix: str = '', read_only: bool = False
) -> None:
    """Declare the options of a dataclass as parameters, see `robot_identification.options`."""
    for one in options_of(kind):
        declare(
            node, prefix + one.key, one.parameter_default, one.parameter_description,
            minimum=one.minimum, maximum=one.maximum, check=one.check, read_only=read_only,
            # Without a default an empty text is none of them.
            choices=('', *one.choices) if one.choices and one.default is None else one.choices,
        )


def _in_words(error: ParameterException, name: str) -> str:
    """Return what rclpy says, without the value, which may be millions of numbers."""
    text = str(error).removesuffix(f': {name}')
    if isinstance(error, InvalidParameterValueException):
        return text.rpartition('for parameter. Reason: ')[2]
    return text if len(text) <= LONGEST_ERROR else f'{text[:LONGEST_ERROR]}..'


def _bounds_of(node: Node) -> dict[str, ParameterBounds]:
    """Return the bounds of a node's parameters, which are kept from the first one on."""
    if node not in _BOUNDS:
        bounds = _BOUNDS[node] = {}

        def refuse(parameters: Sequence[Parameter]) -> SetParametersResult:
            for parameter in parameters:
                if parameter.name in bounds:
                    reason = bounds[parameter.name].refusal(parameter.name, parameter.value)
                    if reason:
                        return SetParametersResult(successful=False, reason=reason)
            return SetParametersResult(successful=True)

        node.add_on_set_parameters_callback(refuse)
    return _BOUNDS[node]


def in_parameters(text: str) -> str:
    """Return a message of the core with this process's parameters in the place of options."""
    return options_as_parameters(text, {name for bounds in _BOUNDS.values() for name in bounds})


def check_overrides(node: Node, given: Sequence[str]) -> None:
    """
    Look for values of parameters that a node does not have, after it declared all.

    `given` is the command line. Raises UsageError for one that is on it, and for one that was
    the topic to watch or to command before; any other of a file, which several nodes may share, is
    logged.
    """
    # rclpy has no public name for the values that a node was started with.
    known = list(_bounds_of(node))
    typed = {word.partition(':=')[0].rpartition(':')[2] for word in given if ':=' in word}
    for name in getattr(node, '_parameter_overrides', {}):
        if node.has_parameter(name) or name.startswith('qos_overrides.'):
            continue
        near = suggestion(name, known)
        text = describe_unknown(f'parameter of {node.get_name()},', name, ()) if (
            name in REMOVED
        ) else (
            f'{node.get_name()} has no parameter {name}{f" ({near})" if near else ""}: '
            'docs/parameters.md lists all'
        )
        if name in typed or name in WATCHED_TOPICS:
            raise UsageError(text)
        node.get_logger().warning(text)


def act_after_setting(node: Node, act: Callable[[Sequence[Parameter]], object]) -> None:
    """
    Call `act` with parameters that were set, after the callbacks that may refuse one of them.

    To be called after those callbacks of the node that prepare what is acted on were added.
    """
    if hasattr(node, 'add_post_set_parameters_callback'):
        node.add_post_set_parameters_callback(act)
        return
    # Humble has no such callback. What was set has its value when the executor turns next, or
    # before something else is set.
    accepted: list[Sequence[Parameter]] = []

    def act_on_set() -> None:
        while accepted:
            parameters = accepted.pop(0)
            if all(node.get_parameter(one.name).value == one.value for one in parameters):
                act(parameters)

    turn = node.create_guard_condition(act_on_set)

    def note(parameters: Sequence[Parameter]) -> SetParametersResult:
        act_on_set()
        accepted.append(parameters)
        turn.trigger()
        return SetParametersResult(successful=True)

    node.add_on_set_parameters_callback(note)


def set_own_parameter(node: Node, name: str, value: Any) -> None:
    """Set a parameter of this node; raise UsageError with the reason if it is refused."""
    _set_all(node, [Parameter(name, value=value)])


def declare_robot(node: Node) -> None:
    """Declare the parameters that say which arm, and those of `declare_roots`."""
    declare_roots(node)
    declare(node, 'robot', 'ur5', 'known robot, or the path of a robot YAML')
    declare(
        node, 'drive_gains', Parameter.Type.DOUBLE_ARRAY,
        'joint torque per motor current [N m/A], kinematic order; not set: those of the robot '
        'YAML',
        minimum=-1e5, maximum=1e5, longest=64,
    )
    declare(
        node, 'mounting', [0.0, 0.0, 0.0],
        'roll, pitch, yaw of the root frame in the world [rad]',
        minimum=-2 * math.pi, maximum=2 * math.pi, longest=3, check=_check_mounting,
    )
    declare(
        node, 'gravity', Parameter.Type.DOUBLE_ARRAY,
        "gravity in the URDF's root frame [m/s^2], instead of mounting; not set: by mounting",
        minimum=-30.0, maximum=30.0, longest=3,
    )


def _check_mounting(angles: Sequence[float]) -> None:
    if len(angles) != 3:
        raise UsageError(f'{list(angles)}: roll, pitch and yaw [rad] are needed')


def declare_roots(node: Node) -> None:
    """
    Declare `allowed_read_roots` and `allowed_write_roots`, which cannot be set later.

    `declare_robot` has done it already; once more does no harm. Raises UsageError if a root is no
    absolute path of a folder.
    """
    for name, verb in ((READ_ROOTS, 'read'), (WRITE_ROOTS, 'write')):
        if not node.has_parameter(name):
            declare(
                node, name, Parameter.Type.STRING_ARRAY,
                f'folders below which this node may {verb} what parameters name; not set: '
                '~/.ros/robot_identification and the working directory at the start',
                longest=64, check=root_folders, read_only=True,
            )


def serve(node: Node, name: str, answer: Callable[[], str], **options: Any) -> None:
    """
    Offer a Trigger service.

    `answer` returns the message of a success, and raises an IdentificationError or OSError with
    that of a refusal, which is logged. `options` are those of `Node.create_service`.
    """
    def on_call(request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success, response.message = _attempt(node, answer)
        return response

    node.create_service(Trigger, name, on_call, qos_profile=SERVICE_QOS, **options)


def serve_with_arguments(
    node: Node, name: str, answer: Callable[[Callable[[], None]], str], **options: Any
) -> None:
    """
    Offer a service as `serve` does, and another one whose call has all its arguments.

    The name of the other one ends in ``_with``; its request has parameters. `answer` is called
    with a function that sets them, all or none, and calls that once nothing else is at work: what
    another call has begun keeps its own, and a call that is refused as the node is busy sets none.
    """
    def on_call(
        request: SetParametersAtomically.Request, response: SetParametersAtomically.Response
    ) -> SetParametersAtomically.Response:
        parameters = [Parameter.from_parameter_msg(one) for one in request.parameters]
        response.result.successful, response.result.reason = _attempt(
            node, lambda: answer(lambda: _set_all(node, parameters))
        )
        return response

    serve(node, name, lambda: answer(no_arguments), **options)
    node.create_service(
        SetParametersAtomically, f'{name}_with', on_call, qos_profile=SERVICE_QOS, **options
    )


def no_arguments() -> None:
    """Set nothing: the parameters of the node are the arguments."""


def _attempt(node: Node, answer: Callable[[], str]) -> tuple[bool, str]:
    """Return whether a call succeeds, and its message; a refusal is logged."""
    try:
        return True, answer()
    except (IdentificationError, OSError) as error:
        reason = in_parameters(str(error))
        node.get_logger().error(reason)
        return False, reason


def _set_all(node: Node, parameters: list[Parameter]) -> None:
    """Set parameters of this node, all or none; raise UsageError with the reason of a refusal."""
    try:
        result = node.set_parameters_atomically(parameters)
        reason = '' if result.successful else result.reason
    except ParameterException as error:
        reason = str(error)
    if reason:
        names = ', '.join(parameter.name for parameter in parameters)
        raise UsageError(f'{names} of {node.get_name()} cannot be set: {reason}')


class StopRequest:
    """Set by the signals that end a process; nodes finish what must be finished, then leave."""

    def __init__(self) -> None:
        self.signal: int | None = None

    def __call__(self, number: int, frame: Any) -> None:
        """Note the signal."""
        self.signal = number


class ClockWatch:
    """Warns of a node that waits for /clock in vain: its time stands still, and so do timers."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._warn_at = time.monotonic() + CLOCK_TIMEOUT

    def update(self) -> None:
        """Warn after a few seconds of wall time, and every half minute from then on."""
        if time.monotonic() < self._warn_at:
            return
        self._warn_at += WARNED_EVERY
        clock = self._node.get_clock()
        if clock.ros_time_is_active and clock.now().nanoseconds == 0:
            self._node.get_logger().warning(
                f'use_sim_time is set and nothing came on /clock for {CLOCK_TIMEOUT:.0f} s: '
                'start the simulator or `ros2 bag play --clock`, or set use_sim_time to false'
            )


class NameWatch:
    """
    Looks for another node of the same full name: services would reach the one or the other.

    The graph lists a crashed node for many seconds, so the name is asked when its node started;
    both answer that live. Where that was before this node, which has just been started, `refusal`
    says why this one has to end. Later it only warns.
    """

    def __init__(self, node: Node, started_at: int) -> None:
        self._node, self._name = node, node.get_fully_qualified_name()
        self._started_at = declare(
            node, STARTED_AT, started_at, 'start of the node [ns of the system clock]',
            minimum=0, maximum=2**62, read_only=True,
        )
        self._client = DirectClient(node, GetParameters, f'{self._name}/get_parameters')
        self._began = self._next = time.monotonic()
        self.refusal = ''

    def update(self) -> None:
        """Look at the graph, and ask where the name is there twice."""
        now = time.monotonic()
        if now < self._next:
            return
        is_new = now - self._began < START_SECONDS
        self._next = now + (NAME_PERIOD if is_new else START_SECONDS)
        starts = [answer.values for _, answer in self._client.take()]
        own = self._node.get_name(), self._node.get_namespace()
        if self._node.get_node_names_and_namespaces().count(own) < 2:
            return
        # One that does not know when it started is none of ours, and would not end.
        if is_new and any(
            not values or values[0].integer_value < self._started_at for values in starts
        ):
            self.refusal = (
                f'another node named {self._name} is running on this graph: stop that one first, '
                'or give this one another name or namespace'
            )
        elif is_new:
            self._client.ask(GetParameters.Request(names=[STARTED_AT]))
        else:
            self._node.get_logger().warning(
                f'two nodes named {self._name} are on this graph, and services reach the one or '
                'the other: end one of them; one that has crashed is listed for some 20 s more',
                throttle_duration_sec=WARNED_EVERY,
            )


@contextmanager
def _refusals_of_ros() -> Iterator[None]:
    """Turn what ROS refuses at a start (keys, arguments, names) into an error of words."""
    try:
        yield
    except RuntimeError as error:
        # Those of rclpy's core have no public name.
        if not type(error).__module__.startswith('rclpy'):
            raise
        raise UsageError(f'ROS refuses to start this node: {error}') from error


class WaitingExecutor(MultiThreadedExecutor):
    """Executor whose threads end what they have taken before its shutdown."""

    def shutdown(self, *given: Any, **named: Any) -> bool:
        """Wait for the threads first: rclpy's own destroys what their callbacks still use."""
        # Without limit: Python waits for the threads of a pool before a process ends, so that a
        # limit would not end it sooner, and would leave them with what is destroyed.
        self._executor.shutdown()
        return bool(super().shutdown(*given, **named))


def run_node(
    make_node: Callable[[], Node], *, threads: int = 1, arguments: Sequence[str] | None = None
) -> int:
    """
    Run a node until it is done or asked to stop; return the exit code of its process.

    A node may have `finished` (its exit code, once it has one), `failure` (the error that ended a
    thread of its own, which is raised) and `close()`, called when the process is asked to stop and
    again until it returns True, so that a motion can come to rest. The wait is bounded, because a
    wait without end can miss a signal. A node whose name another one has ends at its start with
    the exit code of a wrong call. Where `arguments` ask for help, the process ends with it.
    """
    given = list(sys.argv if arguments is None else arguments)
    try:
        with _refusals_of_ros():
            text = asked_help(given, make_node)
    except UsageError as error:
        print(f'error: {error}', file=sys.stderr)
        return error.exit_code
    if text is not None:
        print(text)
        return 0
    return _run_until_asked(make_node, threads, given)


def _run_until_asked(make_node: Callable[[], Node], threads: int, given: list[str]) -> int:
    stop, started_at = StopRequest(), time.time_ns()
    for number in ending_signals():
        signal.signal(number, stop)
    executor: Executor | None = None
    node = None
    try:
        with _refusals_of_ros():
            problem = _start_ros(given)
            executor = (
                SingleThreadedExecutor() if threads == 1
                else WaitingExecutor(num_threads=threads)
            )
            node = make_node()
        check_overrides(node, given)
        executor.add_node(node)
        if problem:
            node.get_logger().warning(f'{problem}: no log file is written; set ROS_LOG_DIR')
        name, clock = NameWatch(node, started_at), ClockWatch(node)
        while not (stop.signal or name.refusal or getattr(node, 'finished', None) is not None):
            executor.spin_once(timeout_sec=0.1)
            name.update()
            clock.update()
            _raise_failure(node)
        _close(node, executor)
        if name.refusal:
            raise UsageError(name.refusal)
        return getattr(node, 'finished', None) or 0
    except IdentificationError as error:
        print(f'error: {in_parameters(str(error))}', file=sys.stderr)
        return error.exit_code
    except Exception:
        if node is not None and executor is not None:
            _close_after_error(node, executor)
        raise
    finally:
        if executor is not None:
            executor.shutdown()
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()


def _start_ros(given: list[str]) -> str:
    """
    Start ROS; return why it cannot write its log files, empty where it can.

    A home that is read-only or missing is common in containers and for service accounts.
    """
    try:
        rclpy.init(args=given, signal_handler_options=SignalHandlerOptions.NO)
    except RuntimeError as error:
        if 'logging' not in str(error):
            raise
        rclpy.try_shutdown()
        rclpy.init(
            args=[*given, *WITHOUT_LOG_FILES], signal_handler_options=SignalHandlerOptions.NO
        )
        return str(error).partition(', at ')[0]
    return ''


def _raise_failure(node: Node) -> None:
    """Raise the error that ended a thread of the node, as one of a callback is raised."""
    failure: Exception | None = getattr(node, 'failure', None)
    if failure is not None:
        raise failure


def _close(node: Node, executor: Executor) -> None:
    """Make a node end what it does, and take it out of the executor."""
    close = getattr(node, 'close', lambda: True)
    while not close():
        executor.spin_once(timeout_sec=0.05)
    executor.remove_node(node)


def _close_after_error(node: Node, executor: Executor) -> None:
    """Make a node end what it does, a motion above all, though something in it has failed."""
    close = getattr(node, 'close', lambda: True)
    deadline = time.monotonic() + NEED_SECONDS
    while time.monotonic() < deadline:
        try:
            if close():
                return
            executor.spin_once(timeout_sec=0.05)
        except Exception as error:
            print(f'error: {error!r}', file=sys.stderr)
