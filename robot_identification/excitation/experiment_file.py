# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Experiment files, and the further limits in them, which certificates state in the same way.

Format: docs/formats/experiment.md.
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DescriptionError, UsageError
from robot_identification.excitation.collision import Obstacle
from robot_identification.excitation.criteria import CRITERIA
from robot_identification.excitation.experiment import (
    DEFAULT_CLEARANCE, Experiment, ExtraLimits, FrameBox, FrameSpeed, JointValues, Margins,
    SineTimesCosine, SumOfJoints, Triple,
)
from robot_identification.excitation.optimizers import DEFAULT_OPTIMIZER, OPTIMIZERS
from robot_identification.excitation.parametrizations import PARAMETRIZATIONS
from robot_identification.excitation.parametrizations.composite import segments_from_content
from robot_identification.excitation.parametrizations.parametrization import (
    check_count, Parametrization,
)
from robot_identification.excitation.trajectory import MAXIMUM_PERIODS
from robot_identification.files import (
    AnyPath, check_keys, check_schema_version, HAND_WRITTEN, is_whole_number, read_yaml, to_finite,
    to_list, to_mapping, to_number, to_numbers, to_switch,
)
from robot_identification.model import (
    DEFAULT_PREFERENCE, FRAMES, gravity_of_mounting, parse_friction, PLAIN_FRICTION, PREFERENCES,
    share_directory,
)
from robot_identification.options import angle
from robot_identification.removed import describe_unknown
from robot_identification.texts import suggestion

SCHEMA_VERSION = 1  # of the file
BOUNDS = ('sampled', 'conservative')
# Kinds of limits of the robot that an experiment may tighten.
TIGHTENED = ('velocity', 'acceleration', 'torque')
DEFAULT_SAMPLES = 60  # of a period; chosen: 12 for each harmonic of the default form
# Of the fields only these stand under other keys: the form as `trajectory`, the options of the
# optimizer beside its name, the place of the form in the list of segments. Gravity may be given by
# the mounting.
OPTIONAL_KEYS = {'description', 'mounting', *(one.name for one in fields(Experiment))} - {
    'form', 'optimizer_options', 'segments_before',
}


def find_experiment(name: AnyPath) -> Path:
    """Return an experiment file by its path, or by the name of one that is shipped."""
    path = Path(name)
    shipped = share_directory() / 'config' / 'experiments' / f'{path.name}'
    for candidate in (path, shipped, shipped.with_name(f'{path.name}.yaml')):
        if candidate.is_file():
            return candidate
    known = sorted(p.stem for p in shipped.parent.glob('*.yaml'))
    near = suggestion(str(name), known)
    raise UsageError(
        f'no such experiment file: {name}; {near}{" " if near else ""}shipped are '
        f'{", ".join(known)}'
    )


def load_experiment(name: AnyPath) -> Experiment:
    """
    Read an experiment file, by its path or by the name of one that is shipped.

    Raises
    ------
    UsageError
        If there is no such file.
    DescriptionError
        If a key is unknown or missing, or a value out of range.

    """
    path = find_experiment(name)
    return read_experiment(read_yaml(path, HAND_WRITTEN), str(path))


def read_experiment(content: Mapping[str, Any], source: str) -> Experiment:
    """Return the experiment that the content of a file describes; `source` names it in errors."""
    check_schema_version(content, source, SCHEMA_VERSION)
    check_keys(content, source, {'schema_version', 'trajectory'}, OPTIONAL_KEYS)
    try:
        return _experiment_from_content(content, source)
    except (TypeError, ValueError, AttributeError, ArgumentTypeError) as error:
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

    Raises DescriptionError if they are not of that form; `source` names the file.
    """
    if not isinstance(entries, dict):
        raise DescriptionError(f'{source}: obstacles must map names to boxes')
    return tuple(_obstacle(str(name), entry, source) for name, entry in entries.items())


def _obstacle(name: str, entry: Any, source: str) -> Obstacle:
    where = f'{source}: obstacle {name}'
    if not isinstance(entry, dict):
        raise DescriptionError(f'{where}: must be a mapping of size, xyz, rpy and link')
    check_keys(entry, where, {'size', 'xyz'}, {'rpy', 'link'})
    size, xyz, rpy = (
        _triple(entry.get(key, [0.0, 0.0, 0.0]), f'{where}: {key}')
        for key in ('size', 'xyz', 'rpy')
    )
    if min(size) <= 0.0:
        raise DescriptionError(f'{where}: size is {list(size)} m, edges must be positive')
    return Obstacle(name, size, xyz, rpy, str(entry.get('link', '')))


def _triple(values: Any, where: str) -> tuple[float, float, float]:
    x, y, z = to_numbers(values, 3, where)
    return x, y, z


def _gravity(content: Mapping[str, Any], source: str) -> FloatArray:
    """Return gravity in the root frame, from `gravity` itself or from `mounting`."""
    if 'gravity' in content and 'mounting' in content:
        raise DescriptionError(f'{source}: give gravity or mounting, not both')
    key, meaning = (
        ('gravity', '[gx, gy, gz] in m/s^2') if 'gravity' in content
        else ('mounting', '[roll, pitch, yaw] in rad')
    )
    read = float if key == 'gravity' else lambda value: angle(str(value))
    values = [read(value) for value in content.get(key, [0.0, 0.0, 0.0])]
    if len(values) != 3 or not np.all(np.isfinite(values)):
        raise DescriptionError(f'{source}: {key} must be {meaning}')
    if key == 'gravity':
        return np.array(values)
    try:
        return gravity_of_mounting(*values)
    except UsageError as error:
        raise DescriptionError(f'{source}: {error}') from error


def _experiment_from_content(content: Mapping[str, Any], source: str) -> Experiment:
    options = dict(content['trajectory'])
    form = options.pop('form', None)
    _check_name(form, PARAMETRIZATIONS, 'trajectory form', source)
    criterion = content.get('criterion', 'log_determinant')
    _check_name(criterion, CRITERIA, 'criterion', source)
    optimizer, optimizer_options = _optimizer(content, source)
    frames = content.get('frames', 'joint')
    _check_name(frames, FRAMES, 'link frames', source)
    preference = content.get('preference', DEFAULT_PREFERENCE)
    _check_name(preference, PREFERENCES, 'preference', source)
    periods = content.get('periods', 1)
    check_count(f'{source}: periods', periods, 1, MAXIMUM_PERIODS)
    window = {
        str(joint): _bounds(bounds, f'window of {joint}')
        for joint, bounds in content.get('window', {}).items()
    }
    for joint, (lower, upper) in window.items():
        if not lower < upper:
            raise DescriptionError(f'{source}: window of {joint} is [{lower}, {upper}], empty')
    motion_form = _designable(PARAMETRIZATIONS[form](**options), content, source)
    segments, before = segments_from_content(content, motion_form, source)
    return Experiment(
        form=motion_form,
        periods=periods,
        margins=Margins(**content.get('margins', {})),
        window=window,
        gravity=_gravity(content, source),
        friction=_friction(content, source),
        criterion=criterion,
        optimizer=optimizer,
        samples=_samples(content, source),
        segments=segments,
        segments_before=before,
        optimizer_options=optimizer_options,
        center=_center(content, window, source),
        frames=frames,
        preference=preference,
        rotor_inertia=to_switch(
            content.get('rotor_inertia', True), f'{source}: rotor_inertia'
        ),
        generic=to_switch(content.get('generic', False), f'{source}: generic'),
        collision=_collision(content, source),
        clearance=_clearance(content, source),
        obstacles=obstacles_from_content(content.get('obstacles', {}), source),
        bounds=bounds_from_content(content, motion_form, source),
        **vars(extra_limits_from_content(content, source)),
    )


def _designable(
    form: Parametrization, content: Mapping[str, Any], source: str
) -> Parametrization:
    """Return a form that motions can be designed with, as the experiment wants them."""
    if not form.closed:
        raise DescriptionError(
            f'{source}: nothing is designed with form {form.name}, which keeps imported motions; '
            'choose another, or judge a motion by `excite --evaluate`'
        )
    if form.name == 'composite':
        raise DescriptionError(
            f'{source}: nothing is designed with form composite, which keeps motions with '
            'segments: give the form of the first part, and name the others under segments'
        )
    if not form.smooth and 'jerk' in content:
        raise DescriptionError(
            f'{source}: the acceleration of {form.name} jumps, so that its jerk cannot be '
            'limited: leave jerk out, or take via_points'
        )
    return form


def _optimizer(content: Mapping[str, Any], source: str) -> tuple[str, dict[str, Any]]:
    """Return name and options, from a name or a mapping with `name`."""
    entry = content.get('optimizer', DEFAULT_OPTIMIZER)
    options = dict(entry) if isinstance(entry, dict) else {'name': entry}
    name = options.pop('name', DEFAULT_OPTIMIZER)
    _check_name(name, OPTIMIZERS, 'optimizer', source)
    # Refused now, not when the search begins.
    OPTIMIZERS[name](**options)
    return name, options


def _samples(content: Mapping[str, Any], source: str) -> tuple[int, ...]:
    entry = content.get('samples', DEFAULT_SAMPLES)
    counts = entry if isinstance(entry, list) and entry else [entry]
    for count in counts:
        if not is_whole_number(count) or not 20 <= count <= 10_000:
            raise DescriptionError(
                f'{source}: samples is {entry!r}, a whole number from 20 to 10000 is needed, or a '
                'list of them'
            )
    return tuple(counts)


def _center(
    content: Mapping[str, Any], window: Mapping[str, tuple[float, float]], source: str
) -> dict[str, float]:
    center = {str(joint): angle(str(value)) for joint, value in content.get('center', {}).items()}
    for joint, value in center.items():
        lower, upper = window.get(joint, (-np.inf, np.inf))
        if not (np.isfinite(value) and lower < value < upper):
            raise DescriptionError(
                f'{source}: center of {joint} is {value} rad, it must be inside its window '
                f'[{lower}, {upper}]'
            )
    return center


def _friction(content: Mapping[str, Any], source: str) -> str:
    friction = str(content.get('friction', PLAIN_FRICTION))
    try:
        parse_friction(friction)
    except UsageError as error:
        raise DescriptionError(f'{source}: {error}') from error
    return friction


def _bounds(value: Any, where: str) -> tuple[float, float]:
    if not isinstance(value, list) or len(value) != 2:
        raise TypeError(f'{where} is {value!r}, [lower, upper] in rad is needed')
    return angle(str(value[0])), angle(str(value[1]))


def _check_name(name: Any, known: Mapping[str, Any], what: str, source: str) -> None:
    if name not in known:
        raise DescriptionError(f'{source}: {describe_unknown(what, name, known)}')


def extra_limits_from_content(content: Mapping[str, Any], source: str) -> ExtraLimits:
    """
    Return the further limits among the entries of a file; other entries are not read.

    Raises DescriptionError if they are not of the form in docs/formats/experiment.md; `source`
    names the file.
    """
    limits = to_mapping(content.get('limits', {}), f'{source}: limits')
    check_keys(limits, f'{source}: limits', set(), set(TIGHTENED))
    workspace = to_mapping(content.get('workspace', {}), f'{source}: workspace')
    rules = to_list(content.get('rules', []), f'{source}: rules')
    return ExtraLimits(
        jerk=_joint_values(content['jerk'], f'{source}: jerk') if 'jerk' in content else None,
        limits={
            str(kind): _joint_values(value, f'{source}: limits: {kind}')
            for kind, value in limits.items()
        },
        workspace=tuple(
            _box(str(frame), entry, f'{source}: workspace of {frame}')
            for frame, entry in workspace.items()
        ),
        tool_speed=_speed(content['tool_speed'], source) if 'tool_speed' in content else None,
        rules=tuple(
            _rule(entry, f'{source}: rule {number}') for number, entry in enumerate(rules, 1)
        ),
    )


def extra_limits_to_content(extra: ExtraLimits) -> dict[str, Any]:
    """Return the entries that `extra_limits_from_content` makes the same limits of."""
    content: dict[str, Any] = {}
    if extra.jerk is not None:
        content['jerk'] = _plain(extra.jerk)
    if extra.limits:
        content['limits'] = {kind: _plain(value) for kind, value in extra.limits.items()}
    if extra.workspace:
        content['workspace'] = {
            box.frame: {
                'lower': to_finite(box.lower),
                'upper': to_finite(box.upper),
            }
            for box in extra.workspace
        }
    if extra.tool_speed is not None:
        content['tool_speed'] = {
            'frame': extra.tool_speed.frame, 'limit': extra.tool_speed.limit,
        }
    if extra.rules:
        content['rules'] = [_rule_content(rule) for rule in extra.rules]
    return content


def bounds_from_content(
    content: Mapping[str, Any], form: Parametrization, source: str
) -> str:
    """Return how joint limits are checked, one of BOUNDS."""
    bounds = content.get('bounds', BOUNDS[0])
    if bounds not in BOUNDS:
        raise DescriptionError(
            f'{source}: bounds is {bounds!r}, it must be {" or ".join(BOUNDS)}'
        )
    if bounds == 'conservative' and form.name != 'fourier':
        raise DescriptionError(
            f'{source}: bounds is conservative, which are sums over the harmonics of the form '
            f'fourier; the form is {form.name}: leave bounds out'
        )
    return str(bounds)


def _plain(value: JointValues) -> JointValues:
    return dict(value) if isinstance(value, Mapping) else value


def _rule_content(rule: SumOfJoints | SineTimesCosine) -> dict[str, Any]:
    if isinstance(rule, SineTimesCosine):
        return {
            'kind': 'sine_cosine', 'sine': rule.sine, 'cosine': rule.cosine,
            'at_most': rule.at_most,
        }
    return {
        'kind': 'sum', 'joints': dict(rule.joints), 'offset': rule.offset,
        'lower': to_finite(rule.lower), 'upper': to_finite(rule.upper),
    }


def _positive(value: Any, where: str) -> float:
    number = to_number(value, where)
    if number <= 0.0:
        raise DescriptionError(f'{where} is {number}, it must be above 0')
    return number


def _joint_values(value: Any, where: str) -> JointValues:
    if not isinstance(value, dict):
        return _positive(value, where)
    return {str(joint): _positive(one, f'{where} of {joint}') for joint, one in value.items()}


def _side(value: Any, open_: float, where: str) -> float:
    return open_ if value is None else to_number(value, where)


def _corner(values: Any, open_: float, where: str) -> Triple:
    if not isinstance(values, list) or len(values) != 3:
        raise DescriptionError(f'{where} must be [x, y, z] in m, null for an open side')
    x, y, z = (_side(value, open_, where) for value in values)
    return x, y, z


def _box(frame: str, entry: Any, where: str) -> FrameBox:
    check_keys(to_mapping(entry, where), where, set(), {'lower', 'upper'})
    nothing = [None] * 3
    lower = _corner(entry.get('lower', nothing), -np.inf, f'{where}: lower')
    upper = _corner(entry.get('upper', nothing), np.inf, f'{where}: upper')
    if not all(low < high for low, high in zip(lower, upper, strict=True)):
        raise DescriptionError(
            f'{where}: lower {list(lower)} is not below upper {list(upper)} m'
        )
    if not np.any(np.isfinite([lower, upper])):
        raise DescriptionError(f'{where}: every side is open; give lower or upper')
    return FrameBox(frame, lower, upper)


def _speed(entry: Any, source: str) -> FrameSpeed:
    where = f'{source}: tool_speed'
    check_keys(to_mapping(entry, where), where, {'frame', 'limit'}, set())
    return FrameSpeed(str(entry['frame']), _positive(entry['limit'], f'{where}: limit'))


def _rule(entry: Any, where: str) -> SumOfJoints | SineTimesCosine:
    kind = to_mapping(entry, where).get('kind')
    if kind == 'sum':
        return _sum(entry, where)
    if kind == 'sine_cosine':
        check_keys(entry, where, {'kind', 'sine', 'cosine', 'at_most'}, set())
        return SineTimesCosine(
            str(entry['sine']), str(entry['cosine']),
            _positive(entry['at_most'], f'{where}: at_most'),
        )
    raise DescriptionError(f'{where}: kind is {kind!r}, known are sum and sine_cosine')


def _sum(entry: Mapping[str, Any], where: str) -> SumOfJoints:
    check_keys(entry, where, {'kind', 'joints'}, {'offset', 'lower', 'upper'})
    joints = {
        str(joint): to_number(factor, f'{where}: {joint}')
        for joint, factor in to_mapping(entry['joints'], f'{where}: joints').items()
    }
    if not any(joints.values()):
        raise DescriptionError(f'{where}: joints names none that counts')
    lower = _side(entry.get('lower'), -np.inf, f'{where}: lower')
    upper = _side(entry.get('upper'), np.inf, f'{where}: upper')
    if not lower < upper or not np.any(np.isfinite([lower, upper])):
        raise DescriptionError(
            f'{where}: lower is {lower} and upper is {upper} rad; give one at least, in order'
        )
    offset = to_number(entry.get('offset', 0.0), f'{where}: offset')
    return SumOfJoints(joints, offset, lower, upper)
