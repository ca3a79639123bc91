# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Functions of all joints at once, against each curve and stop operator alone."""

import numpy as np
import pytest
from robot_identification.model import CURVES, run_stops, STOP
from robot_identification.model.friction.basis import (
    evaluation_order, JointFunction, SampleBasis,
)

CONSTANTS = {'one': (), 'velocity': (0.7,), 'power': (1.5,)}
WIDTH = 0.01


def functions_of(kinds, exponents=(2.0,)):
    """Return functions of three joints, static friction with each of the exponents."""
    found = []
    for kind in kinds:
        if kind in ('static_sign', 'kinetic_sign'):
            constants = [(WIDTH, 0.1, exponent) for exponent in exponents]
        else:
            constants = [CONSTANTS.get(kind, (WIDTH,))]
        found += [JointFunction(kind, one, joint) for one in constants for joint in (2, 0)]
    return sorted(found, key=evaluation_order)


@pytest.mark.parametrize('kinds', [
    tuple(CURVES), ('smooth_sign', 'static_sign'), *((kind,) for kind in CURVES), (),
])
@pytest.mark.parametrize('exponents', [(2.0,), (2.0, 0.7)])
def test_every_curve(kinds, exponents, rng):
    functions = functions_of(kinds, exponents)
    basis = SampleBasis(3, functions)
    for m in (1, 2, 5):
        dq = rng.normal(size=(m, 3))
        expected = np.array([
            CURVES[one.kind](dq[:, one.joint], *one.constants) for one in functions
        ]).reshape(-1, m)
        # A factor is multiplied here that is divided by there.
        np.testing.assert_allclose(
            basis.at(dq, np.zeros((m, 0))), expected, rtol=1e-13, atol=1e-15
        )


def test_stops_beside_curves(rng):
    """They remember what came before, at every velocity alike, until they are restarted."""
    functions = sorted([
        *functions_of(('one', 'velocity', 'smooth_sign')),
        *(JointFunction(STOP, (radius, 0.0), joint) for radius in (0.1, 0.4) for joint in (0, 2)),
    ], key=evaluation_order)
    q = np.cumsum(0.1 * rng.normal(size=(200, 3)), axis=0)
    basis = SampleBasis(3, functions)
    for _ in range(2):
        values = np.array([basis.step(one, np.zeros((2, 3))).copy() for one in q])
        for row, one in enumerate(functions):
            if one.kind == STOP:
                radii = np.array(one.constants[:1])
                deflections = run_stops(q[:, one.joint], radii, np.zeros(1), q[0, one.joint])
                for at in range(2):
                    np.testing.assert_allclose(
                        values[:, row, at], deflections[:, 0] / radii[0], rtol=0.0, atol=1e-13
                    )
        basis.restart()
