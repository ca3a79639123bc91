# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Low-pass filters are those of scipy.signal, to the bit, with its loop or without."""

import subprocess
import sys

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from robot_identification.processing import butterworth
from robot_identification.processing.butterworth import (
    filter_both_ways, filter_forward, low_pass_sections, settled_state, slowest_pole,
)
from scipy import signal

# Orders of a recipe, cut-off over half the rate, and rate [Hz].
DESIGNS = {
    'order': st.integers(1, 10), 'share': st.floats(1e-3, 0.8), 'rate': st.floats(1.0, 1e4),
}


@given(**DESIGNS)
@settings(max_examples=200)
def test_designs_are_those_of_scipy(order, share, rate):
    """Odd orders have a section of first order; none differs by a rounding."""
    cutoff = share * rate / 2.0
    sections = low_pass_sections(order, cutoff, rate)
    np.testing.assert_array_equal(
        sections, signal.butter(order, cutoff, fs=rate, output='sos')
    )
    np.testing.assert_array_equal(settled_state(sections), signal.sosfilt_zi(sections))
    _, poles, _ = signal.butter(order, cutoff, fs=rate, output='zpk')
    assert slowest_pole(order, cutoff, rate) == np.abs(poles).max()


@pytest.mark.parametrize('loop', ['compiled', 'of scipy.signal'])
@pytest.mark.parametrize('order', [1, 2, 4, 5])
def test_filtered_signals_are_those_of_scipy(monkeypatch, order, loop):
    if loop != 'compiled':
        monkeypatch.setattr(butterworth, '_loop', lambda: butterworth._by_scipy)
    x = np.random.default_rng(order).standard_normal((300, 3))
    kept = x.copy()
    sections = low_pass_sections(order, 9.0, 125.0)
    start = settled_state(sections)[:, :, None] * x[0]
    filtered, state = filter_forward(sections, x, start)
    expected, left = signal.sosfilt(sections, x, axis=0, zi=start)
    np.testing.assert_array_equal(filtered, expected)
    np.testing.assert_array_equal(state, left)
    for padding in (0, 1, 50, 299):
        np.testing.assert_array_equal(
            filter_both_ways(sections, x, padding),
            signal.sosfiltfilt(sections, x, axis=0, padtype='odd', padlen=padding),
        )
    np.testing.assert_array_equal(x, kept)


def test_the_loop_is_loaded_alone_and_does_not_disturb_scipy_signal():
    """In a fresh interpreter: first ours without the package, then the package."""
    subprocess.run([sys.executable, '-c', (
        'import sys, numpy as np\n'
        'from robot_identification.processing import butterworth\n'
        'sections = butterworth.low_pass_sections(4, 9.0, 125.0)\n'
        'x = np.arange(50.0)[:, None] ** 2\n'
        'ours = butterworth.filter_both_ways(sections, x, 20)\n'
        'assert "scipy.signal" not in sys.modules\n'
        'assert butterworth._loop() is not butterworth._by_scipy\n'
        'import scipy.signal\n'
        'theirs = scipy.signal.sosfiltfilt(sections, x, axis=0, padlen=20)\n'
        'assert np.array_equal(ours, theirs)\n'
    )], check=True)
