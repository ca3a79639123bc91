# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A trajectory file is what was approved, to the last bit."""

from dataclasses import replace
import json

from builders import two_link_urdf
from hypothesis import given, strategies as st
import numpy as np
import pytest
from robot_identification.cli.excite_text import describe_weakness
from robot_identification.errors import (
    DescriptionError, IdentificationError, UnsafeMotionError, UsageError,
)
from robot_identification.excitation import (
    Budget, certify, design_excitation, dump_trajectory, evaluate_motion, find_experiment,
    FourierParametrization, import_motion, knowledge_of_model, load_experiment, load_trajectory,
    motion_limits, Trajectory, trajectory_csv, weak_parameters,
)
from robot_identification.excitation.experiment_file import Margins, read_experiment
from robot_identification.excitation.information import (
    BaseColumns, information_root, Knowledge, runs_until, standard_errors,
)
from robot_identification.excitation.parametrizations import CompositeParametrization
from robot_identification.excitation.parametrizations.composite import SlowReversals, Stops
from robot_identification.excitation.sequential import _weights, allowed_errors
from robot_identification.files import dump_yaml, read_yaml
from robot_identification.model import (
    BaseReduction, CoulombFriction, IdentifiedModel, make_robot_model, make_standard_parameters,
    Motion, observation_matrix, parse_urdf, reduce_to_base, SignalSource, ViscousFriction,
)
from robot_identification.model.robot_model import Drives


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


NOISE = np.array([0.4, 0.2])
# A base with friction and rotors as `identify` has it, with a width that no experiment has.
FRICTION = (CoulombFriction(0.02), ViscousFriction())


@pytest.fixture(scope='module')
def arm():
    drives = Drives(np.ones(2), np.ones(2), np.ones(2))
    return replace(
        make_robot_model(parse_urdf(two_link_urdf(), 'arm')), drives=drives, effort_unit='Nm',
        sampling_rate=RATE,
    )


@pytest.fixture(scope='module')
def wanted():
    demo = load_experiment(find_experiment('demo'))
    return replace(
        demo, form=FourierParametrization(3, 4.0), segments=(), window={}, collision=False,
        samples=(40,), friction='coulomb,viscous', margins=Margins(acceleration=1.0),
    )


@pytest.fixture(scope='module')
def first(arm, wanted):
    """Return a poor motion: the second joint moves little."""
    coefficients = np.random.default_rng(0).normal(size=(2, wanted.form.n_coefficients)) * 0.2
    coefficients[1] *= 0.4
    return Trajectory(arm.name, arm.joint_names, wanted.form, coefficients, 1, {})


def lively(robot, count=400):
    rng = np.random.default_rng(3)
    return Motion(*(rng.uniform(-size, size, (count, robot.n)) for size in (1.5, 2.0, 4.0)))


def identified(robot, motion, noise, friction=FRICTION, keep=None, changes=None):
    """Return the model that weighted least squares finds, with the exact covariance."""
    parameters = make_standard_parameters(robot.n, friction, reflected_inertia=True)
    reduction = reduce_to_base(robot, parameters)
    if keep is not None:
        rows = [i for i, name in enumerate(reduction.names) if keep(name)]
        reduction = BaseReduction(
            parameters, reduction.K[rows], reduction.independent[rows], reduction.gap
        )
    W = observation_matrix(robot, parameters, motion)[:, reduction.independent]
    R = np.linalg.qr(W / np.tile(noise, len(motion))[:, None], mode='r')
    inverse = np.linalg.inv(R)
    theta = np.linspace(0.5, 1.5, reduction.rank)
    model = IdentifiedModel(
        robot, 'Nm', reduction, theta, inverse @ inverse.T, None, '', SignalSource(), {},
        {'residual_standard_deviation': noise},
    )
    return replace(model, **(changes or {}))


def information(robot, experiment, motion, noise):
    """Return the information of a motion about an experiment's base parameters, squared."""
    W = BaseColumns(robot, experiment).matrix(motion)
    weighted = W / np.tile(noise, len(motion))[:, None]
    return weighted.T @ weighted


def assert_same_information(rows, expected, tolerance=1e-6):
    """Compare in units of the expected errors: of one is the difference of every eigenvalue."""
    root = np.linalg.cholesky(np.linalg.inv(expected))
    relative = root.T @ (rows.T @ rows) @ root
    np.testing.assert_allclose(relative, np.eye(len(relative)), atol=tolerance)


@pytest.mark.parametrize('frames', ['joint', 'mdh'])
@pytest.mark.parametrize('preference', ['gautier_khalil', 'mass_first'])
def test_information_is_that_of_the_recording_in_every_base_set(ur5, frames, preference):
    """What was recorded is known, whatever set the next experiment is stated in."""
    demo = load_experiment(find_experiment('demo'))
    experiment = replace(
        demo, frames=frames, preference=preference, friction='coulomb,viscous'
    )
    motion = lively(ur5)
    # The widths differ on purpose; the oracle has the model's at slow passages: none are sampled.
    motion = replace(motion, dq=motion.dq + 0.5 * np.sign(motion.dq))
    noise = np.array([0.5, 0.6, 0.4, 0.2, 0.1, 0.15])
    model = identified(ur5, motion, noise)
    known = knowledge_of_model(model, ur5, experiment)
    assert known.notes == ()
    np.testing.assert_array_equal(known.noise, noise)
    # 54 parameters have information over nine orders of magnitude; 1e-6 of the errors is left.
    assert_same_information(known.rows, information(ur5, experiment, motion, noise))
    # The identified values predict the same torques.
    W = BaseColumns(ur5, experiment).matrix(motion)
    torque = model.torque(motion).ravel()
    np.testing.assert_allclose(W @ known.theta, torque, atol=1e-8 * np.abs(torque).max())


@given(st.integers(0, 2**31))
def test_errors_and_times_are_those_of_the_sum_of_information(seed):
    """Against plain inverses, which well-conditioned examples allow; times put back in."""
    rng = np.random.default_rng(seed)
    before, run = rng.normal(size=(9, 5)), rng.normal(size=(20, 5))
    run[:, 4] = 0.0
    errors = [
        np.sqrt(np.diag(np.linalg.inv(before.T @ before + runs * run.T @ run)))
        for runs in (0.0, 1.0)
    ]
    np.testing.assert_allclose(standard_errors(before), errors[0], rtol=1e-8)
    np.testing.assert_allclose(standard_errors(np.vstack([before, run])), errors[1], rtol=1e-8)
    targets = 0.3 * errors[0]
    # The last one is helped by what the others are known better, and no further.
    end = 1.0 / np.linalg.norm(before[:, 4])
    targets[4] = 0.99 * end
    runs = runs_until(before, run, targets)
    for index in range(4):
        found = np.linalg.inv(before.T @ before + runs[index] * run.T @ run)[index, index]
        # What the search for the time leaves.
        assert np.sqrt(found) == pytest.approx(targets[index], rel=1e-6)
    assert runs[4] == np.inf
    targets = 1.1 * errors[0]
    targets[4] = 1.01 * end
    np.testing.assert_array_equal(runs_until(before, run, targets)[:4], 0.0)
    assert np.isfinite(runs_until(before, run, targets)[4])


def no_knowledge(arm, experiment):
    """Return what is known before a first motion: nothing."""
    base = BaseColumns(arm, experiment)
    theta = np.zeros(base.reduction.rank)
    return Knowledge(
        np.zeros((0, len(theta))), _weights(experiment, NOISE, RATE),
        allowed_errors(base, motion_limits(arm, experiment), theta, NOISE), theta, NOISE, RATE,
    )


def test_weak_parameters_are_named_with_the_time_that_mends_them(arm, wanted, first):
    """A motion that moves the second joint little leaves its parameters weak."""
    nothing = no_knowledge(arm, wanted)
    weakness = weak_parameters(arm, wanted, first, nothing)
    assert np.all(np.isinf(weakness.before))
    count = int(RATE * wanted.form.duration)
    recording = first.sample(np.arange(count) / RATE)
    F = information(arm, wanted, recording, NOISE)
    # What it says is checked against information of the recording itself, sampled as recorded; the
    # analysis samples otherwise, which changes errors by up to 2 % where friction turns over.
    np.testing.assert_allclose(
        weakness.after, np.sqrt(np.diag(np.linalg.inv(F))), rtol=0.02
    )
    # Without knowledge information is proportional to time, and errors fall with its root.
    expected = first.duration / 60.0 * (weakness.after / weakness.allowed) ** 2
    np.testing.assert_allclose(weakness.minutes, expected, rtol=1e-6)
    weakest = [weakness.names[i] for i in weakness.order[:2]]
    assert weakness.weak[weakness.order[0]]
    assert all(name.endswith('2') for name in weakest)
    text = ' '.join(describe_weakness(weakness).split())
    assert all(name in text for name in weakest)
    assert f'{weakness.minutes.max():.1f} minutes of it suffice for all' in text
    # The same motion again, known to be there: twice the information.
    twice = replace(first, periods=2)
    np.testing.assert_allclose(
        weak_parameters(arm, wanted, twice, nothing).after, weakness.after / np.sqrt(2.0),
        rtol=1e-9,
    )


def test_models_that_say_nothing_useful_are_refused(arm, wanted):
    model = identified(arm, lively(arm), NOISE)
    cases = [
        (DescriptionError, 'not positive', {'covariance': np.zeros_like(model.covariance)}),
        (UsageError, 'identify it again', {'quality': {}}),
        (DescriptionError, 'positive numbers are needed',
         {'quality': {'residual_standard_deviation': [0.1, 0.0]}}),
    ]
    for kind, match, changes in cases:
        with pytest.raises(kind, match=match):
            knowledge_of_model(replace(model, **changes), arm, wanted)
    with pytest.raises(DescriptionError, match=r'eigenvalue -1'):
        information_root(np.array([[1.0, 2.0], [2.0, 1.0]]))
    with pytest.raises(UsageError, match='one set of samples'):
        knowledge_of_model(model, arm, replace(wanted, samples=(20, 40)))
    with pytest.raises(UsageError, match='sampling rate'):
        knowledge_of_model(
            replace(model, robot=replace(arm, sampling_rate=0.0)), arm, wanted
        )
    renamed = make_robot_model(parse_urdf(two_link_urdf(name='other'), 'other'))
    with pytest.raises(UsageError, match='with the joints one, two; made_up has other, two'):
        knowledge_of_model(model, renamed, wanted)
    longer = make_robot_model(parse_urdf(two_link_urdf(xyz=(0, 0, 0.4)), 'longer'))
    with pytest.raises(UsageError, match=r'one of made_up is placed otherwise .* by 0\.1'):
        knowledge_of_model(model, longer, wanted)
