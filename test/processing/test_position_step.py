# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Steps in which positions are read: of encoders, and of logs with few digits."""

from hypothesis import given, strategies as st
import numpy as np
from robot_identification.processing.dataset import find_position_steps, FINEST_STEP


def swings(rng, noise=0.0):
    t = 0.01 * np.arange(3000)[:, None]
    q = rng.uniform(-1.0, 1.0, 3) + 0.5 * np.sin(rng.uniform(0.5, 2.0, 3) * t)
    return q + noise * rng.normal(size=q.shape)


@given(step=st.floats(-4.5, -2.3), noise=st.floats(-6.0, -4.0), seed=st.integers(0, 2**32 - 1))
def test_a_step_is_found_whatever_its_size(step, noise, seed):
    """Each joint has its own, and none where positions are noise to the last digit."""
    rng, step = np.random.default_rng(seed), 10.0**step
    q = swings(rng, 10.0**noise)
    q[:, 1] = step * np.round(q[:, 1] / step)
    q[:, 2] = 0.3 * step * np.round(q[:, 2] / (0.3 * step))
    other = 0.3 * step if 0.3 * step > FINEST_STEP else 0.0
    np.testing.assert_allclose(find_position_steps(q), [0.0, step, other], rtol=1e-6)


@given(noise=st.floats(-9.0, -3.0), seed=st.integers(0, 2**32 - 1))
def test_noise_has_no_step(noise, seed):
    rng = np.random.default_rng(seed)
    np.testing.assert_array_equal(find_position_steps(swings(rng, 10.0**noise)), 0.0)
