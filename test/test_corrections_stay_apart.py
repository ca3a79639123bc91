# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Corrections are in predictions and errors, and nowhere else.

Bodies, payloads, drive gains, comparisons, temperatures, live monitoring (contact and friction
health stand on its residuals), feed-forward and exports of a model with corrections are those of
the same model without.
"""

from dataclasses import replace

import numpy as np
import pytest
from robot_identification.export.formats import EXPORTERS
from robot_identification.model.corrections import Corrections
from robot_identification.model.model_file import dump_model
from robot_identification.monitoring.live_residuals import LiveResiduals
from robot_identification.prediction.feed_forward import FeedForward, FeedForwardOptions
from robot_identification.studies.comparison.comparison import compare_models
from robot_identification.studies.drive_gains.study import torque_source
from robot_identification.studies.payload.estimate import estimate_payload, loaded_run
from robot_identification.studies.temperature.trend import study_temperature


@pytest.fixture(scope='module')
def pair(identification):
    """Return a model with corrections on every joint and the same without."""
    model = identification.model
    one, *_ = model.corrections.offline
    everywhere = tuple(replace(one, joint=joint) for joint in range(model.robot.n))
    corrections = Corrections(model.corrections.rate, everywhere, everywhere)
    return replace(model, corrections=corrections), replace(model, corrections=Corrections())


def payload(model, dataset, _):
    """Return a payload of nothing, on the training recording."""
    found = estimate_payload(model, [loaded_run(model, dataset)])
    return found.parameters, found.after


def temperature(model, *_):
    """Return lines through the same model, warm and cold."""
    return repr(study_temperature([
        replace(model, temperature=np.full(6, warmth)) for warmth in (25.0, 35.0)
    ]).joints)


def drive_gains(model, _, folder):
    """Return the gravity that gains are found from: that of the bodies."""
    file = folder / 'model.yaml'
    file.write_text(dump_model(model))
    q = np.random.default_rng(0).uniform(-1.0, 1.0, (20, model.robot.n))
    gravity = torque_source(model.robot, str(file))[0](q)
    assert np.ptp(gravity, axis=0).max() > 1.0
    return gravity


def feed_forward_and_online_residuals(model, dataset, _):
    """Return both of every sample that has them."""
    forward, live = FeedForward(model, FeedForwardOptions()), LiveResiduals(model)
    found = []
    for k in range(400):
        q, dq = dataset.motion.q[k], dataset.motion.dq[k]
        torque = dataset.effort[k] / model.effort_per_torque
        residual = live.step(dataset.stamps[k], q, dq, torque)
        found.append((
            forward.step(dataset.stamps[k], q, dq, dq, torque),
            None if residual is None else residual.residual,
        ))
    assert sum(residual is not None for _, residual in found) > 10
    return found


@pytest.mark.parametrize('compute', [
    *(lambda model, *_, write=exporter.write: write(model) for exporter in EXPORTERS.values()),
    payload, temperature, drive_gains, feed_forward_and_online_residuals,
], ids=[*EXPORTERS, 'payload', 'temperature', 'drive gains', 'live'])
def test_what_does_not_see_them(pair, identification, tmp_path, compute):
    np.testing.assert_equal(*(
        compute(model, identification.datasets[0], tmp_path) for model in pair
    ))


def test_comparison(pair):
    """No difference at all between a model with and without them."""
    groups = compare_models(*pair).groups
    assert groups and not any(
        group.moved or np.nan_to_num(group.change) for group in groups
    )
