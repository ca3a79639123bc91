# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The model file: bit for bit what was identified, and refused where it is not."""

from dataclasses import replace
import json

from builders import changed, DELETE
import numpy as np
import pytest
from robot_identification.errors import DescriptionError
from robot_identification.files import dump_yaml, read_yaml
from robot_identification.model import (
    Discrepancy, discrepancy_from_content, dump_model, FRICTION_LAWS, IdentifiedModel,
    JointEncoders, KinematicFilter, load_model, make_standard_parameters, Motion, parse_friction,
    reduce_to_base, SignalSource,
)
from robot_identification.model.kinematic_filter import (
    kinematic_filter_from_options, OPTIONS_BY_KIND,
)


def make_model(robot, parameters=None, *, seed=0, **changes):
    rng = np.random.default_rng(seed)
    parameters = parameters or make_standard_parameters(
        robot.n, parse_friction('coulomb,viscous,offset'), True
    )
    reduction = reduce_to_base(robot, parameters)
    factor = rng.normal(size=(reduction.rank, reduction.rank))
    model = IdentifiedModel(
        robot=robot, effort_unit='A', reduction=reduction,
        theta_base=rng.normal(size=reduction.rank), covariance=factor @ factor.T,
        theta_consistent=rng.normal(size=parameters.size), consistency_note='a note: with "marks"',
        source=SignalSource('/arm/states', {'bag_a': 'elbow_joint'},
                            KinematicFilter(order=3, cutoff=7.25), 0.0),
        provenance={'bags': [{'path': 'a b', 'sha256': 'ff'}], 'options': {'stop': None}},
        quality={'verdict': 'good', 'nrmse': [0.1, None]},
    )
    return replace(model, **changes)


@pytest.fixture(scope='module')
def small_model(robots):
    return make_model(robots['mixed'].with_drive_gains([7.0, 8.0, 9.0]))


@pytest.fixture
def saved(small_model, tmp_path):
    path = tmp_path / 'model.yaml'
    path.write_text(dump_model(small_model))
    return path, read_yaml(path)


def as_yaml(content):
    """Return JSON, which is YAML and much quicker to write, with YAML's numbers that are none."""
    return json.dumps(content).replace('NaN', '.nan').replace('Infinity', '.inf')


def motion_of(rng, n, samples=20):
    return Motion(
        *(rng.normal(size=(samples, n)) for _ in range(3)),
        temperature=rng.uniform(20.0, 40.0, (samples, n)),
    )


@pytest.mark.parametrize('friction', [*FRICTION_LAWS, 'none', 'coulomb,viscous,offset'])
@pytest.mark.parametrize('rotors', [True, False])
def test_round_trip_predicts_the_same_bits(robots, tmp_path, rng, friction, rotors):
    """Text holds every number to the last bit, and the second file is the first."""
    robot = robots['mixed'].with_drive_gains([1.0 / 3.0, 2.0, 1e-3])
    robot = replace(
        robot.with_gravity([0.1, 2.0 / 3.0, -9.0]),
        encoders=JointEncoders(np.array([1.0, -1.0, 1.0]), np.array([0.1, 1.0 / 3.0, -2.0])),
    )
    model = make_model(robot, make_standard_parameters(3, parse_friction(friction), rotors))
    text = dump_model(model)
    (tmp_path / 'model.yaml').write_text(text)
    loaded = load_model(tmp_path / 'model.yaml')
    assert dump_model(loaded) == text
    motion = motion_of(rng, 3)
    np.testing.assert_array_equal(loaded.torque(motion), model.torque(motion))
    np.testing.assert_array_equal(loaded.effort(motion), model.effort(motion))
    for name in ('theta_base', 'covariance', 'theta_consistent'):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(model, name))
    np.testing.assert_array_equal(loaded.reduction.K, model.reduction.K)
    for name in ('source', 'parameters', 'consistency_note', 'provenance', 'quality'):
        assert getattr(loaded, name) == getattr(model, name)


def test_round_trip_of_the_other_choices(ur5, tmp_path):
    """No consistent parameters, torques in N m, an unknown scale, no rate, unlimited joints."""
    unlimited = replace(
        ur5.limits, lower=np.full(6, -np.inf), effort=np.full(6, np.inf)
    )
    model = make_model(
        replace(ur5, sampling_rate=np.nan, limits=unlimited), effort_unit='Nm',
        theta_consistent=None, relative_scale=True,
    )
    (tmp_path / 'model.yaml').write_text(dump_model(model))
    loaded = load_model(tmp_path / 'model.yaml')
    assert loaded.theta_consistent is None
    assert (loaded.effort_unit, loaded.relative_scale) == ('Nm', True)
    assert np.isnan(loaded.robot.sampling_rate)
    np.testing.assert_array_equal(loaded.robot.limits.lower, unlimited.lower)
    np.testing.assert_array_equal(loaded.robot.limits.effort, unlimited.effort)
    np.testing.assert_array_equal(loaded.effort_per_torque, np.ones(6))


NAN = float('nan')
SLIDE = ('friction', 'slide', 0)
WRONG = {
    'another version': (('schema_version',), 99, 'schema_version is 99'),
    'an unknown key': (('colour',), 'blue', 'unknown key colour'),
    'an unknown unit': (('effort', 'unit'), 'V', "unit 'V'"),
    'theta nan': (('base_parameters', 3, 'value'), NAN, ''),
    'friction nan': ((*SLIDE, 'coefficients', 0), NAN, ''),
    'a base parameter missing': (('base_parameters', 3), DELETE, ''),
    'a law missing': (SLIDE, DELETE, ''),
    'an unknown law': ((*SLIDE, 'law'), 'stribek', ''),
    'an unknown constant': ((*SLIDE, 'constants', 'height'), 1.0, ''),
    'an unknown name': (('covariance', 'names', 0), 'Izz77', ''),
    'a covariance too small': (('covariance', 'matrix', 0), DELETE, ''),
    'a covariance of nan': (('covariance', 'matrix', 0, 0), NAN, ''),
    'a negative variance': (('covariance', 'matrix', 1, 1), -1e-9, r'variance of \w+ is -1e-09'),
    'an asymmetric covariance': (
        ('covariance', 'matrix', 0, 1), 0.5, r'one way and .* by more than 1e-06'),
    'ragged loads': (('quality',), {'loads': [[1.0], 2.0]}, 'damaged'),
    'a load missing': (('quality',), {'loads': [1.0]}, r'quality.loads is \[1.0\]'),
    'no list of reasons': (('quality',), {'reasons': 5}, 'quality.reasons is 5'),
    'no provenance': (('provenance',), None, 'provenance is None'),
    'a huge integer': (('robot', 'sampling_rate'), 10**400, 'is beyond 9223372036854775807'),
    'gravity nan': (('robot', 'gravity', 2), NAN, ''),
    'a gain missing': (('effort', 'drive_gains', 0), DELETE, ''),
    'a gain of zero': (('effort', 'drive_gains', 0), 0.0, ''),
    'a limit missing': (('robot', 'limits', 'upper', 0), DELETE, ''),
    'no cut-off': (('kinematics', 'filter', 'cutoff'), DELETE, ''),
    'a combination of nan': (('base_parameters', 0, 'combination', 'mx1'), NAN, ''),
    'standard parameters missing': (('standard_parameters', 'values', 'm1'), DELETE, ''),
}


@pytest.mark.parametrize(('keys', 'value', 'message'), WRONG.values(), ids=WRONG)
def test_a_wrong_file_is_refused_by_its_name(saved, keys, value, message):
    """What a prediction is made of is checked when the file is read, not when it fails."""
    path, content = saved
    path.write_text(as_yaml(changed(content, (*keys, value))))
    with pytest.raises(DescriptionError, match=message) as refusal:
        load_model(path)
    assert str(path) in str(refusal.value)


# What each version added: the key that older files do not have.
ADDED = {
    2: [('robot', 'encoders'), ('robot', 'locked')], 3: [('covariance', 'kind')],
    4: [('corrections',)], 5: [('kinematics', 'command_delay')],
}


@pytest.mark.parametrize('version', [1, 2, 3, 4])
def test_files_of_earlier_versions_are_read(saved, version):
    """Plain readings, locks at neutral, white residuals, no corrections, a measured effort."""
    path, content = saved
    old = {**content, 'schema_version': version}
    for keys in (keys for later, added in ADDED.items() if later > version for keys in added):
        old = changed(old, (*keys, DELETE))
    path.write_text(as_yaml(old))
    assert read_yaml(path)['schema_version'] == version
    model = load_model(path)
    np.testing.assert_array_equal(model.robot.encoders.to_model(np.ones(model.robot.n)), 1.0)
    if version < 3:
        content = changed(content, ('covariance', 'kind', 'residual'))
    assert dump_model(model) == dump_yaml(content)


def test_an_edited_description_is_refused(saved):
    """The hash is over the text: one digit of one mass is enough."""
    path, content = saved
    edited = content['robot']['urdf'].replace('"2.5"', '"2.4"')
    assert edited != content['robot']['urdf']
    path.write_text(dump_yaml(changed(content, ('robot', 'urdf', edited))))
    with pytest.raises(DescriptionError, match=r'URDF.*hash'):
        load_model(path)


EXAMPLES = {
    'butterworth': {'kind': 'butterworth', 'order': 2, 'cutoff': 9.0},
    'fourier': {'kind': 'fourier', 'period': 10.0, 'harmonics': 5},
    'rloess': {'kind': 'rloess', 'span': 0.2},
    'savitzky_golay': {'kind': 'savitzky_golay', 'order': 3, 'span': 0.1},
    'none': {'kind': 'none'},
}


@pytest.mark.parametrize('kind', OPTIONS_BY_KIND)
def test_a_file_holds_what_the_kind_needs(kind):
    """No more, no less: the round trip is exact."""
    options = EXAMPLES[kind]
    made = kinematic_filter_from_options(options)
    assert made.options() == options
    assert KinematicFilter(**options) == made


def test_a_series_needs_its_period():
    with pytest.raises(DescriptionError, match='needs the period'):
        KinematicFilter('fourier')


@pytest.fixture
def discrepancy(robots, rng):
    """Return a discrepancy of two joints and all gains, and the names and count of its model."""
    robot = robots['mixed']
    b = len(make_model(robot).theta_base)
    root, absorbed = rng.normal(size=(11, 11)), rng.normal(size=(b, 11))
    return Discrepancy((0, 2), (1, 3), True, root @ root.T, absorbed), robot.joint_names, b


@pytest.mark.parametrize(('key', 'value', 'message'), [
    ('joints', ['elbow'], r'joints is \[.elbow.\]: names among'),
    ('orders', [0, 1], 'orders of .* are'),
    ('of_gains', 1, 'of_gains is 1'),
    ('of_gains', False, 'second_moments is'),
    ('second_moments', [[1.0]], r'second_moments is \[\[1.0\]\]: finite numbers of shape'),
    ('second_moments', np.full((11, 11), NAN).tolist(), 'second_moments is'),
    ('absorbed', [[0.0] * 11], 'absorbed is'),
    ('colour', 'blue', 'unknown key colour'),
])
def test_a_wrong_discrepancy_is_refused(discrepancy, key, value, message):
    discrepancy, names, b = discrepancy
    with pytest.raises(DescriptionError, match=message):
        discrepancy_from_content({**discrepancy.content(names), key: value}, names, b)


def test_a_discrepancy_has_six_digits(discrepancy):
    discrepancy, names, b = discrepancy
    read = discrepancy_from_content(json.loads(json.dumps(discrepancy.content(names))), names, b)
    for name in ('joints', 'orders', 'of_gains'):
        assert getattr(read, name) == getattr(discrepancy, name)
    for name in ('second_moments', 'absorbed'):
        np.testing.assert_allclose(getattr(read, name), getattr(discrepancy, name), rtol=5.1e-6)


@pytest.mark.parametrize('wrong', [
    {'order': 0}, {'order': 11}, {'order': 2.0}, {'order': True}, {'cutoff': 0.0},
    {'cutoff': float('nan')}, {'cutoff': float('inf')}, {'cutoff': 'low'}, {'cutoff': True},
    {'span': 0.0}, {'span': -1.0}, {'span': 11.0}, {'span': None}, {'period': 0.0},
    {'period': 'long'}, {'period': 4000.0}, {'harmonics': 0}, {'harmonics': 501},
    {'harmonics': 2.5},
])
def test_values_outside_their_range_are_refused(wrong):
    name, = wrong
    with pytest.raises(DescriptionError, match='filter') as refusal:
        KinematicFilter(**wrong)
    assert {'cutoff': 'cut-off', 'harmonics': 'harmonics'}.get(name, name) in str(refusal.value)
