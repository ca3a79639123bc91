# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Corrections are in predictions and errors, and nowhere else.

Bodies, payloads, drive gains, comparisons, temperatures, live monitoring (contact and friction
health stand on its residuals), feed-forward and exports of a model with corrections are those of
the same model without.
"""

from dataclasses import replace
from pathlib import Path
import re

import numpy as np
import pytest
from robot_identification.export.formats import EXPORTERS, ExportOptions
from robot_identification.export.urdf import export_urdf
from robot_identification.model.corrections.correction import Corrections
from robot_identification.model.model_file import dump_model
from robot_identification.monitoring.online_residuals import LiveResiduals
from robot_identification.prediction.feed_forward import FeedForward, FeedForwardOptions
from robot_identification.studies.comparison.comparison import compare_models
from robot_identification.studies.drive_gains.study import torque_source
from robot_identification.studies.payload.estimate import estimate_payload, loaded_run
from robot_identification.studies.temperature.trend import study_temperature

ROOT = Path(__file__).resolve().parents[1] / 'robot_identification'
# Where corrections are made, kept, computed and shown.
PLACES = {
    'model/corrections', 'model/identified_model.py', 'model/model_file.py', 'model/__init__.pyi',
    'estimation', 'validation/validation.py', 'validation/__init__.pyi',
    'prediction/comparison.py', 'prediction/sample_corrections.py',
    'prediction/torque_predictor.py',
    'nodes/live_prediction.py', 'report/corrections_section.py', 'report/explanation.py',
    'report/truth.py', 'cli/demo.py', 'cli/validate.py',
}
USES = re.compile(
    r'predict_effort|corrections\.(offline|live)|correction_blocks|\.correction\b(?!\()'
)


@pytest.fixture(scope='module')
def pair(identification):
    """Return a model with corrections on every joint and the same without."""
    model = identification.model
    one, *_ = model.corrections.offline
    everywhere = tuple(replace(one, joint=joint) for joint in range(model.robot.n))
    corrections = Corrections(model.corrections.rate, everywhere, everywhere)
    return replace(model, corrections=corrections), replace(model, corrections=Corrections())


def test_nothing_else_asks_for_them():
    """A new use of corrected predictions has to be decided on, here."""
    found = {
        str(path.relative_to(ROOT)) for path in ROOT.rglob('*.py*')
        if path.suffix in ('.py', '.pyi') and USES.search(path.read_text())
    }
    # Their own corrections are of other things: a friction test's readings.
    found -= {'nodes/friction_tester.py', 'studies/break_away/estimate.py',
              'studies/break_away/report.py'}
    assert {one for one in found if not any(one.startswith(place) for place in PLACES)} == set()


@pytest.mark.parametrize('kind', EXPORTERS)
def test_exports(pair, kind):
    write = EXPORTERS[kind][1]
    with_them, without = (write(model, ExportOptions()) for model in pair)
    assert with_them == without


def test_urdf(pair):
    with_them, without = (export_urdf(model) for model in pair)
    assert with_them == without


def test_payload(pair, identification):
    """Of nothing, on the training recording: whatever it is, it is the same."""
    dataset = identification.datasets[0]
    found, expected = (
        estimate_payload(model, [loaded_run(model, dataset)]) for model in pair
    )
    np.testing.assert_array_equal(found.parameters, expected.parameters)
    np.testing.assert_array_equal(found.after, expected.after)


def test_comparison(pair):
    """No difference at all between a model with and without them."""
    groups = compare_models(*pair).groups
    assert groups and not any(
        group.moved or np.nan_to_num(group.change) for group in groups
    )


def test_temperature(pair):
    """Lines through the same models, warm and cold, are the same lines."""
    studies = [
        study_temperature([
            replace(model, temperature=np.full(6, 25.0)),
            replace(model, temperature=np.full(6, 35.0)),
        ])
        for model in pair
    ]
    assert repr(studies[0].joints) == repr(studies[1].joints)


def test_drive_gains(pair, tmp_path):
    """Gravity that gains are found from is that of the bodies."""
    q = np.random.default_rng(0).uniform(-1.0, 1.0, (20, pair[0].robot.n))
    torques = []
    for number, model in enumerate(pair):
        file = tmp_path / f'{number}.yaml'
        file.write_text(dump_model(model))
        torques.append(torque_source(model.robot, str(file))[0](q))
    assert np.ptp(torques[0], axis=0).max() > 1.0
    np.testing.assert_array_equal(*torques)


def test_feed_forward_and_online_residuals(pair, identification):
    dataset = identification.datasets[0]
    forwards = [FeedForward(model, FeedForwardOptions()) for model in pair]
    residuals = [LiveResiduals(model) for model in pair]
    rows = slice(0, 400)
    motion, effort = dataset.motion.part(rows), dataset.effort[rows]
    samples = 0
    for stamp, q, dq, measured in zip(
        dataset.stamps[rows], motion.q, motion.dq, effort, strict=True
    ):
        torque = measured / pair[0].effort_per_torque
        one, other = (forward.step(stamp, q, dq, dq, torque) for forward in forwards)
        np.testing.assert_array_equal(one, other)
        found, expected = (live.step(stamp, q, dq, torque) for live in residuals)
        assert (found is None) == (expected is None)
        if found is not None:
            samples += 1
            np.testing.assert_array_equal(found.residual, expected.residual)
    assert samples > 10
