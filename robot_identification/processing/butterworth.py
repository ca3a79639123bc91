# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Butterworth low-pass filters: those of `scipy.signal`, to the bit, without loading it.

`scipy.signal` brings half of SciPy with it, which takes as long as reading and filtering a
recording of minutes, and every command and node would wait for it. Its compiled loop is loaded
alone; where that cannot be, `scipy.signal` takes its place.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
import scipy

# Takes sections, signals (k, N) and states (k, s, 2), and changes the last two in place.
Loop = Callable[[FloatArray, FloatArray, FloatArray], None]
# Of a first-order section and a step, whose answer is known.
_TRIAL = np.array([[1.0, 0.0, 0.0, 1.0, -0.5, 0.0]])


def low_pass_sections(order: int, cutoff: float, rate: float) -> FloatArray:
    """
    Return a digital low-pass (s, 6) as second-order sections, ``b0 b1 b2 1 a1 a2`` each.

    `cutoff` and `rate` are in Hz. Poles nearest to the unit circle are in the last section, with
    the zeros that are nearest to them.
    """
    poles, gain = _low_pass_poles(order, cutoff, rate)
    zeros = [-1.0] * order + [0.0] * (order % 2)
    left = [*poles[poles.imag > 0.0], *poles[poles.imag == 0.0], *[0j] * (order % 2)]
    left.sort(key=lambda pole: abs(1.0 - abs(pole)))
    sections = []
    while left:
        pole = left.pop(0)
        other = pole.conjugate()
        if not pole.imag:
            other = next(one for one in left if not one.imag)
            left.remove(other)
        near = []
        for _ in range(2):
            near.append(min(zeros, key=lambda zero: abs(pole - zero)))
            zeros.remove(near[-1])
        sections.append([*np.poly(near), *np.poly([pole, other]).real])
    found = np.array(sections[::-1])
    found[0, :3] *= gain
    return found


def slowest_pole(order: int, cutoff: float, rate: float) -> float:
    """Return the size of the pole whose transient lasts longest: what is left of it a sample."""
    return float(np.abs(_low_pass_poles(order, cutoff, rate)[0]).max())


def settled_state(sections: FloatArray) -> FloatArray:
    """Return the state (s, 2) in which a constant signal of 1 has no transient."""
    state, scale = np.empty((len(sections), 2)), 1.0
    for section, own in zip(sections, state, strict=True):
        b, a = section[:3], section[3:]
        own[:] = scale * np.linalg.solve(
            np.eye(2) - np.array([[-a[1], 1.0], [-a[2], 0.0]]), b[1:] - a[1:] * b[0]
        )
        scale *= b.sum() / a.sum()
    return state


def filter_forward(
    sections: FloatArray, x: FloatArray, state: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return filtered samples (N, n), and the state (s, 2, n) after them."""
    signals = np.array(x.T, dtype=float, order='C')
    states = np.array(np.moveaxis(state, 2, 0), dtype=float, order='C')
    _loop()(sections, signals, states)
    return signals.T, np.moveaxis(states, 0, 2)


def filter_both_ways(sections: FloatArray, x: FloatArray, padding: int) -> FloatArray:
    """
    Return samples (N, n) filtered forward and backward, without delay.

    Both ends are continued by so many samples, turned about the end, fewer than N.
    """
    ends = np.concatenate([
        2.0 * x[:1] - x[padding:0:-1], x, 2.0 * x[-1:] - x[-2: -padding - 2: -1]
    ]) if padding else x
    settled = settled_state(sections)[:, :, None]
    forward, _ = filter_forward(sections, ends, settled * ends[0])
    both, _ = filter_forward(sections, forward[::-1], settled * forward[-1])
    return both[::-1][padding: len(both) - padding]


def _low_pass_poles(order: int, cutoff: float, rate: float) -> tuple[Any, float]:
    """Return the poles (order,) and the gain of a digital low-pass; its zeros are all at -1."""
    # The bilinear transform for two samples a second keeps the cut-off where it is.
    warped = 4.0 * np.tan(np.pi * (cutoff / (rate / 2.0)) / 2.0)
    at = np.arange(1 - order, order, 2, dtype=float)
    poles = warped * -np.exp(1j * np.pi * at / (2 * order))
    gain = warped**order * np.real(1.0 / np.prod(4.0 - poles))
    return (4.0 + poles) / (4.0 - poles), float(gain)


@cache
def _loop() -> Loop:
    """Return the loop of `scipy.signal.sosfilt`."""
    try:
        spec = PathFinder.find_spec('_sosfilt', [str(Path(scipy.__file__).parent / 'signal')])
        assert spec is not None and spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        signals, states = np.ones((1, 2)), np.zeros((1, 1, 2))
        module._sosfilt(_TRIAL, signals, states)
        if np.array_equal(signals, [[1.0, 1.5]]):
            return module._sosfilt  # type: ignore[no-any-return]
    except (AssertionError, ImportError, AttributeError, TypeError, ValueError):
        pass
    return _by_scipy


def _by_scipy(sections: FloatArray, signals: FloatArray, states: FloatArray) -> None:
    signals[:], left = scipy.signal.sosfilt(
        sections, signals, axis=1, zi=np.moveaxis(states, 0, 1)
    )
    states[:] = np.moveaxis(left, 1, 0)
