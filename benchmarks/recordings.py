# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A minute of a simulated UR5e at 500 Hz, which several benchmarks write as bags."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from robot_identification.excitation import FourierParametrization
from robot_identification.model import load_robot, Motion
from robot_identification.recording.bag_writer import write_joint_states
from robot_identification.simulation import draw_truth
from robot_identification.simulation.mujoco_robot import inverse_dynamics

RATE = 500.0
MINUTE = 60.0
GAINS = (13.0, 13.0, 13.0, 10.0, 10.0, 10.0)
OPTIONS = ('--robot', 'ur5e', '--drive-gains', *(f'{gain:g}' for gain in GAINS))


def simulate_minute() -> tuple[np.ndarray, ...]:
    """Return positions, velocities and currents of a minute of motion, shape (N, n)."""
    robot = load_robot('ur5e').with_drive_gains(list(GAINS))
    truth = draw_truth(robot, seed=1)
    form = FourierParametrization(harmonics=8, base_period=MINUTE / 4.0)
    coefficients = np.random.default_rng(0).normal(size=(robot.n, form.n_coefficients))
    bases = form.basis(np.arange(round(MINUTE * RATE)) / RATE)
    # Within a turn to either side of the middle.
    coefficients *= 2.5 / np.abs(bases[0] @ coefficients.T).max(axis=0)[:, None]
    q, dq, ddq = (basis @ coefficients.T for basis in bases)
    current = inverse_dynamics(robot, truth, Motion(q, dq, ddq)) / truth.drive_gain
    return q, dq, current


def write_states(
    path: Path, states: tuple[np.ndarray, ...], rate: float, rng: np.random.Generator
) -> None:
    """Write a bag with noisy velocities and currents, so many samples a second [Hz]."""
    q, dq, current = states
    write_joint_states(
        path, load_robot('ur5e').joint_names, 1.0 + np.arange(len(q)) / rate,
        {'/joint_states': (
            q + 1e-5 * rng.standard_normal(q.shape),
            dq + 1e-3 * rng.standard_normal(q.shape),
            current + 0.02 * current.std(axis=0) * rng.standard_normal(q.shape),
        )},
        {'robot': 'ur5e', 'effort_unit': 'A'},
    )
