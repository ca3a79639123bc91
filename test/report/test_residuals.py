# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Residuals and corrections in reports: sizes, memory and spectrum of known signals."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from report import report_cases
from robot_identification.model.regressor import standard_torque
from robot_identification.report.corrections import corrections_section
from robot_identification.report.explanation import effort_parts, score_fit, Scored
from robot_identification.report.residuals import collect_residuals, spectrum_of, whiteness_words
from robot_identification.validation.validation import errors_on, predict_effort

SAMPLES = 4000


@pytest.fixture(scope='module')
def recording():
    """Return a recording of two joints with white noise."""
    return report_cases.record(report_cases.chain_arm(2), 'bag', 3, SAMPLES)


def scored(dataset, residual):
    predicted = np.nan_to_num(dataset.effort) - residual
    return Scored(dataset, predicted, dataset.fitted, errors_on(
        dataset, predicted, dataset.fitted, detailed=False
    ))


def collected(bags):
    return tuple(collect_residuals(bags))


def noise(seed=0):
    return np.random.default_rng(seed).normal(size=(SAMPLES, 2))


def test_white_noise_is_called_white(recording):
    """The bands hold 99 % of the correlations, and all samples are independent."""
    found = collected([scored(recording, noise())])
    for one in found:
        assert one.is_white and one.finding() == 'white'
        # Fifty correlations, of which one in a hundred is outside: four are once in a thousand.
        assert one.outside <= 0.08
        assert one.independent > 0.8 * len(one)
    assert 'cannot be distinguished from white noise' in whiteness_words(found)


def test_noise_with_memory_is_not_white(recording):
    """An autoregression of 0.9 has that lag-one correlation, and 1/19 independent samples."""
    steps = noise(1)
    slow = np.zeros_like(steps)
    for k in range(1, SAMPLES):
        slow[k] = 0.9 * slow[k - 1] + steps[k]
    first, second = collected([scored(recording, slow)])
    for one in (first, second):
        assert not one.is_white and one.finding().startswith('not white')
        # Errors of these from 4000 samples: 0.007, and a quarter of the value.
        assert one.lag_one == pytest.approx(0.9, abs=0.03)
        assert one.independent == pytest.approx(len(one) / 19.0, rel=0.6)
    words = whiteness_words((first, second))
    assert 'all joints are not white noise' in words


def test_the_spectrum_has_the_variance_of_the_residual(recording):
    """Its square's integral is the variance, and a tone stands where its frequency is."""
    t = recording.stamps
    tone = np.sqrt(2.0) * np.sin(2.0 * np.pi * 7.0 * t)
    left = 0.1 * noise() + tone[:, None]
    first, _ = collected([scored(recording, left)])
    frequencies, amplitude = spectrum_of(first)
    step = frequencies[1] - frequencies[0]
    # Welch's window loses a few per cent at the ends of the recording.
    assert np.sum(amplitude**2) * step == pytest.approx(1.01, rel=0.05)
    assert abs(frequencies[np.argmax(amplitude)] - 7.0) <= step


# --- contributions to the effort ---------------------------------------------------------


@pytest.fixture(scope='module')
def found():
    """Return an identification whose bodies are exactly those of the URDF."""
    found = report_cases.identify_chain(3, 1, samples=300)
    _, theta = report_cases.true_parameters(found.model.robot)
    model = replace(found.model, theta_base=found.model.reduction.K @ theta)
    return replace(found, model=model)


def test_parts_are_those_of_rigid_body_mechanics(found):
    """Gravity, inertia with rotors and velocity by Pinocchio, friction by its laws."""
    model, (bag,) = found.model, score_fit(found)
    rows = np.flatnonzero(bag.rows)[::7]
    gravity, inertia, velocity, friction = effort_parts(model, bag, rows)
    np.testing.assert_allclose(
        gravity + inertia + velocity + friction, bag.predicted[rows], atol=1e-9
    )
    motion, arm = bag.dataset.motion.rows(rows), model.robot.pinocchio
    data = arm.createData()
    for k, (q, dq, ddq) in enumerate(zip(motion.q, motion.dq, motion.ddq, strict=True)):
        weight = pin.computeGeneralizedGravity(arm, data, q).copy()
        # The mass matrix of Pinocchio is the upper triangle only.
        mass = np.triu(pin.crba(arm, data, q))
        mass = mass + np.triu(mass, 1).T
        np.testing.assert_allclose(gravity[k], weight, atol=1e-9)
        np.testing.assert_allclose(
            inertia[k], mass @ ddq + report_cases.ROTOR * ddq, atol=1e-9
        )
        np.testing.assert_allclose(
            velocity[k], pin.rnea(arm, data, q, dq, np.zeros(3)) - weight, atol=1e-9
        )
    parameters = model.parameters
    only = np.where([name.startswith('f') for name in parameters.names], model.theta_lifted, 0.0)
    np.testing.assert_allclose(
        friction, standard_torque(model.robot, parameters, only, motion), atol=1e-9
    )


@pytest.fixture(scope='module')
def fitted(identification):
    return score_fit(identification)


def test_errors_are_those_of_the_predictions(identification, fitted):
    """Both of a pair by hand, from the predictions without and with corrections."""
    model = identification.model
    section = corrections_section(identification, fitted)
    corrected = {model.robot.joint_names[one.joint] for one in model.corrections.offline}
    assert {joint for joint, _ in section.rows} == corrected
    dataset, rows = fitted[0].dataset, fitted[0].rows
    moving = dataset.moving[rows]
    for name, (_, errors, *_) in section.rows:
        joint = model.robot.joint_names.index(name)
        for number, plain in enumerate((True, False)):
            effort = predict_effort(model, dataset, corrected=not plain)
            left = (dataset.effort - effort)[rows, joint][moving[:, joint]]
            # Three digits are shown.
            assert float(errors[number]) == pytest.approx(
                np.sqrt(np.mean(left**2)), rel=6e-3
            )
        assert float(errors[1]) < float(errors[0])
