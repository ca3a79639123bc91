# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The Fourier series is the one of the literature, with its ends at rest."""

import numpy as np
import pytest
from robot_identification.errors import DescriptionError
from robot_identification.excitation.parametrizations.fourier import FourierParametrization

# Half of a base period and others: shorter, longer, a little off the whole.
CUTS = [0.4, 0.5, 0.7, 0.9, 1.1, 1.5, 2.5]


@pytest.mark.parametrize('share', CUTS)
@pytest.mark.parametrize('harmonics', [4, 5, 8])
def test_a_cut_series_keeps_the_five_conditions(share, harmonics, rng):
    """D_f v = 0, written out by hand (Tika et al. 2020 use half the base period)."""
    form = FourierParametrization(harmonics, 20.0, 20.0 * share)
    coefficients = rng.normal(size=(3, form.n_coefficients))
    a, b = form.series(coefficients)
    order, angle = np.arange(1, harmonics + 1), 2.0 * np.pi * share
    sine, cosine = np.sin(order * angle), np.cos(order * angle)
    terms = (
        order * a,
        order**2 * b,
        np.hstack([a * sine, b * (1.0 - cosine)]),
        np.hstack([order * a * cosine, order * b * sine]),
        np.hstack([-(order**2) * a * sine, order**2 * b * cosine]),
    )
    size = np.sum(order**2 * (np.abs(a) + np.abs(b)), axis=1)
    for term in terms:
        # To 1e-12 of the sum of the terms' magnitudes: sines of multiples of pi are wrong by
        # 1e-15.
        assert np.all(np.abs(term.sum(axis=1)) < 1e-12 * size)
    np.testing.assert_array_equal(np.hstack([a[:, 2:], b[:, 3:]]), coefficients[:, 1:])


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'harmonics': 3, 'duration': 5.0}, r'harmonics is 3, at least 4 .* base_period'),
        ({'duration': 20.0}, r'duration is 20.0 s with base_period 10.0 s: .* a_1, a_2, b_1'),
        ({'duration': 10.000001}, r'duration is 10.000001 s with base_period'),
        ({'duration': 20.0 / 3.0}, r'base_period 10.0 s: rest at both ends does not determine'),
        ({'duration': 0.1}, r'duration is 0.1 s with base_period'),
        ({'harmonics': 20, 'duration': 5.0}, r'harmonics is 20, too many for a duration of 5.0'),
        ({'duration': 0.0}, r'duration is 0.0 s, it must be above 0'),
        ({'duration': float('nan')}, r'duration is nan'),
    ],
)
def test_a_duration_that_determines_no_motion_is_refused_by_name(options, message):
    """Whole multiples, thirds (where b_3 ends as it began) and what is close to them."""
    # On half a period twenty sines and twenty cosines are no forty different motions.
    with pytest.raises(DescriptionError, match=message):
        FourierParametrization(**options)
