# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What all nodes share."""

import pytest
from rclpy.impl.implementation_singleton import rclpy_implementation
from robot_identification.nodes.common import spin_once


class Spun:
    """An executor whose wait ends with an error."""

    def __init__(self, error):
        self.error = error

    def spin_once(self, timeout_sec):
        raise self.error


def test_a_subscription_that_is_destroyed_while_others_wait_ends_no_node():
    """Its events are what rclpy fails at; other errors are errors."""
    spin_once(Spun(rclpy_implementation.InvalidHandle('destruction was requested')), 0.1)
    with pytest.raises(ZeroDivisionError):
        spin_once(Spun(ZeroDivisionError()), 0.1)
