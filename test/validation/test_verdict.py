# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The verdict says what an error is, blames no joint for its noise, and knows the baselines."""

from dataclasses import asdict, replace
import json
import re

from known_models import made_up_dataset
import numpy as np
import pytest
from robot_identification.model.regressor import Motion
from robot_identification.validation.bag_errors import (
    measure_details, measure_errors, relative_error, split_frequencies, variance_accounted_for,
)
from robot_identification.validation.validation import errors_on
from robot_identification.validation.verdict import (
    BAD, Bandwidth, DataWarning, Findings, findings_in, GOOD, judge, Limit, limits_in, OF_TRAINING,
    SIMULATION, USABLE, uses_content, Verdict, verdict_content,
)

RATE = 100.0
N = 4000
STAMPS = np.arange(N) / RATE


def errors(residual, effort=None, urdf=None, bag='bag'):
    """Return the errors of a prediction that misses three or six swinging joints so (N, n)."""
    # The last three joints are as fast as the first.
    effort, n = swinging() if effort is None else effort, residual.shape[1]
    dq = np.column_stack([speed(joint % 3) for joint in range(n)])
    dataset = replace(made_up_dataset(
        ('one', 'two', 'three', 'four', 'five', 'six')[:n],
        Motion(np.zeros((N, n)), dq, np.zeros((N, n))), effort, RATE, 'A',
    ), source=bag)
    return errors_on(dataset, effort - residual, dataset.scored, urdf=urdf)


def swinging():
    """Return the efforts of three swinging joints (N, 3), of unit spread."""
    return np.sqrt(2.0) * np.column_stack([
        np.sin(3.0 * STAMPS + phase) for phase in (0.0, 1.0, 2.0)
    ])


def smooth(size):
    """Return an error of the motion's own kind (N, 3), of so much RMS by joint."""
    return np.sqrt(2.0) * np.asarray(size) * np.cos(3.0 * STAMPS)[:, None]


def speed(joint):
    return np.sin(STAMPS + joint)


def text_of(verdict):
    return ' / '.join((*verdict.reasons, verdict.next_step))


@pytest.mark.parametrize('unseen', [True, False])
def test_a_joint_of_noise_is_not_blamed(unseen):
    """Its NRMSE is 0.9 and most of that is noise."""
    # The others decide, and it is named all the same. But no model is good that leaves a joint
    # out, whoever is to blame. The mean that is stated first is the one that decides.
    rng = np.random.default_rng(0)
    residual = smooth([0.1, 0.1, 0.1])
    residual[:, 2] += 0.9 * rng.normal(size=N)
    effort = np.sqrt(2.0) * np.column_stack([np.sin(3.0 * STAMPS), np.sin(2.0 * STAMPS),
                                             0.3 * np.sin(3.0 * STAMPS)])
    effort[:, 2] += residual[:, 2]
    bag = errors(residual, effort)
    assert bag.nrmse[2] > 0.8
    verdict = judge([bag], unseen=unseen)
    assert verdict.level == USABLE
    stated = [float(number) for number in re.findall(r'\d\.\d{3}', verdict.reasons[0])]
    assert stated == pytest.approx([bag.nrmse[:2].mean(), bag.nrmse_mean], abs=5e-4)
    assert 'most of the error of three is change of its effort from sample to sample' in text_of(
        verdict
    )
    assert 'three is worst' not in text_of(verdict)
    assert 'three' not in verdict.next_step


@pytest.mark.parametrize(
    ('residual', 'sentence', 'step'),
    [
        (np.full(N, 0.5), r'constant offset of 0\.5 A', 'payload'),
        (np.where(speed(1) > 0.0, 0.9, 0.2) * np.sign(np.sin(20.0 * STAMPS)),
         'two is 4.[0-9] times worse moving forward', 'asymmetric'),
        (np.where(speed(1) > 0.0, 0.2, 0.9) * np.sign(np.sin(20.0 * STAMPS)),
         'two is 4.[0-9] times worse moving backward', 'asymmetric'),
        (np.where(np.abs(speed(1)) < 0.1, 2.0, 0.1) * np.sign(np.sin(20.0 * STAMPS)),
         '[0-9]+% of the squared error of two is at low speed', 'slow reversals'),
        (np.where(np.abs(speed(1)) <= 0.02, 4.0, 0.1) * np.sign(np.sin(20.0 * STAMPS)),
         '[0-9]+% of the squared error of two is at rest', 'rmse_moving'),
        (0.7 * np.sin(2.0 * np.pi * 30.0 * STAMPS), 'above 9.5 Hz', 'frequencies you need'),
    ],
    ids=['offset', 'forward', 'backward', 'slow', 'rest', 'vibration'],
)
def test_the_main_part_of_an_error_is_said(residual, sentence, step):
    """With what to do about it."""
    missed = smooth([0.02, 0.0, 0.02])
    missed[:, 1] += residual
    verdict = judge([errors(missed)], unseen=True)
    assert verdict.level == USABLE
    assert re.search(sentence, text_of(verdict)), verdict.reasons
    assert step in verdict.next_step


def test_the_urdf_that_does_as_well_is_named():
    """Then the model is no gain: not good, whatever its errors."""
    effort = swinging()
    better, worse = effort - smooth([0.02] * 3), effort - smooth([0.4] * 3)
    for urdf, level in ((better, USABLE), (worse, GOOD), (None, GOOD)):
        verdict = judge([errors(smooth([0.1] * 3), effort, urdf)], unseen=True)
        assert verdict.level == level
        assert ('the URDF without friction does as well' in text_of(verdict)) == (urdf is better)


def turned(share):
    """Return the error of a joint whose sign is wrong in the last part, and the effort (N, 3)."""
    effort = swinging()
    predicted, sign = effort - smooth([0.05] * 3), np.where(STAMPS < (1.0 - share) * 40.0, 1, -1)
    effort[:, 1] *= sign
    return effort - predicted, effort


def test_one_joint_that_a_constant_predicts_makes_a_model_bad():
    """The mean of six joints, of which one is turned round in half of the recording, is 0.27."""
    residual, effort = turned(0.5)
    wide = (np.hstack([residual, smooth([0.05] * 3)]), np.hstack([effort, effort[:, [0, 2, 0]]]))
    bag = errors(*wide)
    assert bag.nrmse_mean < 0.3
    verdict = judge([bag], unseen=True)
    assert verdict.level == BAD
    assert verdict.reasons[0].startswith('the model is not usable for two: a constant')
    assert 'two' in verdict.next_step and 'sign' in verdict.next_step
    # A tenth of it leaves 63 % unexplained: bad for that joint, of some use all the same.
    residual, effort = turned(0.1)
    assert judge([errors(residual, effort)], unseen=True).level == USABLE


def test_recommendations_are_the_next_step_of_what_is_unidentifiable():
    bags = [errors(smooth([0.1] * 3))]
    verdict = judge(
        bags, unseen=False, findings=Findings(
            unidentifiable=('fc3',), recommendations=('fc3: sweep three', 'Ia3: shake'),
        ),
    )
    assert verdict.level == BAD
    assert verdict.reasons[0] == 'the data do not determine fc3'
    assert verdict.next_step == 'record another motion: fc3: sweep three; Ia3: shake'
    without = judge(bags, unseen=False, findings=Findings(unidentifiable=('fc3',)))
    assert 'every joint moves fast and slowly' in without.next_step


def test_a_doubt_makes_no_good_model_however_small_the_error():
    """It comes first, with its evidence, and what to check is what to do next."""
    warning = DataWarning(
        'delay', ('two',), 'the effort of two may be late', 'delay', 's', 0.08, 0.012, 'look at it'
    )
    bags = [errors(smooth([0.01] * 3))]
    assert judge(bags, unseen=False).level == GOOD
    verdict = judge(bags, unseen=False, findings=Findings((warning,), ('something',)))
    assert verdict.level == USABLE
    assert verdict.reasons[0] == (
        'the effort of two may be late (delay 0.08 s, threshold 0.012 s): look at it'
    )
    assert verdict.next_step == 'look at it'
    content = verdict_content(verdict)
    assert json.loads(json.dumps(content)) == content
    assert content['warnings'][0]['joints'] == ['two'] and content['assumptions'] == ['something']


def test_what_was_suspected_of_the_training_data_holds_on_others():
    """A small error on another recording does not clear it up; it is read from the model file."""
    warning = DataWarning(
        'sign', (), 'efforts may have the wrong sign', 'power', '', -0.9, -0.02, 'check signs'
    )
    bags = [errors(smooth([0.01] * 3))]
    for findings, step in (
        (Findings((warning,)), 'check signs'),
        (Findings(contradictions=('effort is 1000 times as large',)), '1000 times as large'),
    ):
        made = judge(bags, unseen=False, findings=findings)
        again = findings_in(json.loads(json.dumps(verdict_content(made))))
        verdict = judge(bags, unseen=True, findings=again)
        assert verdict.level == USABLE
        assert verdict.reasons[0].startswith(f'{OF_TRAINING} ef') and step in verdict.next_step
    assert judge(bags, unseen=True, findings=findings_in({})).level == GOOD
    # A file may be damaged, or edited by hand.
    for entry in ({'name': 'x'}, 'text', 3, {**asdict(warning), 'value': None}):
        for content in ({'warnings': [entry]}, {'warnings': entry}, {'contradictions': entry}):
            verdict = judge(bags, unseen=True, findings=findings_in(content))
            assert verdict.level == USABLE and verdict.reasons[0].startswith(OF_TRAINING)


@pytest.mark.parametrize(('rate', 'hides'), [
    (30.0, True), (48.5, True), (49.4, False), (98.9, False), (125.0, False), (1000.0, False),
])
def test_a_low_rate_says_what_it_hides(rate, hides):
    """The rate is always said; below 50 Hz friction near reversals is, too."""
    verdict = judge([errors(smooth([0.01] * 3))], unseen=True, bandwidth=Bandwidth(rate, 9.0))
    said, = (reason for reason in verdict.reasons if reason.startswith('joint states at'))
    assert f'{rate:.4g} Hz' in said and '9 Hz' in said
    assert ('friction near reversals' in said) == hides
    assert verdict.level == GOOD


def test_a_limit_of_one_use_leaves_the_others_as_they_are():
    """It is stored with the model, and holds where that is validated."""
    good = Verdict(GOOD, ('mean NRMSE 0.05',), 'use it')
    assert set(good.uses.values()) == {GOOD}
    limit = Limit(SIMULATION, BAD, 'the reflected inertia is negative')
    found = good.limited([limit])
    assert found.level == GOOD
    assert found.uses == {**good.uses, SIMULATION: BAD}
    assert limit.reason in found.reasons[0]
    assert SIMULATION in found.next_step
    # The same again, or another for the same use, is no other advice.
    assert found.limited([limit]) == found
    assert found.limited([replace(limit, reason='it drifts')]).next_step == found.next_step
    stored = json.loads(json.dumps(uses_content(found)))
    assert limits_in(stored) == (limit,)
    assert good.limited(limits_in(stored)) == found
    damaged = {'limits': ['anything', {'use': SIMULATION, 'level': 'splendid'}]}
    assert good.limited(limits_in(damaged)).uses[SIMULATION] == BAD
    poor = replace(good, level=BAD).limited([replace(limit, level=USABLE)])
    assert set(poor.uses.values()) == {BAD}


@pytest.fixture
def dataset():
    """Return two joints: one swings fast and slowly, one rests; effort of 2 and of 0 N m."""
    stamps = np.arange(N) / RATE
    dq = np.column_stack([np.sin(stamps), np.zeros(N)])
    effort = np.column_stack([2.0 * np.cos(stamps), np.zeros(N)])
    motion = Motion(np.zeros((N, 2)), dq, np.zeros((N, 2)))
    return made_up_dataset(('swings', 'rests'), motion, effort, RATE)


def details_of(dataset, residual, rows=None, **more):
    rows = np.ones(N, dtype=bool) if rows is None else rows
    return measure_details(dataset, dataset.effort - residual, rows, **more)


def test_noise_is_a_floor_and_memory_is_counted(dataset):
    """White noise of 0.5 on a swing of RMS root 2: the least NRMSE; all samples independent."""
    rng = np.random.default_rng(0)
    noise = 0.5 * rng.normal(size=(N, 2))
    dataset.effort[:] += noise
    found = details_of(dataset, noise)
    assert found.noise[0] == pytest.approx(0.5, rel=0.1)
    assert found.floor[0] == pytest.approx(0.5 / 1.5, rel=0.1)
    assert np.all(np.abs(found.lag_one) < 0.06)
    assert np.all(found.independent_samples > 0.8 * N)
    assert np.all(found.white_probability > 1e-3)
    slow = noise.cumsum(axis=0)
    found = details_of(dataset, slow)
    assert np.all(found.lag_one > 0.9)
    assert np.all(found.independent_samples < 0.02 * N)
    assert np.all(found.white_probability < 1e-6)


# --- figures by hand ---------------------------------------------------------------------


def errors_of(measured, predicted, moving=None):
    measured, predicted = np.array(measured, dtype=float), np.array(predicted, dtype=float)
    moving = np.ones(measured.shape, dtype=bool) if moving is None else np.array(moving)
    joints = tuple(f'joint_{i}' for i in range(measured.shape[1]))
    return measure_errors(measured, predicted, moving, bag='bag', unit='A', joints=joints)


def test_by_hand():
    """First joint: residuals 1, -1, 3, -3, measured 2, -2, 2, -2 of spread 2."""
    # Second joint: residuals all -0.5 on 0, 1, 0, 1 of spread 0.5.
    measured = [[2.0, 0.0], [-2.0, 1.0], [2.0, 0.0], [-2.0, 1.0]]
    predicted = [[1.0, 0.5], [-1.0, 1.5], [-1.0, 0.5], [1.0, 1.5]]
    moving = [[True, False], [True, False], [False, True], [True, True]]
    found = errors_of(measured, predicted, moving)
    np.testing.assert_allclose(found.rmse, [np.sqrt(5.0), 0.5])
    np.testing.assert_allclose(found.nrmse, [np.sqrt(5.0) / 2.0, 1.0])
    np.testing.assert_allclose(found.rmse_moving, [np.sqrt(11.0 / 3.0), 0.5])
    np.testing.assert_allclose(found.bias, [0.0, -0.5])
    assert found.nrmse_mean == pytest.approx((np.sqrt(5.0) / 2.0 + 1.0) / 2.0)
    assert (found.samples, found.unit, found.bag) == (4, 'A', 'bag')


@pytest.mark.parametrize('constant', [0.0, 1e-9, -7.0, 1e12])
def test_a_constant_signal_has_no_normalized_error(constant):
    """There is nothing to explain; it is left out of the mean, its error is still stated."""
    measured = np.column_stack([np.full(50, constant), np.tile([1.0, -1.0], 25)])
    found = errors_of(measured, measured + 0.25)
    assert np.isnan(found.nrmse[0])
    assert found.nrmse[1] == pytest.approx(0.25)
    assert found.nrmse_mean == pytest.approx(0.25)
    np.testing.assert_allclose(found.rmse, 0.25, rtol=1e-3)


@pytest.mark.parametrize(('frequency', 'low', 'high'), [(1.0, 1.0, 0.0), (30.0, 0.0, 1.0)])
def test_frequencies_are_split(dataset, frequency, low, high):
    """A sine of 1 Hz is below 9.5 Hz, one of 30 Hz above, to 3 % of either."""
    sine = np.sqrt(2.0) * np.sin(2.0 * np.pi * frequency * dataset.stamps)[:, None]
    found = details_of(dataset, np.hstack([sine, sine]))
    np.testing.assert_allclose(found.low, low, atol=0.03)
    np.testing.assert_allclose(found.high, high, atol=0.03)
    assert found.split == 9.5


def test_filters_do_not_run_over_gaps(dataset):
    """A step between two parts is no high frequency; parts too short to filter count as low."""
    step = np.where(np.arange(N) < 2000, 0.0, 5.0)[:, None] * np.ones(2)
    whole = split_frequencies(dataset, step, np.ones(N, dtype=bool))
    apart = replace(dataset, segments=(slice(0, 2000), slice(2000, N)))
    parts = split_frequencies(apart, step, np.ones(N, dtype=bool))
    assert whole[1][0] > 0.05
    assert parts[1][0] < 1e-9
    rows = np.arange(N) % 10 != 0
    noise = np.random.default_rng(0).normal(size=(int(rows.sum()), 2))
    low, high, _ = split_frequencies(dataset, noise, rows)
    np.testing.assert_allclose(low, np.sqrt(np.mean(noise**2, axis=0)))
    np.testing.assert_array_equal(high, 0.0)


def test_a_constant_error_is_seen_by_some_figures_only():
    """An offset of 1 on a signal of spread 2: R^2 falls to 3/4, the variance explained is all."""
    measured = np.tile([[2.0], [-2.0]], (50, 1))
    residual = np.ones((100, 1))
    assert variance_accounted_for(measured, residual)[0] == pytest.approx(1.0)
    found = errors_of(measured, measured - residual)
    assert 1.0 - found.nrmse[0] ** 2 == pytest.approx(0.75)
    assert relative_error(measured, residual)[0] == pytest.approx(0.5)
    flat = np.zeros((10, 1))
    assert np.isnan(variance_accounted_for(flat, residual[:10])[0])
    assert np.isnan(relative_error(flat, residual[:10])[0])
