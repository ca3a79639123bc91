# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A trajectory file is what was approved, to the last bit."""

from dataclasses import replace
import json

import numpy as np
import pytest
from robot_identification.errors import DescriptionError, IdentificationError, UnsafeMotionError
from robot_identification.excitation import (
    Budget, certify, design_excitation, dump_trajectory, evaluate_motion, FourierParametrization,
    import_motion, load_trajectory, motion_limits, Trajectory, trajectory_csv,
)
from robot_identification.excitation.experiment_file import read_experiment
from robot_identification.excitation.parametrizations import CompositeParametrization
from robot_identification.excitation.parametrizations.composite import SlowReversals, Stops
from robot_identification.files import dump_yaml, read_yaml


@pytest.fixture
def trajectory():
    """Return a motion of two joints, three periods of four seconds."""
    form = FourierParametrization(harmonics=3, base_period=4.0)
    coefficients = np.random.default_rng(0).normal(size=(2, form.n_coefficients))
    return Trajectory('arm', ('one', 'two'), form, coefficients, 3, {'robot': 'arm', 'seed': 7})


@pytest.fixture
def saved(trajectory, tmp_path):
    path = tmp_path / 'trajectory.yaml'
    path.write_text(dump_trajectory(trajectory))
    return path


def test_round_trip_to_the_bit(trajectory, saved):
    loaded = load_trajectory(saved)
    assert loaded.coefficients.tobytes() == trajectory.coefficients.tobytes()
    assert (loaded.robot, loaded.joint_names, loaded.form, loaded.periods) == (
        'arm', ('one', 'two'), trajectory.form, 3,
    )
    assert loaded.certificate == trajectory.certificate
    assert loaded.sha256 == trajectory.sha256
    assert dump_trajectory(loaded) == saved.read_text()
    assert saved.read_text().rstrip().endswith(trajectory.sha256)


@pytest.mark.parametrize(
    ('key', 'value'),
    [
        ('periods', 4), ('robot', 'other'), ('joints', ['two', 'one']), ('certificate', {}),
        ('options', {'harmonics': 3, 'base_period': 4.0000001}),
    ],
)
def test_an_edited_motion_is_not_executed(saved, key, value):
    """Whatever was changed after the approval: unsafe, and the way out is named."""
    content = read_yaml(saved)
    saved.write_text(dump_yaml({**content, key: value}))
    with pytest.raises(UnsafeMotionError, match=r'sha256.*excite --evaluate'):
        load_trajectory(saved)


@pytest.mark.parametrize(
    ('key', 'value', 'error', 'message'),
    [
        ('schema_version', 2, DescriptionError, 'schema_version is 2'),
        ('colour', 'blue', DescriptionError, 'unknown key colour'),
        ('form', 'spline', DescriptionError, "unknown form 'spline': known are fourier"),
        ('coefficients', [[0.0] * 5], DescriptionError, r'shape \(1, 5\)'),
        ('coefficients', [[0.0] * 5, ['x'] * 5], DescriptionError, 'damaged'),
        ('coefficients', [[0.0] * 5, [float('nan')] * 5], UnsafeMotionError, 'finite'),
        ('periods', 0, DescriptionError, 'periods is 0'),
        ('certificate', {'a': float('nan')}, IdentificationError, 'trajectory.yaml'),
    ],
)
def test_a_wrong_file_is_refused_by_name(saved, key, value, error, message):
    content = read_yaml(saved)
    saved.write_text(dump_yaml({**content, key: value}))
    with pytest.raises(error, match=message):
        load_trajectory(saved)


def test_hash_is_over_content_another_program_can_rebuild(trajectory):
    """SHA-256 of JSON with sorted keys and no spaces, as docs/formats says."""
    import hashlib

    content = {
        'schema_version': 1, 'robot': 'arm', 'joints': ['one', 'two'], 'form': 'fourier',
        'options': {'harmonics': 3, 'base_period': 4.0},
        'coefficients': trajectory.coefficients.tolist(), 'periods': 3,
        'certificate': {'robot': 'arm', 'seed': 7},
    }
    text = json.dumps(content, sort_keys=True, separators=(',', ':'))
    assert trajectory.sha256 == hashlib.sha256(text.encode()).hexdigest()


STOPS = {'name': 'stops', 'poses': 3, 'dwell': 0.5, 'move_time': 1.0}
REVERSALS = {'name': 'slow_reversals', 'reversals': 4, 'move_time': 0.8, 'travel': 0.02}
CONTENT = {
    'schema_version': 1,
    'trajectory': {'form': 'fourier', 'harmonics': 3, 'base_period': 6.0},
    'segments': ['fourier', STOPS, REVERSALS],
    'optimizer': 'random',
    'window': {'shoulder_lift_joint': [-2.3, -0.8], 'elbow_joint': [0.4, 2.2]},
    'samples': 40,
    'collision': 'off',
}


def experiment_of(**changes):
    return read_experiment({**CONTENT, **changes}, 'a test')


def design(robot, experiment, seed=3):
    return design_excitation(robot, experiment, seed=seed, budget=Budget(20))


@pytest.fixture(scope='module')
def experiment():
    return experiment_of()


@pytest.fixture(scope='module')
def segmented(ur5, experiment):
    """Return a motion of 6 s, rests of 4 * 1 + 3 * 0.5 s and reversals of 5 * 0.8 s."""
    return design(ur5, experiment)


@pytest.fixture(scope='module')
def plain(ur5, experiment):
    return design(ur5, replace(experiment, segments=()))


def test_the_motion_is_one_of_all_parts(experiment, segmented, plain):
    """The first is the motion without segments, to rounding; each starts where that does."""
    assert segmented.form.name == 'composite'
    assert segmented.duration == pytest.approx(6.0 + 5.5 + 4.0)
    assert experiment.duration == pytest.approx(segmented.duration)
    t = np.linspace(0.0, 5.999, 500)
    found, expected = segmented.sample(t), plain.sample(t)
    for name in 'q', 'dq', 'ddq':
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-12)
    edges = segmented.sample(np.array([0.0, 6.0, 11.5, 15.5]))
    np.testing.assert_allclose(edges.q, edges.q[:1] * np.ones((4, 1)), atol=1e-12)
    for values in (edges.dq, edges.ddq):
        np.testing.assert_allclose(values, 0.0, atol=1e-11)


def test_the_certificate_is_about_all_of_it(ur5, experiment, segmented, plain):
    """A limit that only the rests break refuses the whole; the criterion is of the first part."""
    found = segmented.certificate['experiment']['segments']
    assert found == [Stops(3, 0.5, 1.0).content(), SlowReversals(4, 0.02, 0.8).content()]
    limits = motion_limits(ur5, experiment)
    motion = segmented.sample(segmented.times(1000.0))
    assert np.all(motion.q >= limits.lower) and np.all(motion.q <= limits.upper)
    assert np.all(np.abs(motion.dq) <= limits.velocity)
    coefficients = segmented.coefficients.copy()
    poses = slice(segmented.form.forms[0].n_coefficients, None)
    coefficients[0, poses] = 20.0
    broken = replace(segmented, coefficients=coefficients)
    with pytest.raises(UnsafeMotionError, match='position of shoulder_pan_joint reaches'):
        certify(ur5, experiment, broken, {})
    optimized = evaluate_motion(ur5, experiment, segmented).optimized
    alone = evaluate_motion(ur5, replace(experiment, segments=()), plain).optimized
    for one, other in zip(optimized, alone, strict=True):
        assert one.criteria == pytest.approx(other.criteria, rel=1e-6)


def test_same_seed_same_bytes_and_the_file_is_read_back(ur5, experiment, segmented, tmp_path):
    assert design(ur5, experiment).sha256 == segmented.sha256
    assert design(ur5, experiment, seed=4).sha256 != segmented.sha256
    path = tmp_path / 'trajectory.yaml'
    path.write_text(dump_trajectory(segmented))
    found = load_trajectory(path)
    t = np.linspace(0.0, found.duration, 300)
    np.testing.assert_array_equal(found.sample(t).q, segmented.sample(t).q)
    assert isinstance(found.form, CompositeParametrization)


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
