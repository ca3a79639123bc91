# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The break-away tests of J. Rajagopal's report on joints that stick, and its controller.

The simulated joints break away at the report's medians, with a scatter from test to test, so that
its method can be judged by what was set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from reproductions import rajagopal_2017_data as printed
from robot_identification.arrays import FloatArray
from robot_identification.simulation.effort_joint import EffortJoint, EffortJointConstants
from robot_identification.studies.break_away.estimate import (
    BoxStatistics, BreakAway, BreakAwayRun, estimate_break_away,
)
from robot_identification.studies.break_away.options import BreakAwaySettings
from robot_identification.studies.break_away.procedure import BoundedPI, BreakAwayTest

# Ours: the report prints none of these. A joint's break-away torque differs by this share from
# test to test; kinetic friction is this share of it.
SCATTER, KINETIC = 0.05, 0.8
# Of joints 1 to 5, link and rotor, and of a wheel [kg m^2]; viscous friction [N m s/rad].
INERTIAS = (0.40, 0.40, 0.16, 0.08, 0.07)
WHEEL_INERTIA = 0.009
VISCOUS_SHARE = 0.1
VELOCITY_NOISE = 0.005
PERIOD = 0.01
# The test ends by itself long before [s].
LONGEST = 4000.0
# Of the step response [rad], [rad/s], [s]; the report's figures have no numbers.
STEP, SPEED_LIMIT, CYCLE, RESPONSE = 1.0, 0.2, 0.01, 60.0
SUMMED, BOUNDED = 'PI, errors summed (eq. 4.1 and 4.3)', 'PI, summed with the cycle, bounded'


@dataclass(frozen=True)
class TestedJoint:
    """
    A joint, what it was, and what both methods say of it.

    Attributes
    ----------
    name : str
        Of the joint.
    medians : dict of int to float
        Of the break-away torques that it really had, by direction [N m].
    published : BoxStatistics
        Torques at the threshold in one direction, as in the report [N m].
    corrected : BreakAway
        Torques at the onset of motion, in both directions.

    """

    name: str
    medians: dict[int, float]
    published: BoxStatistics
    corrected: BreakAway

    @property
    def excess(self) -> float:
        """By how much the published median is off that of the joint, as a share."""
        return self.published.median / self.medians[1] - 1.0

    @property
    def remaining(self) -> float:
        """By how much the corrected torque is off, mean of both directions, as a share."""
        return self.corrected.torque / float(np.mean(list(self.medians.values()))) - 1.0


def tested_constants() -> dict[str, EffortJointConstants]:
    """Return the joints and wheels of the report by name."""
    torques = {f'joint {k + 1}': float(value) for k, value in enumerate(printed.MEDIANS)}
    inertias = {f'joint {k + 1}': value for k, value in enumerate(INERTIAS)}
    return {
        name: EffortJointConstants(
            inertia=inertias.get(name, WHEEL_INERTIA), static=static, coulomb=KINETIC * static,
            viscous=VISCOUS_SHARE * static,
        )
        for name, static in (torques | printed.WHEELS).items()
    }


def run_test(name: str, constants: EffortJointConstants, seed: int) -> TestedJoint:
    """Test a joint 25 times in each direction, without gravity, and evaluate it twice."""
    cap = 1.5 * constants.static
    settings = BreakAwaySettings(
        torque_cap=cap, torque_limit=3.0 * cap, inertia=constants.inertia,
        threshold=printed.THRESHOLD, repeats=printed.EXPERIMENTS,
        position_gain=printed.PROPORTIONAL, integral_gain=printed.INTEGRAL,
    )
    rng = np.random.default_rng(seed)
    factors = 1.0 + SCATTER * rng.standard_normal(2 * printed.EXPERIMENTS)
    # Where teeth and seals meet differs from one test to the next.
    states = [
        replace(constants, static=constants.static * factor, coulomb=constants.coulomb * factor)
        for factor in factors.tolist()
    ]
    joint = EffortJoint(states[0], velocity_noise=VELOCITY_NOISE, seed=seed)
    test = BreakAwayTest(settings, 0.0)
    for t in np.arange(0.0, LONGEST, PERIOD):
        if test.has_ended:
            break
        joint.constants = states[min(len(test.repeats), len(states) - 1)]
        q, dq = joint.measure()
        joint.advance(test.step(float(t), q, dq), PERIOD)
    run = BreakAwayRun(name, 'free', settings, test.repeats)
    corrected = estimate_break_away(run)
    truth = constants.static * factors
    return TestedJoint(
        name, {1: float(np.median(truth[0::2])), -1: float(np.median(truth[1::2]))},
        estimate_break_away(run, correction='none').boxes[1], corrected,
    )


@dataclass(frozen=True)
class StepResponse:
    """
    Response of a joint to a step of its set-point.

    Attributes
    ----------
    t, q : ndarray, shape (N,)
        Time [s] and position [rad].

    """

    t: FloatArray
    q: FloatArray

    @property
    def overshoot(self) -> float:
        """Furthest beyond the set-point, as a share of the step."""
        return float(max(self.q.max() - STEP, 0.0) / STEP)


def step_responses() -> dict[str, StepResponse]:
    """Return the responses of eq. 4.1 to 4.3 and of what this package does instead."""
    bounded = BoundedPI(printed.PROPORTIONAL, printed.INTEGRAL, SPEED_LIMIT)
    rules: dict[str, Callable[[float], float]] = {
        'P alone': _Summed(printed.PROPORTIONAL, 0.0),
        SUMMED: _Summed(printed.PROPORTIONAL, printed.INTEGRAL),
        BOUNDED: partial(bounded.step, dt=CYCLE),
    }
    t = np.arange(0.0, RESPONSE, CYCLE)
    responses = {}
    for name, rule in rules.items():
        q = np.zeros(len(t))
        for k in range(1, len(t)):
            speed = float(np.clip(rule(STEP - q[k - 1]), -SPEED_LIMIT, SPEED_LIMIT))
            q[k] = q[k - 1] + CYCLE * speed
        responses[name] = StepResponse(t, q)
    return responses


class _Summed:
    """Equation 4.1 with the sum of eq. 4.3 as printed: without the time of a cycle."""

    def __init__(self, gain: float, integral_gain: float) -> None:
        self._gain, self._integral_gain, self._sum = gain, integral_gain, 0.0

    def __call__(self, error: float) -> float:
        self._sum += error
        return self._gain * error + self._integral_gain * self._sum


def run_all() -> Iterator[TestedJoint]:
    """Test all joints and wheels, one after the other."""
    for seed, (name, constants) in enumerate(tested_constants().items()):
        yield run_test(name, constants, seed)
