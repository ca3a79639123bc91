# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A node in a process of its own that claims an arm, and holds it until it is killed."""

import sys
import time

import rclpy
from robot_identification.nodes.arm_claim import ArmClaim, HostNames


def main():
    """Claim the joints named, on a host of the name given, and say so."""
    host, *joints = sys.argv[1:]
    rclpy.init(args=[])
    node = rclpy.create_node('claimant')
    claim = ArmClaim(node, 'joint_states', host=HostNames(host))
    claim.acquire(joints)
    print('claimed', flush=True)
    end = time.monotonic() + 60.0
    while time.monotonic() < end:
        rclpy.spin_once(node, timeout_sec=0.1)


if __name__ == '__main__':
    main()
