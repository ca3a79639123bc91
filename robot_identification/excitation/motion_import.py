# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Motions of other programs: samples as CSV, a JointTrajectory message, a table of a publication.

They become trajectories without a certificate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
import json
from pathlib import Path
import re
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DescriptionError
from robot_identification.excitation.experiment_file import errors_of
from robot_identification.excitation.fourier_table import is_fourier_table, trajectory_of_table
from robot_identification.excitation.parametrizations.sampled import (
    knot_coefficients, MAXIMUM_KNOTS, SampledParametrization,
)
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.files import (
    check_keys, is_number, is_whole_number, parse_yaml, read_text, to_list, to_mapping,
)
import scipy

KINDS = ('q', 'dq', 'ddq')
# What the fields of a message's points are called here.
FIELDS = {'q': 'positions', 'dq': 'velocities', 'ddq': 'accelerations'}
FEWER = 'sample the motion at a lower rate'
# No position, velocity or acceleration of a joint, and no time of this age, is larger [SI].
LARGEST = 1.0e11


def import_motion(
    path: Path, robot_joint_names: Sequence[str], *, robot: str = 'unknown'
) -> Trajectory:
    """
    Read a motion that another program made.

    A .csv file holds samples under a header `t,q_1,..,dq_1,..,ddq_1,..` in kinematic order, or
    with joint names instead of numbers, in any order. A .yaml, .yml or .json file holds a
    trajectory_msgs/JointTrajectory as `ros2 topic echo` prints it (the first if there are
    several), or a published table of Fourier coefficients (`fourier_table`). Velocities or
    accelerations that the file does not give are those of a spline at rest at both ends: of degree
    5 through the positions, or of degree 3 through the velocities. The first sample is the start,
    at any time. The result has the form `sampled`, or `fourier` for a table, and an empty
    certificate. Raises UsageError if there is no such file; DescriptionError, with file, line or
    point, and joint, if it is not a motion of these joints (kinematic order); UnsafeMotionError if
    a table does not start and end at rest.
    """
    if path.suffix.lower() not in ('.csv', '.yaml', '.yml', '.json'):
        raise DescriptionError(
            f'{path} is not known to hold a motion: name it .csv (samples), .yaml or .json '
            '(a JointTrajectory message)'
        )
    joints, source = tuple(robot_joint_names), str(path)
    text = read_text(path).removeprefix('\ufeff')
    content = None
    if path.suffix.lower() != '.csv':
        content = _first_document(text, path.suffix.lower(), source)
        if is_fourier_table(content):
            return trajectory_of_table(content, source, robot, joints)
    with errors_of(source):
        times, columns = (
            _read_csv(text, joints) if content is None else _read_message(content, joints)
        )
        times = times - times[0]
        form = SampledParametrization(tuple(times.tolist()))
        coefficients = knot_coefficients(*_complete(times, columns))
        return Trajectory(robot, joints, form, coefficients, 1, {})


def _complete(
    times: FloatArray, columns: Mapping[str, FloatArray]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return positions, velocities and accelerations, those not given by splines."""
    q = columns['q']
    if 'dq' not in columns:
        rest = [(1, np.zeros(q.shape[1])), (2, np.zeros(q.shape[1]))]
        spline = scipy.interpolate.make_interp_spline(times, q, k=5, bc_type=(rest, rest))
        return q, spline(times, nu=1), spline(times, nu=2)
    dq = columns['dq']
    if 'ddq' not in columns:
        rest = [(1, np.zeros(q.shape[1]))]
        spline = scipy.interpolate.make_interp_spline(times, dq, k=3, bc_type=(rest, rest))
        return q, dq, spline(times, nu=1)
    return q, dq, columns['ddq']


def _check_times(times: FloatArray, places: Sequence[str]) -> None:
    """Check that there is a motion: two instants, one after the other; places name them."""
    if len(times) < 2:
        raise DescriptionError(
            f'it has {len(times)} samples, a motion needs two: check that it is complete'
        )
    if len(times) > MAXIMUM_KNOTS:
        raise DescriptionError(
            f'it has more than {MAXIMUM_KNOTS} samples: {FEWER}, or import a part of it'
        )
    wrong = np.flatnonzero(~(np.diff(times) > 0.0))
    if wrong.size:
        k = int(wrong[0])
        raise DescriptionError(
            f'the time of {places[k + 1]} is {times[k + 1]:.9g} s and that of {places[k]} '
            f'{times[k]:.9g} s: times must increase; leave out what is repeated'
        )


def _check_kinds(given: Mapping[str, Any], names: Mapping[str, str]) -> None:
    """Check that nothing is missing that what is given follows from."""
    if 'q' not in given:
        raise DescriptionError(f'no {names["q"]} are given: a motion needs them')
    if 'ddq' in given and 'dq' not in given:
        raise DescriptionError(
            f'{names["ddq"]} are given and {names["dq"]} are not: give both, or leave both out'
        )


def _read_csv(
    text: str, joints: tuple[str, ...]
) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Return times (N,) and what else the columns hold, (N, n) each."""
    header, *lines = text.splitlines() or ['']
    names = [name.strip() for name in header.split(',')]
    places = _csv_columns(names, joints)
    numbers, rows = [], []
    for number, line in enumerate(lines, start=2):
        if not line.strip():
            continue
        numbers.append(number)
        rows.append(_csv_row(line, names, f'line {number}'))
        if len(rows) > MAXIMUM_KNOTS:
            break
    table = np.array(rows, dtype=float).reshape(len(rows), len(names))
    times = table[:, names.index('t')]
    _check_times(times, [f'line {number}' for number in numbers])
    return times, {kind: table[:, where] for kind, where in places.items()}


def _csv_columns(names: list[str], joints: tuple[str, ...]) -> dict[str, list[int]]:
    """Return where the joints stand, kinematic order, by kind."""
    numbered = [str(number) for number in range(1, len(joints) + 1)]
    # Numbers are the order, unless the joints are named so.
    words = list(joints) if f'q_{joints[0]}' in names else numbered
    known = {'t': 't', **{f'{kind}_{word}': kind for kind in KINDS for word in words}}
    for name in names:
        if name not in known:
            raise DescriptionError(
                f'line 1: column {name!r} is not known: the header is t, q_1 .. q_{len(joints)}, '
                f'or with names q_{joints[0]} .. q_{joints[-1]}; then the same with dq_ and ddq_, '
                'or none of these'
            )
        if names.count(name) > 1:
            raise DescriptionError(f'line 1: column {name} is there twice, remove one')
    given = {known[name]: name for name in names}
    if 't' not in given:
        raise DescriptionError('line 1: there is no column t: give the times in s')
    _check_kinds(given, {kind: f'columns {kind}_' for kind in KINDS})
    for kind in given:
        for word, joint in zip(words, joints, strict=True):
            if kind != 't' and f'{kind}_{word}' not in names:
                raise DescriptionError(
                    f'line 1: column {kind}_{word} ({joint}) is missing: the arm has '
                    f'{len(joints)} joints'
                )
    return {
        kind: [names.index(f'{kind}_{word}') for word in words] for kind in given if kind != 't'
    }


def _csv_row(line: str, names: list[str], place: str) -> list[float]:
    cells = line.split(',')
    if len(cells) != len(names):
        raise DescriptionError(
            f'{place} has {len(cells)} values, the header {len(names)}: complete the line or '
            'remove it'
        )
    values = []
    for name, cell in zip(names, cells, strict=True):
        try:
            # Python takes 1_000 for a number, too.
            value = float('nan') if '_' in cell else float(cell)
        except ValueError:
            value = float('nan')
        if not abs(value) < LARGEST:
            raise DescriptionError(
                f'{place}: {name} is {cell.strip()!r:.40}, a number is needed, of at most '
                f'{LARGEST:.0e}: repair or remove the line'
            )
        values.append(value)
    return values


def _first_document(text: str, suffix: str, source: str) -> dict[str, Any]:
    documents = [part for part in re.split(r'(?m)^---[ \t]*\r?$', text) if part.strip()]
    if not documents:
        raise DescriptionError(f'{source} is empty: a JointTrajectory message is needed')
    content: dict[str, Any] = (_parse_json if suffix == '.json' else parse_yaml)(
        documents[0], source
    )
    return content


def _read_message(
    content: dict[str, Any], joints: tuple[str, ...]
) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Return times (N,) and what the points of a message hold, (N, n) each."""
    check_keys(content, 'the message', {'joint_names', 'points'}, {'header'})
    order = _joint_order(content['joint_names'], joints)
    points = to_list(content['points'], 'points')
    if len(points) > MAXIMUM_KNOTS:
        raise DescriptionError(
            f'it has {len(points)} points, at most {MAXIMUM_KNOTS} are read: {FEWER}'
        )
    places = [f'points[{number}]' for number in range(len(points))]
    for point, place in zip(points, places, strict=True):
        _check_point(point, place)
    times = np.array([
        _seconds(point['time_from_start'], f'{place}.time_from_start')
        for point, place in zip(points, places, strict=True)
    ])
    _check_times(times, places)
    # An array that is empty in a message is one that is not there.
    given = {kind: field for kind, field in FIELDS.items() if points[0].get(field)}
    _check_kinds(given, FIELDS)
    columns = {}
    for kind, field in FIELDS.items():
        rows = [
            _point_row(point.get(field), joints, order, kind in given, f'{place}.{field}')
            for point, place in zip(points, places, strict=True)
        ]
        if kind in given:
            columns[kind] = np.array(rows, dtype=float)
    return times, columns


def _parse_json(text: str, source: str) -> dict[str, Any]:
    try:
        content = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise DescriptionError(f'{source} is not valid JSON: {error}') from error
    if not isinstance(content, dict):
        raise DescriptionError(f'{source} must hold an object, found {content!r:.60}')
    return content


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        raise ValueError(f'a key is given twice among {", ".join(name for name, _ in pairs):.80}')
    return content


def _no_constant(name: str) -> float:
    raise ValueError(f'{name} is not a number')


def _joint_order(names: Any, joints: tuple[str, ...]) -> list[int]:
    """Return where each joint of the arm stands in the message."""
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise DescriptionError(f'joint_names is {names!r:.60}, names are needed')
    twice = [name for name, count in Counter(names).items() if count > 1]
    missing = [joint for joint in joints if joint not in names]
    other = [name for name in names if name not in joints]
    for words, what in ((twice, 'named twice'), (missing, 'missing'), (other, 'not of the arm')):
        if words:
            raise DescriptionError(
                f'joint_names: {", ".join(words):.200} {what}; the joints of the arm are '
                f'{", ".join(joints)}: rename them in the file'
            )
    return [names.index(joint) for joint in joints]


def _check_point(point: Any, place: str) -> None:
    if point == '...':
        raise DescriptionError(
            f'{place} stands for points that were not printed: use `ros2 topic echo --full-length`'
        )
    check_keys(
        to_mapping(point, place), place, {'positions', 'time_from_start'},
        {'velocities', 'accelerations', 'effort'},
    )


def _seconds(stamp: Any, place: str) -> float:
    """Return a duration of a message [s]."""
    if not isinstance(stamp, dict):
        raise DescriptionError(f'{place} is {stamp!r:.40}, {{sec, nanosec}} is needed')
    check_keys(stamp, place, {'sec', 'nanosec'}, set())
    for name, value in stamp.items():
        most = 2**31 - 1 if name == 'sec' else 999_999_999
        if not is_whole_number(value) or not 0 <= value <= most:
            raise DescriptionError(
                f'{place}.{name} is {value!r:.40}, a whole number from 0 to {most} is needed'
            )
    return float(stamp['sec'] + 1e-9 * stamp['nanosec'])


def _point_row(
    values: Any, joints: tuple[str, ...], order: list[int], needed: bool, place: str
) -> list[float]:
    """Return an array of a point in the order of the arm."""
    if not needed:
        if values:
            raise DescriptionError(
                f'{place} is given and the first point has none: give it for all points or none'
            )
        return []
    if not isinstance(values, list) or len(values) != len(joints):
        raise DescriptionError(
            f'{place} is {values!r:.40}, a list of {len(joints)} numbers is needed, one for each '
            'joint'
        )
    for joint, where in zip(joints, order, strict=True):
        value = values[where]
        if not is_number(value):
            raise DescriptionError(f'{place}: {joint} is {value!r:.40}, a number is needed')
        if not abs(value) < LARGEST:
            raise DescriptionError(
                f'{place}: {joint} is {value!r:.40}, at most {LARGEST:.0e} can be: repair it'
            )
    return [float(values[where]) for where in order]
