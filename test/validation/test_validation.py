# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The verdict follows from the errors, and its file is for machines."""

from itertools import product
import json
import re
import shutil
from types import SimpleNamespace

from hypothesis import given, strategies as st
import numpy as np
import pytest
from robot_identification.files import file_sha256
from robot_identification.model.regressor import rigid_torque
from robot_identification.pipeline import validate as validate_bags
from robot_identification.recording.bag_files import data_hashes
from robot_identification.report.text_report import validation_text
from robot_identification.validation import find_training_data
from robot_identification.validation.bag_errors import BagErrors
from robot_identification.validation.folds import blocked_folds
from robot_identification.validation.validation import (
    predict_effort, score, validate, Validation, validation_content, validation_json,
)
from robot_identification.validation.verdict import BAD, GOOD, judge, USABLE
from robot_identification.validation.whiteness import (
    autocovariance, correlation_distance, independent_share, ljung_box,
)

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


@given(
    fitted=st.lists(st.booleans(), min_size=60, max_size=200).filter(lambda rows: sum(rows) > 10),
    folds=st.integers(2, 7), gap=st.floats(0.0, 0.5),
)
def test_folds_are_disjoint_with_a_gap(fitted, folds, gap):
    """Each row is held out once; training keeps away from the block by the gap on both sides."""
    fitted = np.array(fitted)
    stamps = 0.02 * np.arange(len(fitted))
    times_held_out = np.zeros(len(fitted), dtype=int)
    pairs = list(blocked_folds(stamps, fitted, folds, gap))
    assert len(pairs) == folds
    for training, held_out in pairs:
        times_held_out += held_out
        assert not np.any(training & held_out)
        assert not np.any(training & ~fitted)
        block = stamps[held_out]
        inside = (stamps >= block.min() - gap) & (stamps <= block.max() + gap)
        assert not np.any(training & inside)
        # And nothing is thrown away without need.
        np.testing.assert_array_equal(training, fitted & ~inside)
    np.testing.assert_array_equal(times_held_out, fitted.astype(int))


@given(
    period=st.floats(1.6, 3.0), folds=st.integers(2, 5), gap=st.floats(0.0, 0.3),
    start=st.floats(-5.0, 5.0),
)
def test_what_repeats_with_a_period_is_held_out_together(period, folds, gap, start):
    """No phase of the motion that is held out, or near such a one, is trained on at any time."""
    stamps = start + 0.02 * np.arange(300)
    fitted = np.arange(300) % 7 > 0
    phase = (stamps - start) % period
    times_held_out = np.zeros(300, dtype=int)
    for training, held_out in blocked_folds(stamps, fitted, folds, gap, period):
        times_held_out += held_out
        apart = np.abs(phase[training][:, None] - phase[held_out])
        # A sample at the very end of the gap may round to either side.
        assert np.minimum(apart, period - apart).min() > gap - 1e-9
        # And nothing is thrown away without need: a block and its gaps, of the whole period.
        assert training.sum() > (1.0 - 1.0 / folds - 2.0 * gap / period - 0.15) * fitted.sum()
    np.testing.assert_array_equal(times_held_out, fitted.astype(int))


# --- memory of residuals -----------------------------------------------------------------


def autoregressive(memory, samples=40_000, seed=0):
    """Return a signal that keeps a part of itself from sample to sample (N, 1)."""
    signal = np.random.default_rng(seed).normal(size=(samples, 1))
    for k in range(1, samples):
        signal[k] += memory * signal[k - 1]
    return signal


def products_of(signal, lags=400):
    return autocovariance(signal, lags)[0]


@pytest.mark.parametrize(('samples', 'lags'), [(1, 3), (2, 1), (7, 6), (7, 20), (300, 40)])
def test_autocovariance_is_a_sum_of_products(rng, samples, lags):
    """Of pairs so far apart; zero where there are none."""
    x = rng.normal(size=(samples, 2))
    found = autocovariance(x, lags)
    assert found.shape == (2, lags + 1)
    for lag in range(lags + 1):
        expected = np.sum(x[lag:] * x[: samples - lag], axis=0) if lag < samples else 0.0
        np.testing.assert_allclose(found[:, lag], expected, atol=1e-10)


@pytest.mark.parametrize('memory', [0.0, 0.5, 0.9])
def test_memory_of_an_autoregressive_signal(memory):
    """``2 a / (1 - a^2)`` samples apart on average, ``(1 - a) / (1 + a)`` of them independent."""
    # Estimated from 40 000 samples: to 15 %.
    products = products_of(autoregressive(memory))
    assert correlation_distance(products, 40_000) == pytest.approx(
        2.0 * memory / (1.0 - memory**2), rel=0.15, abs=0.02
    )
    assert independent_share(products, 40_000) == pytest.approx(
        (1.0 - memory) / (1.0 + memory), rel=0.15
    )


def test_white_noise_is_rejected_as_often_as_said():
    """5 % of 400 signals, to three standard deviations of 1.1 %."""
    rng = np.random.default_rng(1)
    p_values = [
        ljung_box(products_of(rng.normal(size=(500, 1)), 20), 500) for _ in range(400)
    ]
    assert np.mean(np.array(p_values) < 0.05) == pytest.approx(0.05, abs=0.033)


def folder_of(path, *contents, metadata='names and counts'):
    """Write a folder with files of these contents, as a split bag has them."""
    path.mkdir()
    for number, content in enumerate(contents):
        (path / f'{path.name}_{number}.mcap').write_text(content)
    (path / 'metadata.yaml').write_text(metadata)
    return path


def model_of(*bags, window=(None, None), old=False):
    """Return something with the provenance of a model of bags; `old`: without `data_sha256`."""
    return SimpleNamespace(provenance={
        'bags': [
            {'path': str(bag), 'sha256': file_sha256(bag),
             **({} if old else {'data_sha256': list(data_hashes(bag))})}
            for bag in bags
        ],
        'options': dict(zip(('start', 'stop'), window, strict=True)),
    })


@pytest.fixture
def bag(tmp_path):
    return folder_of(tmp_path / 'bag', 'first', 'second')


def test_names_and_metadata_make_no_difference(bag, tmp_path):
    """A copy, a bag with other names inside, one indexed anew, and the only file of a folder."""
    model = model_of(bag)
    copy = shutil.copytree(bag, tmp_path / 'copy')
    renamed = folder_of(tmp_path / 'renamed', 'first', 'second', metadata='made by reindex')
    for same in (bag, copy, renamed):
        assert f'has the content of {bag},' in find_training_data(model, same)
    assert find_training_data(model, folder_of(tmp_path / 'other', 'third', 'fourth')) == ''
    single = folder_of(tmp_path / 'single', 'alone')
    assert find_training_data(model_of(single), single / 'single_0.mcap')
    assert find_training_data(model_of(single / 'single_0.mcap'), single)


def test_part_of_a_split_bag_is_training_data_whatever_the_window(bag):
    """Its times count from another joint state, so windows do not compare."""
    model = model_of(bag, window=(0.0, 1.0))
    assert 'some files of' in find_training_data(model, bag / 'bag_1.mcap', 2.0, 3.0)


ENDS = (None, 0.0, 4.0, 9.0)


def test_windows_that_share_an_instant_are_training_data(bag):
    """By counting instants between the ends; a window without an instant shares none."""
    instants = np.arange(-0.5, 20.0)

    def inside(window):
        start, stop = window
        return (instants > (-np.inf if start is None else start)) & (
            instants < (np.inf if stop is None else stop)
        )

    for trained, scored in product(product(ENDS, ENDS), repeat=2):
        found = find_training_data(model_of(bag, window=trained), bag, *scored)
        shared = np.any(inside(trained) & inside(scored))
        assert bool(found) == shared, (trained, scored, found)


def test_training_data_are_called_so(identification, scene, tmp_path):
    """A renamed copy of the training bag, by text, file and verdict, which cannot be good."""
    model = identification.model
    copy = shutil.copytree(scene('ur5').bags[0], tmp_path / 'yesterday')
    validation, _, _ = validate_bags(model, [copy])
    verdict = validation.verdict
    assert verdict.level not in (GOOD, BAD)
    assert verdict.reasons[0].startswith(f'{copy} is training data: it has the content of')
    assert any(reason.endswith('on training data') for reason in verdict.reasons)
    assert not any('unseen' in reason for reason in verdict.reasons)
    assert 'different motion' in verdict.next_step
    bag, = json.loads(validation_json(validation))['bags']
    assert bag['training_data'] is True
    text = validation_text(model, validation)
    assert 'training data' in text and 'unseen' not in text
