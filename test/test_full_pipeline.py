# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
From a simulated arm to a model of it: MuJoCo is the truth, Pinocchio the model.

The recordings are noisy, the drive gains are up to 5 % wrong, and the model is judged on another
motion, against what the noise-free robot really did.
"""

from functools import cache

from long_tests import long_test
import numpy as np
import pytest
from recordings import true_base_parameters
from robot_identification.estimation.fitting import reference_scale
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.model.friction.law import JointMotion
from robot_identification.pipeline import identify, validate
from robot_identification.validation.validation import predict_effort

# Another arm shows the same at night.
NAMES = ('ur5', pytest.param('ur10', marks=long_test))
# What the simulator has, and what is chosen where nothing is asked for.
PLAIN, AUTOMATIC = 'coulomb,viscous,offset', 'auto'
# Of the spread of the noise-free current of each joint on the unseen motion.
THRESHOLD = 0.05


@pytest.fixture(scope='module')
def found(scene, identification):
    """Return a function that identifies an arm from its first recording, with nominal gains."""
    @cache
    def identify_once(name, friction):
        if (name, friction) == ('ur5', AUTOMATIC):
            return identification
        made = scene(name)
        return identify(made.robot, [made.bags[0]], IdentifyOptions(friction=friction))

    return identify_once


@pytest.fixture(scope='module')
def found_with_true_gains(scene):
    """Return a function that identifies plain laws of an arm whose drive gains are known."""

    @cache
    def identify_once(name):
        made = scene(name)
        robot = made.robot.with_drive_gains(made.truth.drive_gain)
        return identify(robot, [made.bags[0]], IdentifyOptions(friction=PLAIN))

    return identify_once


def unseen_errors(scene, model):
    """Return the NRMSE of each joint on the second motion, against the noise-free current."""
    _, (dataset,), _ = validate(model, [scene.bags[1]])
    true = scene.runs[1].true[2]
    np.testing.assert_allclose(dataset.stamps, scene.runs[1].stamps, atol=1e-6)
    residual = true - predict_effort(model, dataset)
    return np.sqrt(np.mean(residual**2, axis=0)) / np.std(true, axis=0)


@pytest.mark.parametrize(('name', 'friction'), [
    ('ur5', PLAIN), ('ur5', AUTOMATIC),
    *(pytest.param('ur10', friction, marks=long_test) for friction in (PLAIN, AUTOMATIC)),
])
def test_unseen_motion_is_predicted(scene, found, name, friction):
    """Every joint within 5 % of the truth, although the gains it was given are wrong."""
    made = scene(name)
    wrong = made.robot.drives.drive_gain / made.truth.drive_gain
    assert np.abs(wrong - 1.0).max() > 0.01
    errors = unseen_errors(made, found(name, friction).model)
    assert np.all(errors < THRESHOLD), dict(zip(made.robot.joint_names, errors, strict=True))


@pytest.mark.parametrize('name', NAMES)
def test_parameters_are_recovered_with_the_true_gains(scene, found_with_true_gains, name):
    # Error in torque: what it puts on the arm in a lively motion (3 rad/s, 5 rad/s^2) stays below
    # 2 % of the largest torque of the recording. Error in standard errors: below 12; they assume
    # white residuals, and a filter of 9 Hz at 125 Hz leaves one independent sample in seven.
    made, model = scene(name), found_with_true_gains(name).model
    for term in model.parameters.friction:
        assert term.law.name != 'coulomb' or term.law.width == made.truth.velocity_width
    error = model.theta_base - true_base_parameters(
        model.robot, made.truth, model.reduction
    )
    largest = np.abs(made.runs[0].true[2] * made.truth.drive_gain).max()
    in_torque = np.abs(error) * reference_scale(model.robot, model.reduction)
    worst = int(np.argmax(in_torque))
    assert in_torque[worst] < 0.02 * largest, model.reduction.names[worst]
    in_errors = np.abs(error) / model.standard_errors
    worst = int(np.argmax(in_errors))
    assert in_errors[worst] < 12.0, model.reduction.names[worst]
    # The motions are slow, so that both kinds of friction are distinguished by their shape near
    # zero alone.
    found = dict(zip(model.reduction.names, model.theta_base, strict=True))
    for symbol, true, share in (
        ('fc', made.truth.coulomb, 0.05), ('fv', made.truth.viscous, 0.1),
    ):
        np.testing.assert_allclose(
            [found[f'{symbol}{joint}'] for joint in range(1, 7)], true, rtol=share
        )


@pytest.mark.parametrize('name', NAMES)
def test_automatic_friction_is_the_true_curve(scene, name):
    """In steady sliding from 0.05 to 1 rad/s either way: to 8 % of the friction there."""
    # The terms are not the simulator's, and it is their sum that is found: tanh with another width
    # is a sum of some, and no stop or load is in the truth. Ten seconds have few samples at low
    # speed.
    made = scene(name)
    robot = made.robot.with_drive_gains(made.truth.drive_gain)
    model = identify(robot, [made.bags[0]], IdentifyOptions()).model
    speeds = np.geomspace(0.05, 1.0, 15)
    for term, columns in model.parameters.friction_columns:
        if term.law.name != 'dictionary':
            continue
        load = model.quality['loads'][term.joint]
        for sign in (-1.0, 1.0):
            for speed in speeds:
                # One second of sliding: every stop has slipped.
                dq = np.full(100, sign * speed)
                slide = JointMotion(
                    2.0 * np.cumsum(dq) / speed, dq, np.full(100, load), np.full(100, np.nan)
                )
                found, _ = term.law.columns(slide, term.law.initial_state())
                torque = found @ model.theta_lifted[columns]
                expected = made.truth.friction(dq[-1] * np.ones(robot.n))[term.joint]
                assert torque[-1] == pytest.approx(expected, rel=0.08), (term.joint, speed)


def test_the_automatic_choice_is_reported(identification):
    """Cut-off and prior weight, by their scores; the passes; no stop and load was in the truth."""
    cutoff, weight, *corrections = identification.candidates
    assert [one.question for one in corrections] in (
        [], ['weight of the CAD prior, with corrections', 'corrections'],
    )
    assert cutoff.names == ('5 Hz', '9 Hz', '14 Hz') and cutoff.chosen in cutoff.names
    assert len(weight.names) == len(weight.scores) == 5 and weight.chosen in weight.names
    assert identification.estimate.passes == 4
    choices = identification.model.quality['cross_validation']['choices']
    assert [choice['question'] for choice in choices] == [
        one.question for one in identification.candidates
    ]
    options = identification.model.provenance['options']
    assert (options['estimator'], options['friction']) == ('dictionary', 'dictionary,offset')


def test_a_sound_recording_raises_no_warning_and_its_rate_is_stated(identification):
    """Verdict, model file: no warning, the assumptions, 125 Hz and the cut-off that was chosen."""
    verdict, quality = identification.verdict, identification.model.quality
    assert verdict.warnings == () and quality['warnings'] == []
    assert quality['assumptions'] == list(verdict.assumptions) != []
    cutoff = identification.model.source.kinematic_filter.cutoff
    assert quality['bandwidth'] == {'rate': pytest.approx(125.0, rel=1e-3), 'cutoff': cutoff}
    assert any(reason.startswith('joint states at 125 Hz') for reason in verdict.reasons)
