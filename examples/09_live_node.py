# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Predict torque in a ROS 2 node of your own.

You learn to call `TorquePredictor` for each joint state as it arrives, from a replayed log here.
"""

import os
from pathlib import Path
import time

import numpy as np
import robot_identification as ri
from robot_identification.prediction import TorquePredictor

try:
    import rclpy
    from sensor_msgs.msg import JointState
except ImportError:
    print('skipped: rclpy is missing; source the set-up of a ROS 2 distribution')
    raise SystemExit(0) from None

DATA = Path(__file__).resolve().parent / 'data'


def main() -> None:
    rclpy.init(domain_id=int(os.environ.get('ROS_DOMAIN_ID', 1 + os.getpid() % 100)))
    node = rclpy.create_node('effort_predictor')
    predictor = TorquePredictor(ri.load_model(DATA / 'model.yaml'))
    predicted = node.create_publisher(JointState, 'predicted_effort', 10)
    residuals = []

    def receive(message: JointState) -> None:
        stamp = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
        found = predictor.step(stamp, np.array(message.position), np.array(message.velocity))
        if found is not None:
            residuals.append(found.effort - message.effort)
            predicted.publish(JointState(header=message.header, effort=found.effort))

    node.create_subscription(JointState, 'joint_states', receive, 1000)
    replay = node.create_publisher(JointState, 'joint_states', 1000)
    rows = np.loadtxt(DATA / 'log.csv', delimiter=',', skiprows=1)[:375]
    begin = time.monotonic()
    for row in rows:
        message = JointState(position=row[1:7], velocity=row[7:13], effort=row[13:19])
        message.header.stamp = rclpy.time.Time(seconds=1.0 + row[0]).to_msg()
        replay.publish(message)
        while (left := begin + row[0] - time.monotonic()) > 0.0:
            rclpy.spin_once(node, timeout_sec=left)
    for _ in rows:  # those that a busy computer left waiting
        rclpy.spin_once(node, timeout_sec=0.002)
    rms = np.sqrt(np.mean(np.square(residuals), axis=0)).round(2)
    print(f'{len(residuals)} joint states, RMS residual [N m]: {rms}')
    rclpy.shutdown()


if __name__ == '__main__':
    main()
