# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Formats that a model is exported to as a whole, by the name of their option.

To add one: write its file, add one line to EXPORTERS.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

from robot_identification.errors import check_argument, UsageError
from robot_identification.export.controller import export_controller
from robot_identification.export.mjcf import export_mjcf
from robot_identification.export.mjcf_into import is_scene, make_mjcf
from robot_identification.export.options import ExportOptions
from robot_identification.export.ros2_control import export_ros2_control
from robot_identification.export.sdf import export_sdf
from robot_identification.export.urdf import export_urdf, make_urdf
from robot_identification.files import AnyPath, write_files
from robot_identification.model import IdentifiedModel


class Exporter(NamedTuple):
    """One format."""

    about: str  # what it is, in words
    suffix: str  # of its file
    write: Callable[[IdentifiedModel], str]


EXPORTERS = {
    'urdf': Exporter('URDF with identified inertials and friction', 'urdf', export_urdf),
    'mjcf': Exporter('MuJoCo model: bodies, rotors, friction, motors', 'xml', export_mjcf),
    'sdf': Exporter('SDF model for Gazebo: bodies, friction', 'sdf', export_sdf),
    'yaml': Exporter('gravity and friction for a running controller', 'yaml', export_controller),
    'ros2-control': Exporter(
        'root, tip and gravity for inverse-dynamics plugins of ros2_control, and calls for a '
        'Universal Robot in direct torque control', 'ros2-control', export_ros2_control,
    ),
}


def export_model(
    model: IdentifiedModel, path: AnyPath, *, into: AnyPath | None = None, **options: Any
) -> None:
    """
    Write a model for another program, which the suffix of the path names.

    Parameters
    ----------
    model : IdentifiedModel
        The model, with physically consistent parameters.
    path : str or Path
        The file: .urdf, .xml (MuJoCo), .sdf (Gazebo), .yaml (a controller) or .ros2-control; one
        that is there is replaced.
    into : str or Path, optional
        A URDF, or a MuJoCo scene, of which the numbers that were identified are changed and all
        else is kept.
    **options
        Those of `ExportOptions`.

    Raises
    ------
    UsageError
        If the suffix or an option is not known, or `into` is of another format.
    InconsistentModelError
        If the model has no physically consistent parameters.

    """
    check_argument('model', model, IdentifiedModel)
    path = Path(path)
    known = {exporter.suffix: exporter for exporter in EXPORTERS.values()}
    suffix = path.suffix[1:].lower()
    if suffix not in known:
        raise UsageError(f'{path} ends in no format that is known: {", ".join(known)}')
    if unknown := set(options) - {one.name for one in fields(ExportOptions)}:
        raise UsageError(
            f'{", ".join(sorted(unknown))}: no option of exports; they are '
            f'{", ".join(one.name for one in fields(ExportOptions))}'
        )
    chosen = ExportOptions(**options)
    if into is None:
        is_mjcf = suffix == EXPORTERS['mjcf'].suffix
        contents: Mapping[Path, str | bytes] = {path: (
            export_mjcf(model, chosen.friction_form) if is_mjcf else known[suffix].write(model)
        )}
    else:
        into = Path(into)
        wanted = EXPORTERS['mjcf' if is_scene(into) else 'urdf'].suffix
        if suffix != wanted:
            raise UsageError(f'{into} is changed into a file that ends in .{wanted}, not {path}')
        changed = (
            make_mjcf(model, into, chosen) if is_scene(into) else make_urdf(model, into)
        )
        contents = changed.outputs(path)
    write_files(contents, force=True)
