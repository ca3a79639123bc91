# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Formats that a model is exported to as a whole, by the name of their option.

To add one: write its file, add one line to EXPORTERS. A URDF, which can also be written into one
that is there, is apart.
"""

from __future__ import annotations

from collections.abc import Callable

from robot_identification.export.controller import export_controller
from robot_identification.export.mjcf import export_mjcf
from robot_identification.export.sdf import export_sdf
from robot_identification.model import IdentifiedModel

# Each with what it is, in words.
EXPORTERS: dict[str, tuple[str, Callable[[IdentifiedModel], str]]] = {
    'mjcf': ('MuJoCo model: bodies, rotors, friction, motors', export_mjcf),
    'sdf': ('SDF model for Gazebo: bodies, friction', export_sdf),
    'yaml': ('gravity and friction for a running controller', export_controller),
}
