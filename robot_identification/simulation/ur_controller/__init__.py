# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A simulated controller of Universal Robots that speaks its network interfaces."""
