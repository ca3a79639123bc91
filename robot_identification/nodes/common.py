# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""What every node needs: parameters with descriptions, QoS, and one way to run and to stop."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
import signal
import sys
from typing import Any

from rcl_interfaces.msg import FloatingPointRange
from rcl_interfaces.msg import IntegerRange
from rcl_interfaces.msg import ParameterDescriptor
import rclpy
from rclpy.exceptions import ParameterException
from rclpy.executors import MultiThreadedExecutor
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy
from rclpy.qos import QoSProfile
from rclpy.qos import ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from robot_identification.errors import IdentificationError
from robot_identification.errors import UsageError

LATCHED = QoSProfile(
    depth=1,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
INTERRUPTED = 130


def declare(
    node: Node,
    name: str,
    default: Any,
    description: str,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
) -> Any:
    """
    Declare a parameter with its description and range, and return its value.

    Raises
    ------
    UsageError
        If the node was started with a value of another type or out of range.

    """
    descriptor = ParameterDescriptor(description=description)
    if minimum is not None and maximum is not None:
        if isinstance(default, int):
            descriptor.integer_range = [
                IntegerRange(from_value=int(minimum), to_value=int(maximum), step=0)
            ]
        else:
            descriptor.floating_point_range = [
                FloatingPointRange(from_value=float(minimum), to_value=float(maximum), step=0.0)
            ]
    try:
        return node.declare_parameter(name, default, descriptor).value
    except ParameterException as error:
        raise UsageError(f'{node.get_name()}: {error}') from error


def named_file(node: Node, name: str) -> str:
    """
    Return a parameter that names a file.

    Raises
    ------
    UsageError
        If it is empty.

    """
    value = node.get_parameter(name).value
    if not value:
        raise UsageError(f'the parameter {name} of {node.get_name()} is not set')
    return str(value)


def declare_robot(node: Node) -> None:
    """Declare the parameters that say which arm."""
    declare(node, 'robot', 'ur5', 'known robot, or the path of a robot YAML')
    declare(
        node, 'drive_gains', [0.0],
        'joint torque per motor current [N m/A], kinematic order; [0.0]: those of the robot YAML',
    )
    declare(
        node, 'mounting', [0.0, 0.0, 0.0],
        'roll, pitch, yaw of the root frame in the world [rad]',
    )
    declare(
        node, 'gravity', [0.0],
        "gravity in the URDF's root frame [m/s^2], instead of mounting; [0.0]: by mounting",
    )


class StopRequest:
    """Set by SIGINT and SIGTERM; nodes finish what must be finished, then leave."""

    def __init__(self) -> None:
        self.signal: int | None = None

    def __call__(self, number: int, frame: Any) -> None:
        """Note the signal."""
        self.signal = number


def run_node(
    make_node: Callable[[], Node], *, threads: int = 1, arguments: Sequence[str] | None = None
) -> int:
    """
    Run a node until it is done or asked to stop; return the exit code of its process.

    A node may have `finished` (its exit code, once it has one) and `close()`, called when the
    process is asked to stop and again until it returns True, so that a motion can come to rest.
    The wait is bounded, because a wait without end can miss a signal.
    """
    stop = StopRequest()
    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    executor = (
        SingleThreadedExecutor() if threads == 1 else MultiThreadedExecutor(num_threads=threads)
    )
    node = None
    try:
        node = make_node()
        executor.add_node(node)
        while getattr(node, 'finished', None) is None and stop.signal is None:
            executor.spin_once(timeout_sec=0.1)
        close = getattr(node, 'close', lambda: True)
        while not close():
            executor.spin_once(timeout_sec=0.05)
        executor.remove_node(node)
        # What the threads have already taken ends before its handles are destroyed.
        executor.spin_once(timeout_sec=0.1)
        return getattr(node, 'finished', None) or 0
    except IdentificationError as error:
        print(f'error: {error}', file=sys.stderr)
        return error.exit_code
    finally:
        executor.shutdown()
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
