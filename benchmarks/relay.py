# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`python -m benchmarks.relay`: what rclpy itself takes to answer a joint state on six topics."""

from __future__ import annotations

import sys

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState

# As many as the predictor has.
TOPICS = tuple(f'/relay/copy_{index}' for index in range(6))
DEPTH = 50  # as the predictor has


def main() -> None:
    """Publish every joint state again on each topic, by the usual executor."""
    rclpy.init()
    node = rclpy.create_node('relay')
    publishers = [
        node.create_publisher(JointState, topic, QoSProfile(depth=10)) for topic in TOPICS
    ]

    def relay(message: JointState) -> None:
        for publisher in publishers:
            publisher.publish(message)

    node.create_subscription(
        JointState, '/joint_states', relay,
        QoSProfile(depth=DEPTH, reliability=ReliabilityPolicy.BEST_EFFORT),
    )
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    try:
        executor.spin()
    except KeyboardInterrupt:
        sys.exit()


if __name__ == '__main__':
    main()
