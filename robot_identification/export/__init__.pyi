# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

from .arm import build_pinocchio_model as build_pinocchio_model
from .changes import (
    body_changes as body_changes, ChangedFiles as ChangedFiles, LinkChange as LinkChange,
)
from .formats import export_model as export_model, EXPORTERS as EXPORTERS
from .friction_forms import fit_all_frictions as fit_all_frictions, FORMS as FORMS, PLAIN as PLAIN
from .mjcf import export_mjcf as export_mjcf
from .mjcf_into import is_scene as is_scene, make_mjcf as make_mjcf
from .options import ExportOptions as ExportOptions
from .ros2_control import describe_left_out as describe_left_out
from .pack import simulation_pack as simulation_pack
from .urdf import export_urdf as export_urdf, make_urdf as make_urdf
