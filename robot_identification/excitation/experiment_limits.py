# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Limits of the motion in an experiment file, beyond margins and windows.

The same entries stand in the certificate of a motion, from which the runner reads them again.
Format: docs/formats/experiment.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from robot_identification.errors import DescriptionError
from robot_identification.excitation.parametrizations.parametrization import Parametrization
from robot_identification.files import check_keys, to_finite, to_list, to_mapping, to_number

# One number for every joint, or numbers by joint.
JointValues = float | Mapping[str, float]
Triple = tuple[float, float, float]

BOUNDS = ('sampled', 'conservative')
# Kinds of limits of the robot that an experiment may tighten.
TIGHTENED = ('velocity', 'acceleration', 'torque')


@dataclass(frozen=True)
class FrameBox:
    """A box in the root frame that the origin of the link `frame` stays in."""

    frame: str
    lower: Triple  # corner [m], infinite where a side is open
    upper: Triple  # likewise


@dataclass(frozen=True)
class FrameSpeed:
    """The largest speed of the origin of the link `frame` [m/s]."""

    frame: str
    limit: float


@dataclass(frozen=True)
class SumOfJoints:
    """A range of a weighted sum of joint positions."""

    joints: Mapping[str, float]  # factor of each joint
    offset: float  # added to the sum [rad]
    lower: float  # [rad], infinite where a side is open
    upper: float  # likewise


@dataclass(frozen=True)
class SineTimesCosine:
    """A largest value of the sine of one joint times the magnitude of the cosine of another."""

    sine: str
    cosine: str
    at_most: float


@dataclass(frozen=True, eq=False)
class ExtraLimits:
    """Limits beyond margins and windows; by default none."""

    jerk: JointValues | None = None  # largest jerk [rad/s^3]
    # By kind of TIGHTENED, what is taken for the robot's own limit where that is wider.
    limits: Mapping[str, JointValues] = field(default_factory=dict)
    workspace: tuple[FrameBox, ...] = ()  # where links stay
    tool_speed: FrameSpeed | None = None  # how fast a link moves
    rules: tuple[SumOfJoints | SineTimesCosine, ...] = ()  # what positions keep together


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
