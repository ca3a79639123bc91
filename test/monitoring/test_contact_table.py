# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The page on contact has the figures of the study, and a small one runs here."""

from dataclasses import replace

from known_models import true_model
from long_tests import long_test
import numpy as np
import pytest
from robot_identification.monitoring.collision import CollisionThresholds, SURE
from study_pages import medians, page_table

study = pytest.importorskip('validation_studies.contact')


@pytest.fixture(scope='module')
def measured():
    return medians('contact')


def test_the_page_has_the_figures_of_the_study(measured):
    """Digit by digit, every joint."""
    for joint, row in enumerate(page_table('contact', 'joint')[1:], start=1):
        def of(name, joint=joint):
            return measured[f'joint {joint}: {name}']

        detected = round(of('pushes') * of('seen within 50 ms') / 100.0)
        assert row == [
            str(joint), f'{of("stated step"):.1f}', f'{detected} of {of("pushes"):.0f}',
            f'{of("latency, median"):.0f} ({of("latency, 99 %"):.0f})',
            f'{of("added near rest"):.1f}',
        ]
    assert joint == 6


@pytest.fixture(scope='module')
def arm():
    """Return the model of an arm, known but for what makes its joints stick and warm up."""
    pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')
    robot, truth = study.make_arm(1)
    model = true_model(robot.with_drive_gains(truth.drive_gain), truth)
    noise = (0.004 * robot.limits.effort).tolist()
    return replace(
        model, effort_unit='A', covariance=1e-8 * model.covariance,
        quality={'residual_standard_deviation': noise},
    )


@long_test
def test_a_miniature_is_silent_and_sees_pushes(arm, monkeypatch):
    """Some seconds instead of an hour, with limits that are set instead of calibrated."""
    # Eight deviations are what the hour needs, too. Near rest friction is within +-1.3 times
    # Coulomb's and what load adds; the model's tanh may have the other sign: three times it.
    _, truth = study.make_arm(1)
    thresholds = CollisionThresholds(np.full(6, 8.0), rest=3.0 * truth.coulomb)
    monkeypatch.setattr(study, 'PIECE', 5.0)
    monkeypatch.setattr(study, 'STEPS', (SURE,))
    deviation = np.asarray(arm.quality['residual_standard_deviation'])
    steps = study.smallest_seen(
        thresholds, deviation, study.DEFAULT_BANDWIDTH, study.WITHIN
    )
    (runs,) = study.shifts(study.simulate(1, 3, 3, 5.0, 0.0))
    seconds, alarms, largest = study.count_alarms(arm, thresholds, runs)
    assert seconds >= 5.0
    assert alarms == 0
    assert np.all(largest < 1.0)
    assert np.all(largest.max(axis=1) > 0.1)
    pushes = study.push(1, arm, thresholds, 0, 5.0, steps)
    moving = [one for one in pushes if one.moved]
    assert len(moving) >= 4
    assert all(one.latency <= study.WITHIN for one in moving)
    # 8 / 0.68 deviations twice, over the limit of 8: no sooner than the low-pass lets it.
    assert min(one.latency for one in moving) > 0.004
