# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Drift of simulations from a recording that MuJoCo made."""

from dataclasses import replace

from known_models import true_model
import numpy as np
import pytest
from recordings import execute, write_small_arm
from robot_identification.model import IdentifiedModel, load_robot, Motion
from robot_identification.processing import Dataset
from robot_identification.simulation import draw_truth, true_inertial_parameters
from robot_identification.studies.rollout import run_rollout
from robot_identification.studies.rollout.drift import plan_rollouts, RolloutPlan, Simulated
from robot_identification.studies.rollout.report import find_strays, quantile, with_rollouts
from robot_identification.studies.rollout.study import (
    CLOSED, MJCF, MODEL, OPEN, Rollout, RolloutOptions, URDF, VELOCITY,
)
from robot_identification.validation import BAD, SIMULATION, Validation, Verdict
from robot_identification.validation.verdict import GOOD

# Of which half a second is left out: 1.9 s, in which rollouts of half a second fit.
SECONDS = 2.4
FEW = RolloutOptions(starts=4)
# Number of the horizon that is looked at.
HALF = 1


@pytest.fixture(scope='module')
def arm(tmp_path_factory):
    """Return a small arm with its truth."""
    pytest.importorskip('mujoco')
    robot = load_robot(str(write_small_arm(tmp_path_factory.mktemp('arm'))))
    # As wide a passage through rest as the law's.
    return robot, replace(draw_truth(robot, 3), velocity_width=0.01)


@pytest.fixture(scope='module')
def recorded(arm):
    """Return a recording of what MuJoCo did, without noise, 2 ms apart."""
    robot, truth = arm
    times, (q, dq, current) = execute(robot, truth, 1, SECONDS)
    # The current of a sample is that of the millisecond before it.
    current = 0.5 * (current[:-1] + current[1:])
    q, dq, times = q[:-1:2], dq[:-1:2], times[:-1:2] - times[0]
    everything = np.ones(len(times), dtype=bool)
    return Dataset(
        'made up', robot.joint_names, times, Motion(q, dq, np.zeros_like(q)),
        (current * truth.drive_gain)[::2], 'Nm', everything, everything, (slice(0, len(times)),),
        {}, 500.0, (),
    )


@pytest.fixture(scope='module')
def model(arm) -> IdentifiedModel:
    """Return the model of the truth, whose parameters are those of bodies."""
    robot, truth = arm
    found = true_model(robot, truth)
    names = found.parameters.names
    theta = np.zeros(len(names))
    theta[: 10 * robot.n] = true_inertial_parameters(robot, truth)
    for symbol, values in (
        ('fc', truth.coulomb), ('fv', truth.viscous), ('Ia', truth.reflected_inertia),
    ):
        for number, value in enumerate(values, start=1):
            theta[names.index(f'{symbol}{number}')] = value
    return replace(
        found, theta_consistent=theta, quality={'speeds': np.full(3, 1.6), 'loads': np.ones(3)}
    )


@pytest.fixture(scope='module')
def rollout(model, recorded):
    result, = run_rollout(model, [recorded], FEW)
    return result


def drift(rollout, name, loop):
    """Return the median size of the drift [mrad], shape (H, n)."""
    one = rollout.find(name, loop)
    return quantile(1e3 * np.abs(one.drift), 0.5)[rollout.plan.stated]


def test_the_true_model_drifts_by_the_error_of_the_steps(rollout):
    """
    The truth stays within 2 mrad after half a second, where the URDF is a radian away.

    Halving our step changes 0.16 mrad; the rest is MuJoCo's own step of the same kind, and the
    effort between two samples.
    """
    assert np.all(drift(rollout, MODEL, OPEN)[HALF] < 2.0)
    assert np.all(1e3 * rollout.halving < 1.0)
    assert np.all(drift(rollout, MODEL, CLOSED) < 1.0)


def test_the_exported_mjcf_is_what_mujoco_makes_of_it(rollout):
    """Plain friction is what the truth has, so that only MuJoCo's soft dry friction differs."""
    assert np.all(drift(rollout, MJCF, OPEN)[HALF] < 0.3 * drift(rollout, URDF, OPEN)[HALF])
    assert rollout.not_checked == ()


def test_rollouts_begin_where_the_recording_goes_on(recorded):
    """No gap and no sample that is not scored lies in them; horizons that fit no part go."""
    N = len(recorded)
    scored = recorded.scored.copy()
    scored[N // 2 + 20] = False
    gap = N // 3
    cut = replace(recorded, scored=scored, segments=(slice(0, gap), slice(gap, N)))
    plan = plan_rollouts(cut, 50)
    length = round(0.5 * 500.0)
    assert plan.horizons == (0.1, 0.5)
    for row in plan.rows:
        rows = slice(row, row + length + 1)
        assert rows.stop <= N and scored[rows].all() and not row < gap <= row + length
    short = replace(recorded, segments=(slice(0, 100),))
    assert plan_rollouts(short, 5).horizons == (0.1,)
    assert plan_rollouts(replace(recorded, segments=(slice(0, 20),)), 5).horizons == ()
    # As long as the horizon, and not longer: one start.
    exact = replace(recorded, segments=(slice(0, length + 1),))
    np.testing.assert_array_equal(plan_rollouts(exact, 5).rows, [0])


def test_a_simulation_that_a_constant_velocity_beats_is_not_usable():
    """Of the joint that strays alone, and where it strays far enough to matter."""
    plan = RolloutPlan('bag', ('a', 'b', 'c'), np.arange(4), np.arange(4.0), (0.1, 0.5))
    times = len(plan.times)

    def simulated(name, drifts):
        drift = np.broadcast_to(drifts, (times, 4, 3))
        return Simulated(name, OPEN, drift, drift, np.zeros((times, 4)))

    rollout = Rollout(
        plan, np.zeros(3, dtype=bool), 'tool', np.zeros((times, 4, 3)),
        (simulated(MJCF, [0.5, 0.04, 0.1]), simulated(VELOCITY, [0.1, 0.001, 0.2])),
        0.001, np.zeros(2), np.ones(3), np.ones(3), 2.0,
    )
    strays = find_strays(rollout)
    assert len(strays) == 1
    assert 'at a after 0.5 s' in strays[0]
    validation = with_rollouts(Validation((), Verdict(GOOD, (), 'use it')), [rollout])
    assert validation.verdict.level == GOOD
    assert validation.verdict.uses[SIMULATION] == BAD
    near = replace(rollout, simulated=(simulated(MJCF, 0.04), simulated(VELOCITY, 0.0)))
    assert find_strays(near) == []
