# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
An arm with elastic joints is recovered from both sides of its gears, and not from one.

The truth: MuJoCo's inverse dynamics of the links along a smooth periodic motion; the rotors are
where springs of 1e4 N m/rad need them, differentiated exactly, as all is periodic; the friction of
the gears by its own formula. Nothing of it is code of the package.
"""

from dataclasses import dataclass, replace

from estimation.arm_problems import dataset_of, fourier_motion, PERIOD
import numpy as np
import pytest
from recordings import fourier_motion as smooth_motion, write_small_arm
from robot_identification.errors import DataError, IdentificationError, UsageError
from robot_identification.estimation import (
    fit_parameters, IdentifyOptions, load_recipe, observe, Recipe, WeightedLeastSquares,
)
from robot_identification.estimation.estimators.least_squares import OrdinaryLeastSquares
from robot_identification.estimation.quality import find_covariance
from robot_identification.estimation.two_encoders import (
    estimate_rest, KnownFriction, two_encoders_from_content, TwoEncoderFit, TwoEncoders,
)
from robot_identification.files import dump_yaml, read_yaml
from robot_identification.model import (
    CoulombSignFriction, IdentifiedModel, load_robot, Motion, SignalSource, ViscousFriction,
)
from robot_identification.model.friction import StrainWaveFriction
from robot_identification.model.robot_model import Drives
from robot_identification.pipeline import identify
from robot_identification.recording.bag_writer import write_joint_states
from robot_identification.simulation import draw_truth, GroundTruth, with_elastic_joints
from robot_identification.validation.joint_stiffness import (
    describe_two_encoder_figures, two_encoder_figures,
)

simulator = pytest.importorskip(
    'robot_identification.simulation.mujoco_robot',
    reason='MuJoCo, the simulated truth, is not installed',
)
pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')

STIFFNESS = 1.0e4
SAMPLES = 1250
LAWS = (CoulombSignFriction(), ViscousFriction())
GEAR = StrainWaveFriction(velocity=0.15, exponent=1.5, width=0.02, viscous_exponent=0.8)


@dataclass(frozen=True, eq=False)
class ElasticArm:
    """An arm with elastic joints, both sides of a motion of it, and what is true of it."""

    robot: object
    truth: GroundTruth
    links: Motion
    motion: Motion
    joint_torque: np.ndarray
    tau: np.ndarray
    noise: np.ndarray
    gears: np.ndarray
    residual: np.ndarray

    @property
    def friction(self):
        """Return the friction of the gears, as a user knows it."""
        return {
            name: (KnownFriction(GEAR, tuple(self.gears[joint])),)
            for joint, name in enumerate(self.robot.joint_names)
        }

    def true_values(self, reduction):
        theta = np.zeros(reduction.parameters.size)
        theta[:60] = simulator.true_inertial_parameters(self.robot, self.truth)
        parameters = reduction.parameters
        for term, columns in parameters.friction_columns:
            theta[columns] = {
                'coulomb_sign': self.residual[0, term.joint],
                'viscous': self.residual[1, term.joint],
                'strain_wave': self.gears[term.joint],
            }[term.law.name]
        theta[parameters.reflected_inertia_slice] = self.truth.reflected_inertia
        return reduction.K @ theta


def derivative(x, order):
    """Differentiate samples of one period exactly."""
    omega = 2j * np.pi * np.fft.rfftfreq(len(x), PERIOD)[:, None]
    return np.fft.irfft(np.fft.rfft(x, axis=0) * omega**order, len(x), axis=0)


def strain_wave(rotor_dq, load, temperature, coefficients):
    """Return the friction of spec 3.9, written out."""
    fc, fcl, fs, fsl, fst, fv, fvt = coefficients.T
    size, warm = np.abs(load), temperature - 25.0
    kinetic = fc + fcl * size
    static = (fs + fsl * size + fst * warm) * np.exp(-np.abs(rotor_dq / 0.15) ** 1.5)
    return (kinetic + static) * np.tanh(rotor_dq / 0.02) + (
        (fv + fvt * warm) * np.abs(rotor_dq) ** 0.8 * np.sign(rotor_dq)
    )


@pytest.fixture(scope='module')
def arm(robots):
    """Return the elastic UR5, moved for ten seconds."""
    robot = robots['ur5']
    drawn = draw_truth(robot, 3)
    limit, nothing = robot.limits.effort, np.zeros(6)
    bodies = replace(drawn, coulomb=nothing, viscous=nothing, reflected_inertia=nothing)
    planned = fourier_motion(6, 5, SAMPLES, 0.2, PERIOD * SAMPLES)
    load = simulator.inverse_dynamics(robot, bodies, planned)
    rotor = Motion(
        planned.q + load / STIFFNESS,
        planned.dq + derivative(load, 1) / STIFFNESS,
        planned.ddq + derivative(load, 2) / STIFFNESS,
    )
    temperature = 30.0 + np.linspace(0.0, 8.0, SAMPLES)[:, None] + np.arange(6)
    share = np.array([0.04, 0.0, 0.02, 0.0, -1.0e-4, 0.05, -5.0e-4])
    gears = np.outer(limit, share) + np.array([0.0, 0.06, 0.0, 0.02, 0.0, 0.0, 0.0])
    residual = np.array([0.01 * limit, 0.008 * limit])
    noise = 0.004 * limit
    tau = (
        load + drawn.reflected_inertia * rotor.ddq
        + strain_wave(rotor.dq, load, temperature, gears)
        + residual[0] * np.sign(rotor.dq) + residual[1] * rotor.dq
        + noise * np.random.default_rng(1).normal(size=load.shape)
    )
    known = replace(robot, drives=Drives(
        np.full(6, 100.0), robot.drives.torque_constant, drawn.reflected_inertia / 100.0**2
    ))
    links = replace(planned, temperature=temperature)
    return ElasticArm(
        known, drawn, links, replace(links, rotor=rotor), load, tau, noise, gears, residual
    )


def fit(arm, motion, rotor_inertia):
    """Return the fit of a motion, and errors of the estimated parameters over their size."""
    dataset = dataset_of(arm.robot, motion, arm.tau)
    options = TwoEncoders(rotor_inertia, arm.friction)
    found = fit_parameters(
        observe(arm.robot, LAWS, [dataset], [dataset.fitted], two_encoders=options),
        (), TwoEncoderFit(options),
    )
    estimate = found.estimate
    free = ~estimate.active
    wrong = (estimate.theta - arm.true_values(found.problem.reduction))[free]
    return found, wrong / estimate.standard_errors[free]


@pytest.mark.parametrize(('rotor_inertia', 'count'), [('known', 48), ('estimated', 54)])
def test_two_encoders_recover_the_arm_and_one_does_not(arm, rotor_inertia, count):
    """All parameters of bodies and residual friction within three standard errors."""
    # These are white, as the noise is. What is known stays as it is. With the rotors taken to turn
    # as the links, and all else the same, errors are up to six times their size.
    two, apart = fit(arm, arm.motion, rotor_inertia)
    assert len(apart) == count
    assert two.unidentifiable == ()
    assert np.abs(apart).max() < 3.0
    # Of 48 and more squared errors over their size, the mean is 1 +- 0.2.
    assert np.mean(apart**2) == pytest.approx(1.0, abs=0.6)
    np.testing.assert_allclose(two.estimate.sigma, arm.noise, rtol=0.06)
    known = two.estimate.active
    truth = arm.true_values(two.problem.reduction)
    np.testing.assert_array_equal(two.estimate.theta[known], truth[known])
    assert not np.any(two.estimate.covariance[known])
    _, single = fit(arm, arm.links, rotor_inertia)
    assert np.abs(single).max() > 5.0
    assert np.mean(single**2) > 3.0 * np.mean(apart**2)


@pytest.fixture(scope='module')
def found(arm):
    """Return the fit with known rotors."""
    return fit(arm, arm.motion, 'known')[0]


def test_known_parameters_are_taken_off(arm):
    """Estimating the rest is least squares on torques without the known ones; to rounding."""
    dataset = dataset_of(arm.robot, arm.motion, arm.tau)
    problem = observe(arm.robot, LAWS, [dataset], [dataset.fitted]).factor()
    names = problem.reduction.names
    known = {names[4]: 0.3, names[-1]: 0.1, 'Izz99': 5.0}
    estimate = estimate_rest(problem, known, OrdinaryLeastSquares())
    R, z = problem.stacked(np.ones(6))
    at = np.array([4, len(names) - 1])
    free = np.setdiff1d(np.arange(len(names)), at)
    rest = np.linalg.lstsq(R[:, free], z - R[:, at] @ [0.3, 0.1], rcond=None)[0]
    np.testing.assert_allclose(estimate.theta[free], rest, rtol=1e-7, atol=1e-9)
    assert estimate.theta[at].tolist() == [0.3, 0.1]
    assert np.flatnonzero(estimate.active).tolist() == at.tolist()
    assert estimate.notes == (f'known beforehand and not estimated: {names[4]}, {names[-1]}',)
    nothing = estimate_rest(problem, {}, WeightedLeastSquares())
    np.testing.assert_array_equal(
        nothing.theta, WeightedLeastSquares().estimate(problem).theta
    )


def test_with_one_encoder_the_method_is_plain_least_squares(arm):
    """No rotor positions: the estimate of weighted least squares, to the last bit."""
    options = IdentifyOptions(
        estimator=WeightedLeastSquares(reweightings=1), friction=LAWS,
        recipe=Recipe(decimation=20.0, two_encoders=TwoEncoders()),
    )
    dataset = dataset_of(arm.robot, arm.links, arm.tau)
    observations = options.observe(arm.robot, LAWS, [dataset], [dataset.fitted])
    plain = observe(
        arm.robot, LAWS, [dataset], [dataset.fitted], treatment=options.treatment
    )
    assert observations.reduction.names == plain.reduction.names
    found = fit_parameters(observations, (), options.used_estimator).estimate
    expected = fit_parameters(plain, (), WeightedLeastSquares(reweightings=1)).estimate
    np.testing.assert_array_equal(found.theta, expected.theta)
    np.testing.assert_array_equal(found.covariance, expected.covariance)


CONTENT = {
    'rotor_inertia': 'estimated',
    'friction': {'lift': [{
        'law': 'strain_wave', 'constants': {'velocity': 0.2},
        'coefficients': [4, 0.05, 1.0, None, 0.0, 3.0, -0.02],
    }]},
}


def test_a_recipe_comes_back_the_same(tmp_path):
    """Friction stands in the recipe, or in a file beside it, of which more is not read."""
    two = two_encoders_from_content(CONTENT, tmp_path)
    assert two.friction['lift'][0].law == StrainWaveFriction(velocity=0.2)
    assert two.friction['lift'][0].coefficients == (4.0, 0.05, 1.0, 0.0, 0.0, 3.0, -0.02)
    file = tmp_path / 'recipe.yaml'
    file.write_text(dump_yaml(Recipe(two_encoders=two).as_plain()))
    assert load_recipe(file).two_encoders == two
    (tmp_path / 'gears.yaml').write_text(dump_yaml({'schema_version': 3, **CONTENT}))
    file.write_text(
        'schema_version: 1\ntwo_encoders: {rotor_inertia: estimated, friction: gears.yaml}\n'
    )
    assert load_recipe(file).two_encoders == two
    assert load_recipe_of(tmp_path, '{}').two_encoders == TwoEncoders()


def load_recipe_of(folder, text):
    file = folder / 'recipe.yaml'
    file.write_text(f'schema_version: 1\ntwo_encoders: {text}\n')
    return load_recipe(file)


@pytest.fixture(scope='module')
def recorded(tmp_path_factory):
    """Return YAML, truth and two bags of a simulated arm of three elastic joints."""
    from robot_identification.recording.simulated_run import write_simulated_bag
    from robot_identification.simulation.run import driver_period, record_motion

    folder = tmp_path_factory.mktemp('elastic')
    file = write_small_arm(folder)
    robot = load_robot(str(file))
    truth = with_elastic_joints(draw_truth(robot, 1), STIFFNESS, damping=20.0)
    truth = replace(truth, drive_gain=robot.drives.drive_gain)
    content = read_yaml(file)
    for joint, inertia in zip(content['joints'].values(), truth.reflected_inertia, strict=True):
        joint['rotor_inertia'] = float(inertia) / 100.0**2
    content['sampling_rate'] = 250.0
    file.write_text(dump_yaml(content))
    robot = load_robot(str(file))
    period = driver_period(robot)
    stamps = np.arange(0.0, 6.0, period)
    for seed in range(2):
        planned = smooth_motion(3, 2 + seed, stamps, speed=2.0)
        arm = simulator.MujocoRobot(robot, truth, simulator.Sensors(), planned.q[0], seed)
        run = record_motion(robot, arm, planned, stamps, period)
        write_simulated_bag(folder / f'bag_{seed}', robot, run)
    write_joint_states(
        folder / 'single', robot.joint_names, 1.0 + run.stamps, {'/joint_states': run.measured},
        {'robot': robot.name, 'effort_unit': 'A'},
    )
    return file, truth


def test_of_mixed_bags_none_is_used_with_rotors(recorded):
    """A model is of one kind; who lacks rotors is named, also where another process reads it."""
    file, _ = recorded
    bags = [file.parent / name for name in ('bag_0', 'single', 'bag_1')]
    robot = load_robot(str(file))
    recipe = Recipe(cutoffs=(9.0,), folds=4)
    options = IdentifyOptions(friction='coulomb,viscous,offset', recipe=recipe)
    found = identify(robot, bags[:2], options)
    assert any(
        'left out, for' in note and 'single has none that are usable' in note
        for note in found.notes
    )
    assert not found.model.provenance['two_encoders']
    assert all(dataset.motion.rotor is None for dataset in found.datasets)
    with_two = replace(options, recipe=replace(recipe, bags_in_choice=2))
    with pytest.raises(DataError, match=r'single: no usable rotor positions, which .* have'):
        identify(robot, [bags[0], bags[1], bags[2]], with_two)


def figures_of(arm, found, motion):
    """Return the figures of the model of a fit on a motion."""
    model = IdentifiedModel(
        arm.robot, 'Nm', found.problem.reduction, found.estimate.theta,
        find_covariance(found.estimate).matrix, None, '', SignalSource(),
        {'two_encoders': True}, {},
    )
    dataset = dataset_of(arm.robot, motion, arm.tau)
    return two_encoder_figures(model, [dataset], [dataset.fitted])


def test_figures_are_those_of_the_paper_and_of_the_springs(arm, found):
    """NMSE by spec 14, with the URDF's bodies and with those found."""
    # Stiffness within three errors. What is left over is the noise: its NMSE is the sum over
    # joints of variance over mean torque.
    figures = figures_of(arm, found, arm.motion)
    least = np.sum(arm.noise**2 / np.abs(arm.tau).mean(axis=0))
    assert figures['nmse'] == pytest.approx(least, rel=0.05)
    assert figures['nmse_urdf'] > 2.0 * figures['nmse']
    errors = figures['stiffness_standard_errors']
    assert np.all(np.abs(figures['stiffness'] - STIFFNESS) < 3.0 * errors)
    assert np.all(errors[:3] < 0.02 * STIFFNESS)
    text = describe_two_encoder_figures(arm.robot.joint_names, figures)
    assert 'elbow_joint 1e+04 +- ' in text[0] or 'elbow_joint 9' in text[0]
    assert '% less' in text[1]
    # Of a rotor that is read 0.7 ms late, in which an arm moves by as much as its gears bend, it
    # is the same, as certain as it was but for what the rotor's way is more than the link's.
    rotor = arm.motion.rotor
    late = replace(arm.motion, rotor=replace(rotor, q=rotor.q + 7e-4 * rotor.dq))
    of_late = figures_of(arm, found, late)
    late_errors = of_late['stiffness_standard_errors']
    assert np.all(np.abs(of_late['stiffness'] - STIFFNESS) < 3.0 * late_errors)
    np.testing.assert_allclose(late_errors, errors, rtol=0.5)
    assert figures_of(arm, found, arm.links) == {}
    assert describe_two_encoder_figures(arm.robot.joint_names, {}) == ()


@pytest.mark.parametrize(('text', 'message'), [
    ('7', 'two_encoders is 7'),
    ('{rotors: known}', 'rotors'),
    ('{rotor_inertia: heavy}', "rotor_inertia of two_encoders is 'heavy'"),
    ('{friction: nothing.yaml}', r'no such file: .*nothing\.yaml'),
    ('{friction: [1]}', 'friction of two_encoders is .* must be a mapping'),
    ('{friction: {a: 1}}', 'a is 1, a list is needed'),
    ('{friction: {a: [{law: viscous}]}}', 'coefficients'),
    ('{friction: {a: [7]}}', 'a is 7, it must be a mapping'),
    ('{friction: {a: [{law: glue, coefficients: [1]}]}}', "unknown friction law 'glue'"),
    ('{friction: {a: [{law: viscous, coefficients: 1}]}}', 'coefficients is 1, a list is needed'),
    ('{friction: {a: [{law: viscous, coefficients: [x]}]}}', "viscous is 'x', a finite number"),
    ('{friction: {a: [{law: viscous, coefficients: [1, 2]}]}}', 'one number for each of fv'),
    ('{friction: {a: [{law: viscous, coefficients: [.nan]}]}}', 'viscous is nan, a finite number'),
    ('{friction: {a: [{law: coulomb, constants: {w: 1}, coefficients: [1]}]}}', 'w'),
    ('{friction: {a: [{law: coulomb, constants: {width: -1}, coefficients: [1]}]}}', 'width'),
])
def test_recipes_that_are_wrong_are_refused(tmp_path, text, message):
    with pytest.raises(IdentificationError, match=message):
        load_recipe_of(tmp_path, text)


def test_rotor_inertias_that_are_not_stated_cannot_be_known(arm, ur5):
    dataset = dataset_of(ur5, arm.motion, arm.tau)
    assert not np.isfinite(ur5.drives.reflected_inertia).all()
    with pytest.raises(UsageError, match=r'rotor inertia of shoulder_pan.* not in the YAML'):
        observe(ur5, LAWS, [dataset], [dataset.fitted], two_encoders=TwoEncoders('known'))
    merged = observe(ur5, LAWS, [dataset], [dataset.fitted], two_encoders=TwoEncoders())
    plain = observe(ur5, LAWS, [dataset], [dataset.fitted])
    assert merged.reduction.names == plain.reduction.names


@pytest.mark.parametrize('options', [
    {'friction': 'auto'}, {'estimator': 'dictionary'},
])
def test_what_is_known_does_not_go_with_chosen_terms(options):
    with pytest.raises(UsageError, match='two_encoders of the recipe'):
        IdentifyOptions(recipe=Recipe(two_encoders=TwoEncoders()), **options)
