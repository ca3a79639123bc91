# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A node in a process of its own that claims an arm, and holds it until it is killed."""

import sys
import time

import rclpy
from robot_identification.nodes.arm_claim import ArmClaim


def main():
    """Claim the joints named, and say so."""
    rclpy.init(args=[])
    claim = ArmClaim(rclpy.create_node('claimant'))
    claim.acquire(sys.argv[1:])
    print('claimed', flush=True)
    time.sleep(60.0)


if __name__ == '__main__':
    main()
