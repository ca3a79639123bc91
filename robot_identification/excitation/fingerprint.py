# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Contents and hashes by which experiments and arms are recognized."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import Any

from robot_identification.excitation.experiment_file import Experiment
from robot_identification.excitation.parametrizations.parametrization import Parametrization
from robot_identification.excitation.segments import Segment
from robot_identification.files import canonical_sha256, to_plain
from robot_identification.model import RobotModel


def experiment_content(experiment: Experiment) -> dict[str, Any]:
    """Return everything an experiment asks for, defaults included, as plain content."""
    return {
        # As in its file, where the form stands under this name.
        'trajectory' if field.name == 'form' else field.name: _plain(
            getattr(experiment, field.name)
        )
        for field in fields(experiment)
        # Experiments without segments have the hashes that they had before there were any.
        if experiment.segments or field.name not in ('segments', 'segments_before')
    }


def experiment_sha256(experiment: Experiment) -> str:
    """Return the hash of what an experiment asks for; comments of its file do not count."""
    return canonical_sha256(experiment_content(experiment))


def robot_sha256(robot: RobotModel) -> str:
    """
    Return the hash of what motions of an arm depend on, apart from its mounting.

    That is its URDF, which joints move, where the others are locked, and the limits of its YAML.
    """
    return canonical_sha256({
        'name': robot.name,
        'joints': list(robot.joint_names),
        'urdf': robot.urdf_sha256,
        'limits': _plain(robot.limits),
        'locked': _plain(robot.locked),
    })


def _plain(value: Any) -> Any:
    """Return plain content; numbers that are not finite, which JSON does not know, as text."""
    if isinstance(value, Parametrization):
        return {'form': value.name, **_plain(value.options())}
    if isinstance(value, Segment):
        return {str(key): _plain(item) for key, item in value.content().items()}
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    plain = to_plain(value)
    return plain if plain is value else _plain(plain)
