# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Shape constants by separable least squares: known ones are found.

The truth is written out here, formula by formula, and shares no code with the laws.
"""

from functools import lru_cache

import numpy as np
import pytest
from robot_identification.model import FRICTION_LAWS, JointMotion, parse_friction
from robot_identification.studies.friction_map.curves import fit_shapes, search_range
from scipy.optimize import least_squares

PERIOD = 0.01
NOISE = 0.2


@lru_cache
def scene(seed=3, samples=2500):
    """Return a lively motion of one joint."""
    rng = np.random.default_rng(seed)
    t = PERIOD * np.arange(samples)
    size, phase = 0.5 * rng.normal(size=5), rng.uniform(0.0, 2.0 * np.pi, 5)
    w = np.array([0.5, 0.9, 1.4, 2.1, 3.0])
    angle = np.outer(t, w) + phase
    q, dq = np.sin(angle) @ size, np.cos(angle) @ (size * w)
    load = 20.0 * np.cos(0.7 * q + 0.3 * t)
    return JointMotion(q, dq, load, 25.0 + 15.0 * t / t[-1])


def stribeck(motion, fk, fs, fv, f0, velocity, exponent, width):
    share = np.exp(-np.abs(motion.dq / velocity) ** exponent)
    return (fk + (fs - fk) * share) * np.tanh(motion.dq / width) + fv * motion.dq + f0


def power(motion, fc, fpw, f0, width, exponent):
    flow = np.sign(motion.dq) * np.abs(motion.dq) ** exponent
    return fc * np.tanh(motion.dq / width) + fpw * flow + f0


def with_load(motion, fc, fv, fcl, width, of_load):
    dry = fc * np.tanh(motion.dq / width) + fcl * np.abs(motion.tau_rigid) * np.tanh(
        motion.dq / of_load
    )
    return dry + fv * motion.dq


def strain_wave(motion, fcw, fclw, fsw, fslw, fsT, fvw, fvT, velocity, exponent, width, viscous):
    share = np.exp(-np.abs(motion.dq / velocity) ** exponent)
    load, warmth = np.abs(motion.tau_rigid), motion.temperature - 25.0
    dry = fcw + fclw * load + (fsw + fslw * load + fsT * warmth) * share
    flow = np.sign(motion.dq) * np.abs(motion.dq) ** viscous
    return dry * np.tanh(motion.dq / width) + (fvw + fvT * warmth) * flow


# Laws, truth, its coefficients and its constants, in the order of the laws.
TRUTHS = {
    'stribeck': ('stribeck,viscous,offset', stribeck, (3.0, 6.0, 2.0, 0.3), (0.15, 1.4, 0.02)),
    'power': ('coulomb,power_viscous,offset', power, (3.0, 4.0, 0.3), (0.03, 0.6)),
    'load': ('coulomb,viscous,load', with_load, (3.0, 4.0, 0.2), (0.02, 0.06)),
    'strain_wave': (
        'strain_wave', strain_wave, (3.0, 0.05, 4.0, 0.06, -0.08, 3.0, -0.04),
        (0.15, 1.4, 0.02, 0.6),
    ),
}


def measured(torque, noise=NOISE, seed=0, **options):
    """Return motion, and the torque of friction with white noise."""
    motion = scene(**options)
    tau = torque(motion)
    return motion, tau + noise * np.random.default_rng(seed).normal(size=tau.size)


def fit_all(motion, tau, laws):
    """Search all constants of the laws, from the values that they have by default."""
    return fit_shapes(motion, tau, laws, {(law.name, name) for law in laws for name in law.shape})


def torque_of_truth(name):
    _, truth, coefficients, constants = TRUTHS[name]
    return lambda motion: truth(motion, *coefficients, *constants)


@pytest.mark.parametrize('name', TRUTHS)
def test_it_is_the_nonlinear_least_squares_of_all_unknowns(name):
    """Coefficients and constants together, by scipy with its own Jacobian."""
    # The same squares to 1e-6, and the same constants to 1 % of their errors and 1e-3. All of them
    # are told, none is at a bound, each is within four standard errors of the truth; errors below
    # a quarter of the constant say that the test can fail.
    laws, truth, coefficients, constants = TRUTHS[name]
    motion, tau = measured(torque_of_truth(name))
    fit = fit_all(motion, tau, parse_friction(laws))

    def residual(unknowns):
        return tau - truth(motion, *unknowns)

    start = np.concatenate([coefficients, constants])
    whole = least_squares(residual, start, x_scale=np.abs(start), xtol=1e-12, ftol=1e-12)
    squares = len(tau) * fit.deviation**2
    assert squares == pytest.approx(2.0 * whole.cost, rel=1e-6)
    expected = whole.x[-len(constants):]
    for found, value, true in zip(fit.constants, expected, constants, strict=True):
        assert abs(found.value - value) < 0.01 * found.standard_error + 1e-3 * value
        assert found.determined and not found.at_bound, found
        assert abs(found.value - true) < 4.0 * found.standard_error < true, found
    assert fit.deviation == pytest.approx(NOISE, rel=0.05)
    places = [(law.name, name) for law in fit.laws for name in law.shape]
    assert [(one.law, one.name) for one in fit.constants] == places


@pytest.mark.parametrize('name', [n for n, law in FRICTION_LAWS.items() if law.shape])
def test_every_law_can_be_searched(name):
    """Both ends of every range are constants that the law accepts; a fit of it ends in them."""
    law = FRICTION_LAWS[name]()
    for field in law.shape:
        low, high = search_range(law, field, fastest=2.0)
        assert low < high
        for value in (low, high):
            assert getattr(type(law)(**{field: value}), field) == value
    fit = fit_all(*measured(lambda motion: 2.0 * np.tanh(motion.dq / 0.05)), (law,))
    assert len(fit.coefficients) == len(law.symbols)
    assert np.all(np.isfinite(fit.coefficients))
