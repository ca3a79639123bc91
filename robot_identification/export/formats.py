# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Formats that a model is exported to as a whole, by the name of their option.

To add one: write its file, add one line to EXPORTERS. A URDF, which can also be written into one
that is there, is apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from robot_identification.export.controller import export_controller
from robot_identification.export.friction_forms import PLAIN
from robot_identification.export.mjcf import export_mjcf
from robot_identification.export.ros2_control import export_ros2_control
from robot_identification.export.sdf import export_sdf
from robot_identification.model import IdentifiedModel


@dataclass(frozen=True)
class ExportOptions:
    """Options of a format."""

    friction_form: str = PLAIN  # of `friction_forms.FORMS`


# Each with what it is, in words.
EXPORTERS: dict[str, tuple[str, Callable[[IdentifiedModel, ExportOptions], str]]] = {
    'mjcf': (
        'MuJoCo model: bodies, rotors, friction, motors',
        lambda model, options: export_mjcf(model, options.friction_form),
    ),
    'sdf': ('SDF model for Gazebo: bodies, friction', lambda model, options: export_sdf(model)),
    'yaml': (
        'gravity and friction for a running controller',
        lambda model, options: export_controller(model),
    ),
    'ros2-control': (
        'root, tip and gravity for inverse-dynamics plugins of ros2_control, and calls for a '
        'Universal Robot in direct torque control',
        lambda model, options: export_ros2_control(model),
    ),
}
