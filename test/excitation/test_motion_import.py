# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Motions of other programs come in as they are, or not at all."""

from dataclasses import replace
import json

import numpy as np
import pytest
from robot_identification.errors import DescriptionError
from robot_identification.excitation import (
    check_rest_at_ends, FourierParametrization, import_motion, Trajectory, trajectory_csv,
)
from robot_identification.excitation.parametrizations.sampled import MAXIMUM_KNOTS
from robot_identification.files import dump_yaml

JOINTS = ('shoulder', 'elbow')
RATE = 100.0


@pytest.fixture
def original(rng):
    """Return a motion of two joints, two harmonics of up to three radians, four seconds."""
    form = FourierParametrization(harmonics=3, base_period=4.0)
    return Trajectory('arm', JOINTS, form, rng.normal(size=(2, form.n_coefficients)), 1, {})


@pytest.fixture
def write(tmp_path):
    def written(name, text):
        path = tmp_path / name
        path.write_text(text, encoding='utf-8')
        return path
    return written


def assert_same_motion(imported, original, factor=1.0):
    t = np.linspace(0.0, 4.0, 1237)
    found, expected = imported.sample(t), original.sample(t)
    for kind, tolerance in (('q', 1e-9), ('dq', 1e-7), ('ddq', 1e-4)):
        # Quintics through samples 0.01 s apart err by (10 rad/s * 0.01 s)^6 / 10^4 of a radian,
        # 1e-10, and derivatives lose a factor of 600 and of 600^2.
        np.testing.assert_allclose(
            getattr(found, kind), getattr(expected, kind), atol=factor * tolerance
        )


def csv_without(original, *kinds):
    """Return the samples of a motion without some columns."""
    rows = [line.split(',') for line in trajectory_csv(original, RATE).splitlines()]
    kept = [k for k, name in enumerate(rows[0]) if name.partition('_')[0] not in kinds]
    return '\n'.join(','.join(row[k] for k in kept) for row in rows) + '\n'


def message(original, rate=RATE, **changes):
    """Return a motion as the content of a JointTrajectory message, joints in reverse."""
    times = original.times(rate)
    motion = original.sample(times)
    points = [
        {
            'positions': q[::-1].tolist(), 'velocities': dq[::-1].tolist(),
            'accelerations': ddq[::-1].tolist(), 'effort': [],
            'time_from_start': {'sec': int(t), 'nanosec': round(1e9 * (t - int(t)))},
        }
        for t, q, dq, ddq in zip(times, motion.q, motion.dq, motion.ddq, strict=True)
    ]
    header = {'stamp': {'sec': 0, 'nanosec': 0}, 'frame_id': ''}
    return {'header': header, 'joint_names': list(JOINTS[::-1]), 'points': points, **changes}


def test_samples_that_excite_writes_are_read_back(original, write):
    """Twelve digits of them."""
    imported = import_motion(
        write('motion.csv', trajectory_csv(original, RATE)), JOINTS, robot='arm'
    )
    assert_same_motion(imported, original)
    assert (imported.robot, imported.joint_names, imported.periods) == ('arm', JOINTS, 1)
    assert imported.form.name == 'sampled'
    assert imported.certificate == {}


@pytest.mark.parametrize(('left_out', 'factor'), [(['ddq'], 10.0), (['dq', 'ddq'], 10.0)])
def test_what_is_not_given_follows_from_what_is(original, write, left_out, factor):
    """A cubic spline's slope errs more than samples do."""
    imported = import_motion(write('q.csv', csv_without(original, *left_out)), JOINTS)
    assert_same_motion(imported, original, factor)
    check_rest_at_ends(imported)


def test_columns_may_have_the_names_of_joints_in_any_order(original, write):
    text = csv_without(original, 'dq', 'ddq')
    lines = [','.join(np.array(line.split(','))[[2, 0, 1]]) for line in text.splitlines()]
    lines[0] = 'q_elbow, t, q_shoulder'
    imported = import_motion(write('named.csv', '\ufeff' + '\r\n'.join(lines) + '\r\n\n'), JOINTS)
    assert_same_motion(imported, original, 10.0)


@pytest.mark.parametrize('name', ['motion.yaml', 'motion.YML', 'motion.json'])
def test_a_message_is_read_and_its_joints_are_put_in_order(original, write, name):
    content = message(original)
    text = json.dumps(content) if name.endswith('json') else dump_yaml(content)
    # As `ros2 topic echo` ends each message; only the first is read.
    imported = import_motion(write(name, f'{text}\n---\n{{}}\n---\n'), JOINTS)
    assert_same_motion(imported, original)


def test_an_empty_array_of_a_message_is_no_array(original, write):
    content = message(original)
    for point in content['points']:
        point.update(velocities=[], accelerations=[])
        del point['effort']
    assert_same_motion(import_motion(write('q.json', json.dumps(content)), JOINTS), original, 10.0)


def test_few_points_at_rest_are_joined_by_quintics(write):
    """What planners send: two poses; half-way after half the time."""
    rest = [0.0, 0.0]
    points = [
        {'positions': q, 'velocities': rest, 'accelerations': rest,
         'time_from_start': {'sec': t, 'nanosec': 0}}
        for t, q in ((0, [0.0, 1.0]), (2, [1.0, 0.0]))
    ]
    content = {'joint_names': list(JOINTS), 'points': points}
    imported = import_motion(write('two.json', json.dumps(content)), JOINTS)
    middle = imported.sample(np.array([1.0]))
    np.testing.assert_allclose(middle.q, [[0.5, 0.5]], atol=1e-12)
    np.testing.assert_allclose(middle.dq, [[0.9375, -0.9375]], atol=1e-12)


def test_times_count_from_the_first_sample(original, write):
    """A recording starts at any time; digits of a stamp in 2026 leave a tenth of a microsecond."""
    rows = [line.split(',') for line in trajectory_csv(original, RATE).splitlines()]
    for row in rows[1:]:
        row[0] = f'{1.79e9 + float(row[0]):.9f}'
    text = '\n'.join(','.join(row) for row in rows)
    imported = import_motion(write('later.csv', text), JOINTS)
    assert imported.duration == pytest.approx(4.0, abs=1e-6)
    middle = imported.sample(np.array([2.0])).q
    np.testing.assert_allclose(middle, original.sample(np.array([2.0])).q, atol=1e-5)


def test_only_what_ends_as_it_starts_is_repeated(original, write):
    closed = import_motion(write('closed.csv', trajectory_csv(original, RATE)), JOINTS)
    assert replace(closed, periods=3).duration == pytest.approx(12.0)
    half = write('half.csv', '\n'.join(trajectory_csv(original, RATE).splitlines()[:150]))
    with pytest.raises(DescriptionError, match=r'periods is 3, .* periods must be 1'):
        replace(import_motion(half, JOINTS), periods=3)


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('', "line 1: column '' is not known"),
        ('t,q_1,q_2\n', 'has 0 samples, a motion needs two'),
        ('q_1,q_2\n', 'there is no column t'),
        ('t,q_1\n', r'column q_2 \(elbow\) is missing'),
        ('t,q_1,q_2,q_3\n', "column 'q_3' is not known"),
        ('t,q_shoulder,q_2\n', "column 'q_2' is not known"),
        ('t,q_1,q_2,q_1\n', 'column q_1 is there twice'),
        ('t,q_1,q_2,dq_1\n', r'column dq_2 \(elbow\) is missing'),
        ('t,q_1,q_2,ddq_1,ddq_2\n', 'columns ddq_ are given and columns dq_ are not'),
        ('t,dq_1,dq_2\n', 'no columns q_ are given'),
        ('t,q_1,q_2\n0,1,2\n1,2\n', 'line 3 has 2 values, the header 3'),
        ('t,q_1,q_2\n0,1,x\n', "line 2: q_2 is 'x', a number is needed"),
        ('t,q_1,q_2\n0,1,1_0\n', "q_2 is '1_0'"),
        ('t,q_1,q_2\n0,1,2\n\n1,-inf,2\n', "line 4: q_1 is '-inf'"),
        ('t,q_1,q_2\n0,1,1e300\n', "q_2 is '1e300', a number is needed, of at most 1e"),
        ('t,q_1,q_2\n0,1,2\n1,1,2\n1,1,2\n', 'time of line 4 is 1 s and that of line 3 1 s'),
        ('t,q_1,q_2\n0,1,2\n0.0001,1,2\n', 'by two milliseconds at least'),
        ('t,q_1,q_2\n0,1,2\n601,1,2\n', 'times go from 0.0 to 601.0 s'),
    ],
)
def test_wrong_samples_are_refused_by_line_and_column(write, text, message):
    with pytest.raises(DescriptionError, match=rf'motion.csv.*{message}'):
        import_motion(write('motion.csv', text), JOINTS)


def test_too_many_samples_are_refused_before_they_are_read(write):
    """What stands behind the last line allowed is not looked at."""
    lines = [f'{0.001 * k:.3f},0,0' for k in range(MAXIMUM_KNOTS + 1)]
    text = '\n'.join(['t,q_1,q_2', *lines, 'broken'])
    with pytest.raises(DescriptionError, match=rf'more than {MAXIMUM_KNOTS} samples: sample'):
        import_motion(write('long.csv', text), JOINTS)


def changed(**changes):
    return lambda content: content['points'][1].update(changes)


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        (lambda c: c.update(joint_names=['elbow']), 'joint_names: shoulder missing'),
        (lambda c: c.update(joint_names=['elbow', 'shoulder', 'hand']), 'hand not of the arm'),
        (lambda c: c.update(joint_names=['elbow', 'elbow', 'shoulder']), 'elbow named twice'),
        (lambda c: c.update(joint_names='elbow'), "joint_names is 'elbow'"),
        (lambda c: c.update(points={}), 'points is {}, a list'),
        (lambda c: c.update(points=[]), 'has 0 samples'),
        (lambda c: c.update(goal=1), 'unknown key goal'),
        (lambda c: c.pop('points'), 'missing points'),
        (lambda c: c['points'].append('...'), r'points\[9\] .*ros2 topic echo --full-length'),
        (lambda c: c['points'].append(3), r'points\[9\] is 3, it must be a mapping'),
        (lambda c: c['points'][1].pop('positions'), r'points\[1\]: missing positions'),
        (changed(positions=[1.0]), r'points\[1\].positions is \[1.0\], a list of 2 numbers'),
        (changed(positions=[1.0, 'x']), r"points\[1\].positions: shoulder is 'x'"),
        (changed(positions=[True, 1.0]), r'positions: elbow is True'),
        (changed(velocities=[1e400, 1.0]), r'velocities: elbow is inf|Infinity'),
        (changed(velocities=[10**400, 1.0]), r'velocities: elbow is 1000|the integer 1000'),
        (changed(velocities=[]), r'points\[1\].velocities is \[\], a list of 2'),
        (changed(time_from_start=0.1), r'time_from_start is 0.1, {sec, nanosec}'),
        (changed(time_from_start={'secs': 1, 'nsecs': 0}), r'time_from_start: missing'),
        (changed(time_from_start={'sec': 0, 'nanosec': 0}), r'of points\[1\] is 0 s and that of'),
        (changed(time_from_start={'sec': 0, 'nanosec': 10**9}), r'nanosec is 1000000000, a whole'),
        (changed(time_from_start={'sec': -1, 'nanosec': 0}), r'sec is -1'),
        (changed(velocity=[0.0, 0.0]), r'points\[1\]: unknown key velocity'),
    ],
)
@pytest.mark.parametrize('kind', ['yaml', 'json'])
def test_wrong_messages_are_refused_by_point_and_joint(original, write, change, message, kind):
    content = message_of_nine(original)
    change(content)
    text = json.dumps(content) if kind == 'json' else dump_yaml(content)
    with pytest.raises(DescriptionError, match=rf'motion.{kind}.*({message})'):
        import_motion(write(f'motion.{kind}', text), JOINTS)


def message_of_nine(original):
    return message(original, rate=2.0)


def test_an_array_of_some_points_only_is_refused(original, write):
    content = message_of_nine(original)
    content['points'][0]['accelerations'] = []
    with pytest.raises(DescriptionError, match=r'points\[1\].accelerations is given and the '):
        import_motion(write('motion.json', json.dumps(content)), JOINTS)
    content = message_of_nine(original)
    for point in content['points']:
        del point['velocities']
    with pytest.raises(DescriptionError, match='accelerations are given and velocities are not'):
        import_motion(write('motion.json', json.dumps(content)), JOINTS)


@pytest.mark.parametrize(
    ('name', 'text', 'message'),
    [
        ('motion.txt', '', 'name it .csv'),
        ('motion.yaml', '---\n---\n', 'is empty'),
        ('motion.yaml', '[1, 2]', 'must hold a mapping'),
        ('motion.json', '{', 'not valid JSON'),
        ('motion.json', '[1, 2]', 'must hold an object'),
        ('motion.json', '[' * 100_000, 'not valid JSON'),
        ('motion.json', '{"points": [], "points": []}', 'a key is given twice among points'),
        ('motion.json', '{"points": NaN}', 'NaN is not a number'),
    ],
)
def test_what_is_no_motion_at_all_is_refused(write, name, text, message):
    with pytest.raises(DescriptionError, match=rf'{name}.*{message}'):
        import_motion(write(name, text), JOINTS)
