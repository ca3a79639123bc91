# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Joints warm up exactly as one heat capacity and one resistance each do."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from robot_identification.simulation import draw_truth, MujocoRobot, NOISE_FREE, with_warming
from robot_identification.simulation.joint_effects import (
    AMBIENT, ThermalModel,
)
from robot_identification.simulation.mujoco_robot import PHYSICS_STEP

HEATS = st.floats(0.0, 50.0)
TIMES = st.floats(1e-3, 1e4)


def one_joint(**changes):
    """Return a joint with a time constant of 1200 s."""
    return replace(ThermalModel(np.array([400.0]), np.array([3.0])), **changes)


@given(start=st.floats(0.0, 80.0), heat=HEATS, time=TIMES)
def test_step_is_the_exact_solution(start, heat, time):
    """T = T_end + (T_0 - T_end) exp(-t / R C), to rounding of 100 deg C."""
    found = one_joint().step(np.full(1, start), np.full(1, heat), time)
    end = AMBIENT + 3.0 * heat
    assert found[0] == pytest.approx(end + (start - end) * np.exp(-time / 1200.0), abs=1e-11)


def test_a_robot_is_heated_by_its_friction(ur5):
    """Step by step, with friction written out; temperatures round at 1e-14."""
    truth = with_warming(draw_truth(ur5, 3), acceleration=1000.0)
    q, dq = np.array([0.1, -1.2, 0.9, -0.4, 0.3, 0.2]), np.full(6, 0.8)
    simulator = MujocoRobot(ur5, truth, NOISE_FREE, q)
    for step in range(400):
        before = simulator.true_sample()
        simulator.advance(q + step * PHYSICS_STEP * dq, dq, np.zeros(6), PHYSICS_STEP)
        after = simulator.true_sample()
        warming = before.temperature - truth.reference_temperature
        friction = truth.coulomb * np.tanh(before.dq / truth.velocity_width)
        friction += truth.viscous * (1.0 + truth.viscous_slope * warming) * before.dq
        heat = friction * before.dq
        np.testing.assert_allclose(
            after.temperature, truth.thermal.step(before.temperature, heat, PHYSICS_STEP),
            rtol=1e-13,
        )
    assert np.all(after.temperature > 24.5)
