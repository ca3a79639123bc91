# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Simulated arms, recorded the way real ones are: late efforts, irregular stamps, lost messages.

MuJoCo moves the arm; what a driver and its sensors make of the motion is done here.
"""

from dataclasses import dataclass
from pathlib import Path

from builders import joint, link, robot_urdf
import numpy as np
from robot_identification.excitation.parametrizations.fourier import FourierParametrization
from robot_identification.excitation.trajectory import load_trajectory
from robot_identification.files import dump_yaml
from robot_identification.model.regressor import Motion
from robot_identification.simulation.mujoco_robot import (
    MujocoRobot, NOISE_FREE, true_inertial_parameters,
)

# Between two samples of the truth [s]; straight lines between them are off by 2e-6 rad at most.
STEP = 0.001
# The simulated arm starts at rest and the motion does not: until then the servo catches up [s].
SETTLED = 0.5
# Of a 17-bit encoder on the joint's side [rad].
QUANTUM = 2.0 * np.pi / 2**17
MOTIONS = Path(__file__).parent / 'fixtures' / 'motions'


def designed_motion(robot, seed):
    """Return a motion that was designed for a known arm: a search takes longer than most tests."""
    # Of the demo's experiment, by `design_excitation(.., seed=seed, budget=Budget(20))`; joint 2
    # of the youBot kept to 0.6 rad either way. The short one has a period of 5 s and seed 3.
    path = MOTIONS / f'{robot.name}_{seed}.yaml'
    trajectory = load_trajectory(path)
    assert trajectory.certificate['urdf_sha256'] == robot.urdf_sha256, (
        f'{path} was designed for another description: design it anew'
    )
    return trajectory


def write_small_arm(folder):
    """Write robot YAML and URDF of an arm of three joints; return the YAML's path."""
    limit = '<limit lower="-3" upper="3" velocity="3" effort="{}"/>'
    (folder / 'arm.urdf').write_text(robot_urdf(
        link('ground'),
        link('column', 8.0, (0.01, 0.02, 0.1), (0.05, 0.05, 0.03)),
        link('upper', 6.0, (0.2, 0.03, 0.01), (0.02, 0.15, 0.15)),
        link('lower', 3.0, (0.15, -0.02, 0.02), (0.006, 0.05, 0.05)),
        joint('pan', 'ground', 'column', xyz=(0, 0, 0.2), limit=limit.format(100)),
        joint('lift', 'column', 'upper', axis=(0, 1, 0), xyz=(0, 0.1, 0.2),
              limit=limit.format(100)),
        joint('reach', 'upper', 'lower', axis=(0, 1, 0), xyz=(0.4, 0, 0), rpy=(0.3, 0, 0),
              limit=limit.format(50)),
    ))
    content = {
        'schema_version': 1, 'name': 'arm', 'urdf': 'arm.urdf', 'effort_unit': 'A',
        'sampling_rate': 125.0,
        'joints': {
            name: {'gear_ratio': 100.0, 'torque_constant': constant}
            for name, constant in (('pan', 0.12), ('lift', 0.12), ('reach', 0.08))
        },
    }
    (folder / 'arm.yaml').write_text(dump_yaml(content))
    return folder / 'arm.yaml'


def fourier_motion(n, seed, times, *, period=6.0, speed=1.6):
    """Return a Fourier motion whose joints all reach the same speed [rad/s]."""
    form = FourierParametrization(harmonics=5, base_period=period)
    coefficients = np.random.default_rng(seed).normal(size=(n, form.n_coefficients))
    fastest = np.abs(form.basis(np.arange(0.0, period, 0.01))[1] @ coefficients.T).max(axis=0)
    coefficients *= (speed / fastest)[:, None]
    return Motion(*(basis @ coefficients.T for basis in form.basis(times)))


def execute(robot, truth, seed, duration, **options):
    """Return times (N,) and true position, velocity and current (N, n) of a simulated motion."""
    times = np.arange(0.0, duration, STEP)
    planned = fourier_motion(robot.n, seed, times, **options)
    simulator = MujocoRobot(robot, truth, NOISE_FREE, planned.q[0])
    rows = []
    for q, dq, ddq in zip(planned.q, planned.dq, planned.ddq, strict=True):
        sample = simulator.true_sample()
        rows.append((sample.q, sample.dq, sample.effort))
        simulator.advance(q, dq, ddq, STEP)
    settled = times >= SETTLED
    return times[settled], tuple(
        np.array(column)[settled] for column in zip(*rows, strict=True)
    )


@dataclass(frozen=True, eq=False)
class Recorded:
    """Stamps (N,) and what was measured (N, n), with the true effort of the same instants."""

    stamps: np.ndarray
    measured: tuple[np.ndarray, np.ndarray, np.ndarray]
    true_effort: np.ndarray


@dataclass(frozen=True)
class Driver:
    """What sensors and a driver make of a motion; the defaults are those of a good one."""

    rate: float = 125.0  # of its messages [Hz]
    jitter: float = 0.0  # deviation of the instants of measurement [s]; the stamps are right
    delay: float = 0.0  # by which the effort is older than the position [s]
    lost: float = 0.0  # share of messages that do not arrive
    repeated: float = 0.0  # share of those that hold the values of the one before
    quantum: float = QUANTUM  # of positions [rad]
    velocity_noise: float = 2.0e-3  # standard deviation [rad/s]
    effort_noise: float = 0.004  # standard deviation over the effort limit
    offset: float | np.ndarray = 0.0  # added to the effort

    def record(self, run, limit, seed):
        """Return what is recorded of a run whose joints have these limits (n,) of the effort."""
        times, truth = run
        rng = np.random.default_rng(seed)
        stamps = np.arange(times[0] + 0.02, times[-1] - 0.02, 1.0 / self.rate)
        stamps = stamps + self.jitter * rng.normal(size=len(stamps)).clip(-3.0, 3.0)
        q, dq, effort = (
            np.column_stack([np.interp(at, times, column) for column in values.T])
            for at, values in zip((stamps, stamps, stamps - self.delay), truth, strict=True)
        )
        noise = rng.normal(size=(2, *q.shape))
        measured = (
            np.round(q / self.quantum) * self.quantum if self.quantum else q,
            dq + self.velocity_noise * noise[0],
            effort + self.effort_noise * limit * noise[1] + self.offset,
        )
        rows = np.arange(len(stamps))
        old = np.flatnonzero(rng.random(len(rows) - 1) < self.repeated) + 1
        rows[old] -= 1
        kept = rng.random(len(rows)) >= self.lost
        return Recorded(
            stamps[kept],
            tuple(values[rows[kept]] for values in measured),
            effort[rows[kept]],
        )


def true_base_parameters(robot, truth, reduction):
    """Return the true values of base parameters with the laws of the simulator."""
    parameters = reduction.parameters
    theta = np.zeros(parameters.size)
    theta[: 10 * robot.n] = true_inertial_parameters(robot, truth)
    of_law = {
        'coulomb': truth.coulomb, 'viscous': truth.viscous, 'offset': np.zeros(robot.n),
    }
    for term, columns in parameters.friction_columns:
        theta[columns] = of_law[term.law.name][term.joint]
    theta[parameters.reflected_inertia_slice] = truth.reflected_inertia
    return reduction.K @ theta
