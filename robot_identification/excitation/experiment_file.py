# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
Experiment: what motion is wanted, within which margins.

Format: docs/formats/experiment.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.errors import DescriptionError
from robot_identification.errors import UsageError
from robot_identification.excitation.collision import Obstacle
from robot_identification.excitation.criteria import CRITERIA
from robot_identification.excitation.optimizers import OPTIMIZERS
from robot_identification.excitation.parametrizations import PARAMETRIZATIONS
from robot_identification.excitation.parametrizations.parametrization import FloatArray
from robot_identification.excitation.parametrizations.parametrization import Parametrization
from robot_identification.files import check_keys
from robot_identification.files import check_schema_version
from robot_identification.files import read_yaml
from robot_identification.model.catalogue import share_directory
from robot_identification.model.friction import parse_friction
from robot_identification.model.robot_model import gravity_of_mounting

SCHEMA_VERSION = 1
# What reliability of a first motion asks for; a cell may ask for more.
DEFAULT_CLEARANCE = 0.02


@dataclass(frozen=True)
class Margins:
    """
    How far from the hardware's limits a motion stays.

    Attributes
    ----------
    position : float
        Distance from the position limits [rad].
    velocity, acceleration, torque : float
        Share of the limit that may be used.

    """

    position: float = 0.1
    velocity: float = 0.8
    acceleration: float = 0.8
    torque: float = 0.8

    def __post_init__(self) -> None:
        if not 0.0 <= self.position < np.pi:
            raise DescriptionError(f'margin of position is {self.position} rad, allowed 0 to pi')
        for name in ('velocity', 'acceleration', 'torque'):
            value = getattr(self, name)
            if not 0.0 < value <= 1.0:
                raise DescriptionError(
                    f'margin of {name} is {value}, it is the share of the limit that may be used: '
                    'above 0 and at most 1'
                )


@dataclass(frozen=True, eq=False)
class Experiment:
    """
    A wanted motion.

    Attributes
    ----------
    form : Parametrization
        Family of the motion.
    periods : int
        How often it is repeated.
    margins : Margins
        Distance from the hardware's limits.
    window : mapping of str to (float, float)
        Position range by joint [rad], inside the limits.
    gravity : ndarray, shape (3,)
        In the URDF's root frame [m/s^2].
    friction : str
        Friction laws whose columns take part in the criterion.
    criterion, optimizer : str
        Names in CRITERIA and OPTIMIZERS.
    samples : int
        Samples the criterion is optimised on.
    collision : bool
        Whether motions are proved free of collision; False is for arms without collision shapes,
        in a cell where nothing is within reach.
    clearance : float
        Distance that links keep from each other and from obstacles [m].
    obstacles : tuple of Obstacle
        What stands in the cell.

    """

    form: Parametrization
    periods: int
    margins: Margins
    window: Mapping[str, tuple[float, float]]
    gravity: FloatArray
    friction: str
    criterion: str
    optimizer: str
    samples: int
    collision: bool = True
    clearance: float = DEFAULT_CLEARANCE
    obstacles: tuple[Obstacle, ...] = ()


def find_experiment(name: str) -> Path:
    """Return an experiment file by its path, or by the name of one that is shipped."""
    path = Path(name)
    shipped = share_directory() / 'config' / 'experiments' / f'{path.name}'
    for candidate in (path, shipped, shipped.with_name(f'{path.name}.yaml')):
        if candidate.is_file():
            return candidate
    known = ', '.join(sorted(p.stem for p in shipped.parent.glob('*.yaml')))
    raise UsageError(f'no such experiment file: {name}; shipped are {known}')


def load_experiment(path: Path) -> Experiment:
    """
    Read an experiment file.

    Raises
    ------
    UsageError
        If there is no such file.
    DescriptionError
        If a key is unknown or missing, or a value out of range.

    """
    content, source = read_yaml(path), str(path)
    check_schema_version(content, source, SCHEMA_VERSION)
    check_keys(
        content,
        source,
        {'schema_version', 'trajectory'},
        {'description', 'mounting', 'gravity', 'periods', 'margins', 'window', 'friction',
         'criterion', 'optimizer', 'samples', 'collision', 'clearance', 'obstacles'},
    )
    try:
        return _experiment_from_content(content, source)
    except (TypeError, ValueError, AttributeError) as error:
        raise DescriptionError(f'{source}: {error}') from error


def _collision(content: Mapping[str, Any], source: str) -> bool:
    value = content.get('collision', 'on')
    if value not in ('on', 'off'):
        raise DescriptionError(f'{source}: collision is {value!r}, it must be on or off')
    if value == 'off' and ('clearance' in content or 'obstacles' in content):
        raise DescriptionError(
            f'{source}: collision is off, and clearance or obstacles are given; leave one out'
        )
    return bool(value == 'on')


def _clearance(content: Mapping[str, Any], source: str) -> float:
    value = float(content.get('clearance', DEFAULT_CLEARANCE))
    if not 0.0 <= value <= 1.0:
        raise DescriptionError(f'{source}: clearance is {value} m, allowed are 0 to 1')
    return value


def obstacles_from_content(entries: Any, source: str) -> tuple[Obstacle, ...]:
    """
    Return the boxes of a cell, from a mapping of names to size, xyz and rpy.

    Raises
    ------
    DescriptionError
        If they are not of that form; `source` names the file.

    """
    if not isinstance(entries, dict):
        raise DescriptionError(f'{source}: obstacles must map names to boxes')
    return tuple(_obstacle(str(name), entry, source) for name, entry in entries.items())


def _obstacle(name: str, entry: Any, source: str) -> Obstacle:
    where = f'{source}: obstacle {name}'
    if not isinstance(entry, dict):
        raise DescriptionError(f'{where}: must be a mapping of size, xyz and rpy')
    check_keys(entry, where, {'size', 'xyz'}, {'rpy'})
    size, xyz, rpy = (
        _triple(entry.get(key, [0.0, 0.0, 0.0]), f'{where}: {key}')
        for key in ('size', 'xyz', 'rpy')
    )
    if min(size) <= 0.0:
        raise DescriptionError(f'{where}: size is {list(size)} m, edges must be positive')
    return Obstacle(name, size, xyz, rpy)


def _triple(values: Any, where: str) -> tuple[float, float, float]:
    if not isinstance(values, list) or len(values) != 3:
        raise DescriptionError(f'{where} must be three numbers, got {values!r}')
    x, y, z = (float(value) for value in values)
    if not np.all(np.isfinite([x, y, z])):
        raise DescriptionError(f'{where} is {values}, finite numbers are needed')
    return x, y, z


def _gravity(content: Mapping[str, Any], source: str) -> FloatArray:
    """Return gravity in the root frame, from `gravity` itself or from `mounting`."""
    if 'gravity' in content and 'mounting' in content:
        raise DescriptionError(f'{source}: give gravity or mounting, not both')
    key, meaning = (
        ('gravity', '[gx, gy, gz] in m/s^2') if 'gravity' in content
        else ('mounting', '[roll, pitch, yaw] in rad')
    )
    values = [float(value) for value in content.get(key, [0.0, 0.0, 0.0])]
    if len(values) != 3 or not np.all(np.isfinite(values)):
        raise DescriptionError(f'{source}: {key} must be {meaning}')
    return np.array(values) if key == 'gravity' else gravity_of_mounting(*values)


def _experiment_from_content(content: Mapping[str, Any], source: str) -> Experiment:
    options = dict(content['trajectory'])
    form = options.pop('form', None)
    _check_name(form, PARAMETRIZATIONS, 'trajectory form', source)
    criterion = content.get('criterion', 'log_determinant')
    _check_name(criterion, CRITERIA, 'criterion', source)
    optimizer = content.get('optimizer', 'multistart')
    _check_name(optimizer, OPTIMIZERS, 'optimizer', source)
    periods = _whole_number(content, 'periods', 1)
    samples = _whole_number(content, 'samples', 100)
    if not 1 <= periods <= 1000:
        raise DescriptionError(f'{source}: periods is {periods}, allowed 1 to 1000')
    if not 20 <= samples <= 10_000:
        raise DescriptionError(f'{source}: samples is {samples}, allowed 20 to 10000')
    window = {
        str(joint): _bounds(bounds, f'window of {joint}')
        for joint, bounds in content.get('window', {}).items()
    }
    for joint, (lower, upper) in window.items():
        if not lower < upper:
            raise DescriptionError(f'{source}: window of {joint} is [{lower}, {upper}], empty')
    return Experiment(
        form=PARAMETRIZATIONS[form](**options),
        periods=periods,
        margins=Margins(**content.get('margins', {})),
        window=window,
        gravity=_gravity(content, source),
        friction=_friction(content, source),
        criterion=criterion,
        optimizer=optimizer,
        samples=samples,
        collision=_collision(content, source),
        clearance=_clearance(content, source),
        obstacles=obstacles_from_content(content.get('obstacles', {}), source),
    )


def _friction(content: Mapping[str, Any], source: str) -> str:
    friction = str(content.get('friction', 'coulomb,viscous,offset'))
    try:
        parse_friction(friction)
    except UsageError as error:
        raise DescriptionError(f'{source}: {error}') from error
    return friction


def _whole_number(content: Mapping[str, Any], key: str, default: int) -> int:
    value = content.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f'{key} is {value!r}, a whole number is needed')
    return value


def _bounds(value: Any, where: str) -> tuple[float, float]:
    if not isinstance(value, list) or len(value) != 2:
        raise TypeError(f'{where} is {value!r}, [lower, upper] in rad is needed')
    return float(value[0]), float(value[1])


def _check_name(name: Any, known: Mapping[str, Any], what: str, source: str) -> None:
    if name not in known:
        raise DescriptionError(f'{source}: unknown {what} {name!r}; known are {", ".join(known)}')
