# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Experiment files, and the further limits in them, which certificates state in the same way.

Format: docs/formats/experiment.md.
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields
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
# Of rules, by what they become.
RULES: Mapping[type, str] = {SumOfJoints: 'sum', SineTimesCosine: 'sine_cosine'}
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


@contextmanager
def errors_of(source: str) -> Iterator[None]:
    """Name the source of what is wrong with a content, as a DescriptionError."""
    try:
        yield
    except (
        DescriptionError, UsageError, TypeError, ValueError, AttributeError, ArgumentTypeError,
    ) as error:
        raise DescriptionError(f'{source}: {error}') from error


def read_experiment(content: Mapping[str, Any], source: str) -> Experiment:
    """Return the experiment that the content of a file describes; `source` names it in errors."""
    check_schema_version(content, source, SCHEMA_VERSION)
    check_keys(content, source, {'schema_version', 'trajectory'}, OPTIONAL_KEYS)
    with errors_of(source):
        return _experiment_from_content(content)


def _experiment_from_content(content: Mapping[str, Any]) -> Experiment:
    form = _form(content)
    segments, before = segments_from_content(content, form)
    optimizer, optimizer_options = _optimizer(content.get('optimizer', DEFAULT_OPTIMIZER))
    window = {
        str(joint): _bounds(bounds, f'window of {joint}')
        for joint, bounds in content.get('window', {}).items()
    }
    periods, friction = content.get('periods', 1), str(content.get('friction', PLAIN_FRICTION))
    check_count('periods', periods, 1, MAXIMUM_PERIODS)
    # Refused now, not when the search begins.
    parse_friction(friction)
    return Experiment(
        form=form,
        periods=periods,
        margins=Margins(**content.get('margins', {})),
        window=window,
        gravity=_gravity(content),
        friction=friction,
        criterion=_known(content.get('criterion', 'log_determinant'), CRITERIA, 'criterion'),
        optimizer=optimizer,
        samples=_samples(content.get('samples', DEFAULT_SAMPLES)),
        segments=segments,
        segments_before=before,
        optimizer_options=optimizer_options,
        center=_center(content, window),
        frames=_known(content.get('frames', 'joint'), FRAMES, 'link frames'),
        preference=_known(
            content.get('preference', DEFAULT_PREFERENCE), PREFERENCES, 'preference'
        ),
        rotor_inertia=to_switch(content.get('rotor_inertia', True), 'rotor_inertia'),
        generic=to_switch(content.get('generic', False), 'generic'),
        collision=_collision(content),
        clearance=_clearance(content),
        obstacles=_obstacles(content.get('obstacles', {})),
        bounds=_kind_of_bounds(content, form),
        **vars(_extra_limits(content)),
    )


def _form(content: Mapping[str, Any]) -> Parametrization:
    """Return a form that motions can be designed with, as the experiment wants them."""
    options = dict(content['trajectory'])
    name = _known(options.pop('form', None), PARAMETRIZATIONS, 'trajectory form')
    form = PARAMETRIZATIONS[name](**options)
    if not form.closed:
        raise DescriptionError(
            f'nothing is designed with form {form.name}, which keeps imported motions; choose '
            'another, or judge a motion by `excite --evaluate`'
        )
    if form.name == 'composite':
        raise DescriptionError(
            'nothing is designed with form composite, which keeps motions with segments: give the '
            'form of the first part, and name the others under segments'
        )
    if not form.smooth and 'jerk' in content:
        raise DescriptionError(
            f'the acceleration of {form.name} jumps, so that its jerk cannot be limited: leave '
            'jerk out, or take via_points'
        )
    return form


def _optimizer(entry: Any) -> tuple[str, dict[str, Any]]:
    """Return name and options, from a name or a mapping with `name`."""
    options = dict(entry) if isinstance(entry, dict) else {'name': entry}
    name = _known(options.pop('name', DEFAULT_OPTIMIZER), OPTIMIZERS, 'optimizer')
    # Refused now, not when the search begins.
    OPTIMIZERS[name](**options)
    return name, options


def _known(name: Any, known: Mapping[str, Any], what: str) -> str:
    if name not in known:
        raise DescriptionError(describe_unknown(what, name, known))
    return str(name)


def _samples(entry: Any) -> tuple[int, ...]:
    counts = entry if isinstance(entry, list) and entry else [entry]
    for count in counts:
        if not is_whole_number(count) or not 20 <= count <= 10_000:
            raise DescriptionError(
                f'samples is {entry!r}, a whole number from 20 to 10000 is needed, or a list of '
                'them'
            )
    return tuple(counts)


def _bounds(value: Any, where: str) -> tuple[float, float]:
    if not isinstance(value, list) or len(value) != 2:
        raise DescriptionError(f'{where} is {value!r}, [lower, upper] in rad is needed')
    lower, upper = angle(str(value[0])), angle(str(value[1]))
    if not lower < upper:
        raise DescriptionError(f'{where} is [{lower}, {upper}], empty')
    return lower, upper


def _center(
    content: Mapping[str, Any], window: Mapping[str, tuple[float, float]]
) -> dict[str, float]:
    center = {str(joint): angle(str(value)) for joint, value in content.get('center', {}).items()}
    for joint, value in center.items():
        lower, upper = window.get(joint, (-np.inf, np.inf))
        if not (np.isfinite(value) and lower < value < upper):
            raise DescriptionError(
                f'center of {joint} is {value} rad, it must be inside its window [{lower}, '
                f'{upper}]'
            )
    return center


def _gravity(content: Mapping[str, Any]) -> FloatArray:
    """Return gravity in the root frame, from `gravity` itself or from `mounting`."""
    if 'gravity' not in content:
        values = [angle(str(value)) for value in content.get('mounting', [0.0, 0.0, 0.0])]
        if len(values) != 3 or not np.all(np.isfinite(values)):
            raise DescriptionError('mounting must be [roll, pitch, yaw] in rad')
        return gravity_of_mounting(*values)
    if 'mounting' in content:
        raise DescriptionError('give gravity or mounting, not both')
    gravity = np.array(content['gravity'], dtype=float)
    if gravity.shape != (3,) or not np.all(np.isfinite(gravity)):
        raise DescriptionError('gravity must be [gx, gy, gz] in m/s^2')
    return gravity


def _collision(content: Mapping[str, Any]) -> bool:
    value = content.get('collision', 'on')
    if value not in ('on', 'off'):
        raise DescriptionError(f'collision is {value!r}, it must be on or off')
    if value == 'off' and ('clearance' in content or 'obstacles' in content):
        raise DescriptionError(
            'collision is off, and clearance or obstacles are given; leave one out'
        )
    return bool(value == 'on')


def _clearance(content: Mapping[str, Any]) -> float:
    value = float(content.get('clearance', DEFAULT_CLEARANCE))
    if not 0.0 <= value <= 1.0:
        raise DescriptionError(f'clearance is {value} m, allowed are 0 to 1')
    return value


def _kind_of_bounds(content: Mapping[str, Any], form: Parametrization) -> str:
    """Return how joint limits are checked, one of BOUNDS."""
    bounds = content.get('bounds', BOUNDS[0])
    if bounds not in BOUNDS:
        raise DescriptionError(f'bounds is {bounds!r}, it must be {" or ".join(BOUNDS)}')
    if bounds == 'conservative' and form.name != 'fourier':
        raise DescriptionError(
            'bounds is conservative, which are sums over the harmonics of the form fourier; the '
            f'form is {form.name}: leave bounds out'
        )
    return str(bounds)


def obstacles_from_content(entries: Any, source: str) -> tuple[Obstacle, ...]:
    """
    Return the boxes of a cell, from a mapping of names to size, xyz and rpy.

    Raises DescriptionError if they are not of that form; `source` names the file.
    """
    with errors_of(source):
        return _obstacles(entries)


def _obstacles(entries: Any) -> tuple[Obstacle, ...]:
    if not isinstance(entries, dict):
        raise DescriptionError('obstacles must map names to boxes')
    return tuple(_obstacle(str(name), entry) for name, entry in entries.items())


def _obstacle(name: str, entry: Any) -> Obstacle:
    where = f'obstacle {name}'
    if not isinstance(entry, dict):
        raise DescriptionError(f'{where}: must be a mapping of size, xyz, rpy and link')
    check_keys(entry, where, {'size', 'xyz'}, {'rpy', 'link'})
    size, xyz, rpy = (
        _triple(to_numbers(entry.get(key, [0.0, 0.0, 0.0]), 3, f'{where}: {key}'))
        for key in ('size', 'xyz', 'rpy')
    )
    if min(size) <= 0.0:
        raise DescriptionError(f'{where}: size is {list(size)} m, edges must be positive')
    return Obstacle(name, size, xyz, rpy, str(entry.get('link', '')))


def _triple(values: Sequence[float]) -> Triple:
    x, y, z = values
    return x, y, z


def extra_limits_from_content(content: Mapping[str, Any], source: str) -> ExtraLimits:
    """
    Return the further limits among the entries of a file; other entries are not read.

    Raises DescriptionError if they are not of the form in docs/formats/experiment.md; `source`
    names the file.
    """
    with errors_of(source):
        return _extra_limits(content)


def _extra_limits(content: Mapping[str, Any]) -> ExtraLimits:
    limits = to_mapping(content.get('limits', {}), 'limits')
    check_keys(limits, 'limits', set(), set(TIGHTENED))
    workspace = to_mapping(content.get('workspace', {}), 'workspace')
    rules = to_list(content.get('rules', []), 'rules')
    return ExtraLimits(
        jerk=_joint_values(content['jerk'], 'jerk') if 'jerk' in content else None,
        limits={
            str(kind): _joint_values(value, f'limits: {kind}') for kind, value in limits.items()
        },
        workspace=tuple(_box(str(frame), entry) for frame, entry in workspace.items()),
        tool_speed=_speed(content['tool_speed']) if 'tool_speed' in content else None,
        rules=tuple(_rule(entry, f'rule {number}') for number, entry in enumerate(rules, 1)),
    )


def extra_limits_to_content(extra: ExtraLimits) -> dict[str, Any]:
    """Return the entries that `extra_limits_from_content` makes the same limits of."""
    content = {
        'jerk': extra.jerk,
        'limits': extra.limits,
        'workspace': {
            box.frame: {'lower': box.lower, 'upper': box.upper} for box in extra.workspace
        },
        'tool_speed': extra.tool_speed and asdict(extra.tool_speed),
        'rules': [{'kind': RULES[type(rule)], **asdict(rule)} for rule in extra.rules],
    }
    return {name: to_finite(value) for name, value in content.items() if value}


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
    return _triple([_side(value, open_, where) for value in values])


def _box(frame: str, entry: Any) -> FrameBox:
    where = f'workspace of {frame}'
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


def _speed(entry: Any) -> FrameSpeed:
    check_keys(to_mapping(entry, 'tool_speed'), 'tool_speed', {'frame', 'limit'}, set())
    return FrameSpeed(str(entry['frame']), _positive(entry['limit'], 'tool_speed: limit'))


def _rule(entry: Any, where: str) -> SumOfJoints | SineTimesCosine:
    kind = to_mapping(entry, where).get('kind')
    if kind == RULES[SumOfJoints]:
        return _sum(entry, where)
    if kind == RULES[SineTimesCosine]:
        check_keys(entry, where, {'kind', 'sine', 'cosine', 'at_most'}, set())
        return SineTimesCosine(
            str(entry['sine']), str(entry['cosine']),
            _positive(entry['at_most'], f'{where}: at_most'),
        )
    raise DescriptionError(f'{where}: kind is {kind!r}, known are {" and ".join(RULES.values())}')


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
