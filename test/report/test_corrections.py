# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The section of the corrections: errors without and with them, and which groups they are."""

from dataclasses import replace

import numpy as np
import pytest
from robot_identification.report.corrections import _mean_coherence, _spectra, corrections_section
from robot_identification.report.explanation import score_fit
from robot_identification.validation.validation import predict_effort


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


def test_coherence_is_what_a_filter_could_predict(fitted):
    """A residual that is the fast velocity, filtered, has 1; one that is none of it has little."""
    one, joint = fitted[0], 2
    dataset = one.dataset
    fast = np.random.default_rng(0).normal(size=dataset.effort.shape)
    dataset = replace(dataset, measured_dq=dataset.motion.dq + fast)
    other = np.random.default_rng(1).normal(size=fast.shape)
    found = _spectra(
        [replace(one, dataset=dataset, predicted=dataset.effort - other)],
        [dataset.effort - 3.0 * fast], joint,
    )
    before, after = (np.mean(values) for values in found.coherence)
    # Rounding there; here that of independent signals, one over the number of windows.
    assert before > 0.999 and after < 0.5
    assert _mean_coherence(found, 9.5)[0] == '1.00'
