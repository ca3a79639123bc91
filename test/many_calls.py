# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Many calls of one service at the same time."""

from __future__ import annotations

import time

from rclpy.qos import QoSProfile
from rclpy.task import Future
from ros_helpers import Graph, wait_until
from std_srvs.srv import Trigger


def call_at_once(graph: Graph, service: str, count: int) -> Future:
    """Call a service at once; return the one call that is served, when all others were BUSY."""
    # By default a client takes ten answers at a time.
    client = graph.node.create_client(Trigger, service, qos_profile=QoSProfile(depth=2 * count))
    wait_until(client.service_is_ready, f'the service {service}')
    # The node has met this client when it answers a later one.
    assert not graph.call(f'{service.rpartition("/")[0]}/abort').success
    begin = time.monotonic()
    futures = [client.call_async(Trigger.Request()) for _ in range(count)]
    wait_until(lambda: sum(future.done() for future in futures) >= count - 1, 'the answers')
    print(f'{count - 1} calls of {service} were answered after {time.monotonic() - begin:.3f} s')
    (served,) = (future for future in futures if not future.done())
    for future in futures:
        if future is not served:
            assert not future.result().success
            assert 'BUSY' in future.result().message
    return served
