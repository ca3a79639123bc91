# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The verdict follows from the errors, and its file is for machines."""

import json
import re

import numpy as np
import pytest
from robot_identification.model.regressor import rigid_torque
from robot_identification.report.text_report import validation_text
from robot_identification.validation.bag_errors import BagErrors
from robot_identification.validation.validation import (
    predict_effort, score, validate, Validation, validation_content, validation_json,
)
from robot_identification.validation.verdict import BAD, GOOD, judge, USABLE

JOINTS = ('one', 'two', 'three')


def errors(*nrmse, bag='bag'):
    values = np.array(nrmse, dtype=float)
    return BagErrors(
        bag, 100, 'A', JOINTS[: len(values)], 2.0 * values, values,
        np.where(np.isfinite(values), 3.0 * values, np.nan), np.zeros(len(values)),
    )


@pytest.mark.parametrize(
    ('nrmse', 'level'),
    [
        ((0.05, 0.10, 0.15), GOOD),
        ((0.15, 0.15, 0.15), GOOD),
        ((0.16, 0.16, 0.16), USABLE),
        ((0.03, 0.03, 0.36), USABLE),  # mean 0.14, but one joint is missed
        ((0.30, 0.30, 0.30), USABLE),
        ((0.31, 0.31, 0.31), BAD),
        ((0.10, 0.10, 0.80), BAD),
        ((0.10, np.nan, 0.10), GOOD),
        ((np.nan, np.nan, np.nan), BAD),
    ],
)
def test_thresholds(nrmse, level):
    """0.15 and 0.30 of the spread in the mean, 0.35 for one joint."""
    verdict = judge([errors(*nrmse)], unseen=True)
    assert verdict.level == level
    assert verdict.next_step
    if np.isfinite(nrmse).all():
        assert f'{np.mean(nrmse):.3f}' in verdict.reasons[0]


def test_file_has_the_keys_of_the_plan_and_no_nan():
    """What is not a number is null, as a program expects it."""
    bags = (errors(0.1, np.nan, 0.2), errors(np.nan, np.nan, np.nan, bag='flat'))
    validation = Validation(bags, judge(bags, unseen=True))
    text = validation_json(validation)

    def refuse(constant):
        raise AssertionError(f'{constant} is no JSON')

    content = json.loads(text, parse_constant=refuse)
    assert content == validation_content(validation)
    assert {'bags', 'verdict', 'reasons'} <= set(content)
    first, flat = content['bags']
    assert set(first) == {
        'bag', 'samples', 'unit', 'joints', 'rmse', 'nrmse', 'nrmse_mean', 'rmse_moving', 'bias',
        'details', 'urdf_nrmse', 'urdf_nrmse_mean', 'training_data',
    }
    assert first['details'] is None
    assert first['nrmse'] == [0.1, None, 0.2]
    assert first['rmse_moving'][1] is None
    assert first['nrmse_mean'] == pytest.approx(0.15)
    assert flat['nrmse_mean'] is None
    assert (first['joints'], first['samples'], first['unit']) == (list(JOINTS), 100, 'A')


def test_errors_are_taken_on_the_recorded_samples(identification):
    """Against the model's effort at every scored stamp, by definition and from the raw effort."""
    model, dataset = identification.model, identification.datasets[0]
    found = score(model, dataset)
    measured = dataset.effort[dataset.scored]
    residual = measured - predict_effort(model, dataset)[dataset.scored]
    np.testing.assert_allclose(found.rmse, np.sqrt(np.mean(residual**2, axis=0)), rtol=1e-12)
    np.testing.assert_allclose(found.nrmse, found.rmse / np.std(measured, axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.bias, residual.mean(axis=0), atol=1e-12)
    moving = np.abs(dataset.motion.dq[dataset.scored]) > 0.02
    for joint in range(6):
        expected = np.sqrt(np.mean(residual[moving[:, joint], joint] ** 2))
        assert found.rmse_moving[joint] == pytest.approx(expected, rel=1e-12)
    assert found.samples == len(dataset) == 1250
    assert found.details.of_limit == pytest.approx(
        found.rmse / (model.robot.limits.effort * model.effort_per_torque)
    )
    # The URDF has no friction, and masses that differ from the truth's by up to 20 %.
    assert np.all(found.details.urdf > 2.0 * found.nrmse)
    whole = validate(model, [dataset, dataset])
    np.testing.assert_array_equal(whole.bags[1].rmse, found.rmse)
    assert whole.verdict.level == GOOD


def test_the_urdf_stands_beside_the_model(identification):
    """By its definition: the rigid torque of the URDF's bodies, with the gains of the model."""
    model, dataset = identification.model, identification.datasets[0]
    validation = validate(model, [dataset])
    measured = dataset.effort[dataset.scored]
    rigid = rigid_torque(model.robot, dataset.motion)[dataset.scored] * model.effort_per_torque
    expected = np.sqrt(np.mean((measured - rigid) ** 2, axis=0)) / np.std(measured, axis=0)
    bag, = validation_content(validation)['bags']
    assert bag['urdf_nrmse'] == pytest.approx(expected)
    assert bag['urdf_nrmse_mean'] == pytest.approx(expected.mean())
    text = validation_text(model, validation)
    assert re.search(r'^joint +NRMSE +URDF without friction +RMSE', text, re.MULTILINE)
    assert re.search(rf'^mean +{bag["nrmse_mean"]:.3f} +{expected.mean():.3f}$', text, re.M)
    assert 'without friction' in text
