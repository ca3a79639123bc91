# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""ROS 2 nodes: parameters and messages in, one call of the core, messages out."""
