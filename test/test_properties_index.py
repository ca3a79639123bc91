# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Properties that the mathematics promises, and the tests that show them.

The numbers are those of the list of properties that this package was designed by. Properties that
had no test over the whole path have theirs below.
"""

from dataclasses import replace
import json
import os
import subprocess
import sys

from builders import FIRST_STAMP, joint_states, run_command, write_bag
import numpy as np
import pytest
from recordings import Driver, execute, write_small_arm
from robot_identification.estimation.identifiability import reference_scale
from robot_identification.files import dump_yaml, read_yaml
from robot_identification.model.base_parameters import random_motion
from robot_identification.model.model_file import load_model
from robot_identification.model.registry import load_robot
from robot_identification.model.regressor import inertial_regressor
from robot_identification.model.robot_model import gravity_of_mounting, make_robot_model
from robot_identification.model.urdf import parse_urdf
from robot_identification.simulation.ground_truth import draw_truth
from shown_by import all_tests, assert_exists

TESTS = {
    'P1': (
        'estimation/estimators/test_every_estimator.py::test_without_noise_the_truth_is_found',
        'test_simulated_models.py::test_model_a_is_exact',
        'test_contracts.py::test_estimator_is_exact_without_noise',
    ),
    'P2': (
        'estimation/estimators/test_every_estimator.py::'
        'test_prediction_does_not_depend_on_the_base_set',
        'estimation/estimators/test_every_estimator.py::test_order_of_samples_does_not_matter',
        'test_contracts.py::test_estimator_does_not_see_units_and_row_order',
    ),
    'P3': (
        'test_contracts.py::test_equal_weights_are_no_weights',
        'estimation/estimators/test_robust_estimators.py::'
        'test_huber_without_limit_is_least_squares',
        'estimation/estimators/test_ridge.py::test_a_vanishing_penalty_is_the_shortest_solution',
        'estimation/estimators/test_constrained.py::test_bounds_that_hold_nothing_change_nothing',
        'estimation/estimators/test_weighted_estimators.py::'
        'test_without_correlation_generalized_is_weighted',
        'estimation/estimators/test_total_least_squares.py::'
        'test_without_noise_in_the_columns_it_is_least_squares',
        'estimation/estimators/test_recursive.py::test_without_forgetting_it_is_the_batch',
        'estimation/estimators/test_joint_groups.py::test_one_group_is_all_at_once',
    ),
    'P4': (
        'test_properties_index.py::test_one_set_of_parameters_serves_floor_and_ceiling',
        'test_properties_index.py::test_the_same_parameters_are_found_on_floor_and_ceiling',
        'test_properties_index.py::test_a_mounting_is_a_joint_that_never_moves',
        'model/test_regressor.py::test_hanging_from_the_ceiling_turns_gravity_round',
    ),
    'P5': (
        'test_properties_index.py::test_turning_about_gravity_changes_no_row',
        'model/test_base_parameters.py::test_turning_the_arm_about_gravity_changes_nothing',
    ),
    'P6': (
        'model/test_base_parameters.py::test_skew_arms_have_the_number_of_the_formula',
        'model/test_oracles.py::test_the_formula_of_the_count_is_an_upper_bound',
    ),
    'P7': (
        'model/test_oracles.py::test_closed_form_is_the_numeric_reduction',
        'model/test_base_parameters.py::test_set_is_that_of_gautier_and_khalil',
    ),
    'P8': (
        'excitation/test_fourier_conventions.py::test_there_and_back',
        'test_contracts.py::test_derivatives_are_those_of_the_motion',
        'test_contracts.py::test_form_is_at_rest_at_both_ends',
    ),
    'P9': (
        'excitation/test_constraints.py::test_conservative_bounds_bound_every_sample',
    ),
    'P10': (
        'model/test_regressor_gradient.py::test_all_columns_against_differences',
        'excitation/test_problem.py::test_the_gradient_with_what_is_known',
    ),
    'P11': ('processing/test_fourier.py::test_the_spectral_derivative_is_exact',),
    'P12': (
        'processing/test_filters.py::test_a_sinusoid_is_not_delayed',
        'processing/test_local_regression.py::test_a_sinusoid_is_not_delayed',
    ),
    'P13': (
        'model/test_consistency.py::test_log_cholesky_round_trip_of_bodies',
        'model/test_consistency.py::test_any_ten_numbers_are_a_body',
        'estimation/test_standard.py::test_the_true_arm_is_consistent',
        'estimation/estimators/test_consistent.py::test_found_bodies_can_exist_and_predict_better',
    ),
    'P14': (
        'estimation/uncertainty/test_intervals.py::'
        'test_the_ellipsoid_of_an_estimated_covariance_holds_the_truth',
        'estimation/estimators/test_every_estimator.py::test_standard_errors_are_those_that_occur',
        'test_simulated_recordings.py::'
        'test_parameters_of_plain_laws_are_found_within_their_errors',
    ),
    'P15': (
        'validation/test_metrics.py::test_published_totals_follow_from_the_joints',
        'validation/test_metrics.py::test_normalized_errors_are_rms_over_root_n',
    ),
    'P16': (
        'studies/test_break_away_procedure.py::test_it_finds_what_was_set',
        'studies/test_break_away.py::test_corrections_are_exact_where_friction_is_constant',
    ),
    'P17': (
        'studies/test_temperature.py::test_slopes_of_repeated_identifications',
        'studies/test_temperature.py::test_one_regression_finds_the_slopes',
    ),
    'P18': (
        'monitoring/test_momentum_observer.py::test_converges_with_its_time_constant',
        'monitoring/test_contact_observer.py::'
        'test_a_push_is_felt_with_the_time_constant_that_is_stated',
    ),
    'P19': (
        'test_properties_index.py::test_another_process_writes_the_same_bytes',
        'cli/test_commands.py::test_same_seed_same_trajectory_file',
    ),
    'P20': (
        'excitation/optimizers/test_memetic.py::'
        'test_it_finds_the_best_minimum_where_random_starts_do_not',
    ),
}
GRAVITY = {'floor': (0.0, 0.0, -9.81), 'ceiling': (0.0, 0.0, 9.81)}


@pytest.mark.parametrize('test', all_tests(TESTS))
def test_every_property_is_shown_somewhere(test):
    assert_exists(test)


def test_no_property_is_missing():
    assert set(TESTS) == {f'P{k}' for k in range(1, 21)}


@pytest.fixture(scope='module')
def arm(tmp_path_factory):
    """Return the YAML, the model and the truth of the small arm, whose gains are right."""
    pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')
    yaml = write_small_arm(tmp_path_factory.mktemp('arm'))
    robot = load_robot(str(yaml))
    return yaml, robot, replace(draw_truth(robot, 3), drive_gain=robot.drives.drive_gain)


def record(path, robot, truth, driver, seed):
    """Write a bag of a simulated motion of 10 s."""
    found = driver.record(
        execute(robot, truth, seed, 10.0), robot.limits.effort / truth.drive_gain, seed
    )
    messages = joint_states(robot.joint_names, FIRST_STAMP + found.stamps, *found.measured)
    return write_bag(path, messages, {'robot': robot.name, 'effort_unit': 'A'})


@pytest.mark.parametrize(('home', 'away'), [('floor', 'ceiling'), ('ceiling', 'floor')])
def test_one_set_of_parameters_serves_floor_and_ceiling(
    arm, tmp_path, without_pictures, home, away
):
    """
    What was identified here predicts there, once the model file says where it hangs.

    The arm has no noise; with the wrong mounting its errors are more than fifty times as large.
    Tika et al. report a factor of 123 in a simulator with noise. The right ones are under 2 % of
    the effort's spread: a cut-off of 20 Hz rounds the reversals of friction.
    """
    yaml, robot, truth = arm
    perfect = Driver(quantum=0.0, velocity_noise=0.0, effort_noise=0.0)
    bags = {
        place: record(tmp_path / place, robot.with_gravity(gravity), truth, perfect, seed)
        for seed, (place, gravity) in enumerate(GRAVITY.items())
    }
    done = run_command(
        'identify', bags[home], '--robot', yaml, '--gravity', *GRAVITY[home], '--friction',
        'coulomb,viscous,offset', '--cutoff', '20', '-o', tmp_path / 'm',
    )
    assert done.code == 0, done.err
    files = {home: tmp_path / 'm' / 'identified_model.yaml', away: tmp_path / 'moved.yaml'}
    content = read_yaml(files[home])
    content['robot']['gravity'] = list(GRAVITY[away])
    files[away].write_text(dump_yaml(content))
    errors, warnings = {}, {}
    for place, file in files.items():
        found = run_command('validate', file, bags[away], '-o', tmp_path / place[::-1], '--json')
        assert found.code == 0, found.err
        errors[place] = json.loads(found.out)['bags'][0]
        warnings[place] = found.err
    assert np.max(errors[away]['nrmse']) < 0.02
    assert np.mean(errors[home]['rmse']) > 50.0 * np.mean(errors[away]['rmse'])
    # The wrong mounting does not pass without a word, the right one does.
    assert warnings[away] == ''
    assert 'has the opposite sign of the torque of the URDF' in warnings[home]
    assert 'the mounting (gravity)' in warnings[home]


def test_the_same_parameters_are_found_on_floor_and_ceiling(arm, tmp_path, without_pictures):
    """Without noise, to 1 % of the largest torque that they put on a lively arm."""
    yaml, robot, truth = arm
    perfect = Driver(quantum=0.0, velocity_noise=0.0, effort_noise=0.0)
    models = []
    for place, gravity in GRAVITY.items():
        bag = record(tmp_path / place, robot.with_gravity(gravity), truth, perfect, 0)
        done = run_command(
            'identify', bag, '--robot', yaml, '--gravity', *gravity, '--friction',
            'coulomb,viscous,offset', '--cutoff', '20', '-o', tmp_path / f'm_{place}',
        )
        assert done.code == 0, done.err
        models.append(load_model(tmp_path / f'm_{place}' / 'identified_model.yaml'))
    floor, ceiling = models
    assert floor.reduction.names == ceiling.reduction.names
    scale = reference_scale(robot, floor.reduction)
    difference = np.abs(floor.theta_base - ceiling.theta_base) * scale
    assert difference.max() < 0.01 * np.abs(floor.theta_base * scale).max()


def turned_urdf(robot, rpy):
    """Return the small arm's URDF with a foot that turns it."""
    foot = (
        '<link name="foot"/><joint name="bolted" type="fixed"><parent link="foot"/>'
        f'<child link="ground"/><origin xyz="0 0 0" rpy="{rpy[0]} {rpy[1]} {rpy[2]}"/></joint>'
    )
    return robot.urdf.text.replace('</robot>', foot + '</robot>')


@pytest.mark.parametrize('mounting', [
    (np.pi, 0.0, 0.0), (np.pi / 2, 0.0, 0.0), (0.3, -0.7, 1.1),
])
def test_a_mounting_is_a_joint_that_never_moves(arm, mounting, rng):
    """Said to the command line or written into the URDF: the same rows, to rounding."""
    robot = arm[1]
    said = robot.with_gravity(gravity_of_mounting(*mounting))
    written = make_robot_model(parse_urdf(turned_urdf(robot, mounting), 'turned'))
    motion = random_motion(robot, 20, rng)
    W = inertial_regressor(said, motion)
    np.testing.assert_allclose(inertial_regressor(written, motion), W, atol=1e-9)
    assert np.abs(W - inertial_regressor(robot, motion)).max() > 1.0


@pytest.mark.parametrize('yaw', [0.4, np.pi / 2, -2.5])
def test_turning_about_gravity_changes_no_row(arm, yaw, rng):
    """The foot turned, or the first joint, whose axis is vertical: it has no heading."""
    robot = arm[1]
    turned = make_robot_model(parse_urdf(turned_urdf(robot, (0.0, 0.0, yaw)), 'turned'))
    motion = random_motion(robot, 20, rng)
    W = inertial_regressor(robot, motion)
    np.testing.assert_allclose(inertial_regressor(turned, motion), W, atol=1e-9)
    elsewhere = replace(motion, q=motion.q + np.array([yaw, 0.0, 0.0]))
    np.testing.assert_allclose(inertial_regressor(robot, elsewhere), W, atol=1e-9)


def test_another_process_writes_the_same_bytes(arm, tmp_path, without_pictures):
    """
    The automatic recipe on a noisy bag, here and in a process with other hashes of its texts.

    The model file names the bag as it was given, and nothing of time or place besides.
    """
    yaml, robot, truth = arm
    noisy = Driver(jitter=4e-4, delay=0.004, lost=0.03, repeated=0.02)
    bag = record(tmp_path / 'bag', robot, truth, noisy, 0)
    arguments = [str(part) for part in ('identify', bag, '--robot', yaml, '-o')]
    here = run_command(*arguments, tmp_path / 'here')
    assert here.code == 0, here.err
    there = subprocess.run(
        [sys.executable, '-m', 'robot_identification.cli.main', *arguments, tmp_path / 'there'],
        env={**os.environ, 'PYTHONHASHSEED': '1234'}, capture_output=True, text=True, timeout=120,
    )
    assert there.returncode == 0, there.stderr
    assert there.stderr == here.err
    for name in ('identified_model.yaml', 'results.txt'):
        assert (tmp_path / 'there' / name).read_bytes() == (tmp_path / 'here' / name).read_bytes()
