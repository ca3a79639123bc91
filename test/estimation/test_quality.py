# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Notes on what an identified model cannot be right about."""

from dataclasses import replace

from known_models import true_model
import numpy as np
import pytest
from robot_identification.estimation.quality import rotor_notes
from robot_identification.simulation import draw_truth


@pytest.mark.parametrize(('value', 'error', 'told'), [
    (0.4, 0.01, False), (-0.4, 0.1, True), (-0.4, 0.2, False),
])
def test_a_reflected_inertia_that_no_rotor_has_is_named(ur5, value, error, told):
    """With its joint, value and error, where it is negative by more than three errors."""
    model = true_model(ur5, draw_truth(ur5, 3))
    theta, variance = model.theta_base.copy(), np.full(model.theta_base.size, 1e-6)
    at = model.reduction.names.index('Ia4')
    theta[at], variance[at] = value, error**2
    notes = rotor_notes(replace(model, theta_base=theta, covariance=np.diag(variance)))
    assert [f'wrist_1_joint {value:g} +- {error:g} kg m^2' in note for note in notes] == (
        [True] if told else []
    )
