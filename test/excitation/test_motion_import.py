# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Motions of other programs come in as they are, or not at all."""

import json

import numpy as np
import pytest
from robot_identification.errors import DescriptionError
from robot_identification.excitation import (
    FourierParametrization, import_motion, Trajectory, trajectory_csv,
)
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


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('t,q_1,q_2\n', 'has 0 samples, a motion needs two'),
        ('t,q_1,q_2\n0,1,2\n1,2\n', 'line 3 has 2 values, the header 3'),
        ('t,q_1,q_2\n0,1,x\n', "line 2: q_2 is 'x', a number is needed"),
        ('t,q_1,q_2\n0,1,2\n1,1,2\n1,1,2\n', 'time of line 4 is 1 s and that of line 3 1 s'),
        ('t,q_1,q_2\n0,1,2\n601,1,2\n', 'times go from 0.0 to 601.0 s'),
    ],
)
def test_wrong_samples_are_refused_by_line_and_column(write, text, message):
    with pytest.raises(DescriptionError, match=rf'motion.csv.*{message}'):
        import_motion(write('motion.csv', text), JOINTS)


def changed(**changes):
    return lambda content: content['points'][1].update(changes)


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        (lambda c: c.update(joint_names=['elbow', 'shoulder', 'hand']), 'hand not of the arm'),
        (lambda c: c['points'].append('...'), r'points\[9\] .*ros2 topic echo --full-length'),
        (lambda c: c['points'][1].pop('positions'), r'points\[1\]: missing positions'),
        (changed(positions=[1.0]), r'points\[1\].positions is \[1.0\], a list of 2 numbers'),
        (changed(velocities=[1e400, 1.0]), r'velocities: elbow is inf|Infinity'),
        (changed(time_from_start={'sec': 0, 'nanosec': 0}), r'of points\[1\] is 0 s and that of'),
        (changed(time_from_start={'sec': 0, 'nanosec': 10**9}), r'nanosec is 1000000000, a whole'),
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


@pytest.mark.parametrize(
    ('name', 'text', 'message'),
    [
        ('motion.txt', '', 'name it .csv'),
        ('motion.json', '{', 'not valid JSON'),
        ('motion.json', '[' * 100_000, 'not valid JSON'),
        ('motion.json', '{"points": [], "points": []}', 'a key is given twice among points'),
    ],
)
def test_what_is_no_motion_at_all_is_refused(write, name, text, message):
    with pytest.raises(DescriptionError, match=rf'{name}.*{message}'):
        import_motion(write(name, text), JOINTS)
