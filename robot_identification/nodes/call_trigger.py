# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Call a Trigger service once; the exit code states whether it succeeded.

    python -m robot_identification.nodes.call_trigger /identifier/identify

`ros2 service call` ends with 0 for every answer, and waits forever for a node that has ended.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import os
import sys
import time

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from std_srvs.srv import Trigger

WAIT = 60.0  # for the service to appear [s]; chosen: a node on a busy machine starts in 10
POLL_PERIOD = 1.0  # of asking whether the node is still there [s]; chosen: short for a person
# For a service that is not seen any more [s]; chosen: above a pause of discovery under load.
GONE = 10.0


def call(node: Node, service: str, wait: float) -> tuple[bool, str]:
    """Return whether a service succeeded, and what it said; it may take as long as it lives."""
    client = node.create_client(Trigger, service)
    if not client.wait_for_service(wait):
        return False, f'no service {service} after {wait:g} s: does its node run?'
    future = client.call_async(Trigger.Request())
    seen = time.monotonic()
    while not future.done():
        rclpy.spin_until_future_complete(node, future, timeout_sec=POLL_PERIOD)
        seen = time.monotonic() if client.service_is_ready() else seen
        if time.monotonic() - seen > GONE:
            return False, f'{service} is gone, and has not answered'
    answer = future.result()
    return bool(answer.success), str(answer.message)


def main(arguments: Sequence[str] | None = None) -> int:
    """Call as the arguments say; 0: success, 1: none, 130: interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('service', help='its name')
    parser.add_argument('--wait', type=float, default=WAIT, help='for the service to appear [s]')
    options = parser.parse_args(arguments)
    rclpy.init()
    try:
        node = rclpy.create_node(f'caller_{os.getpid()}')
        success, message = call(node, options.service, options.wait)
    except (KeyboardInterrupt, ExternalShutdownException):
        return 130
    finally:
        rclpy.try_shutdown()
    print(f'{options.service}: {message}', file=sys.stdout if success else sys.stderr, flush=True)
    return 0 if success else 1


if __name__ == '__main__':
    sys.exit(main())
