# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Recordings of constant-velocity segments, by MuJoCo: what a friction map is made of."""

from dataclasses import replace

import numpy as np
from robot_identification.excitation.experiment_file import read_experiment
from robot_identification.model.kinematic_filter import KinematicFilter
from robot_identification.processing.processing import process
from robot_identification.recording.recording import Channel, Recording
from robot_identification.simulation.ground_truth import draw_truth
from robot_identification.simulation.mujoco_robot import inverse_dynamics
from robot_identification.simulation.run import SimulatedRun
from robot_identification.studies.friction_map.plan import segment_trajectory

RATE = 125.0
# Of the effort, as a share of the limit; of positions [rad] and velocities [rad/s].
EFFORT_NOISE, POSITION_NOISE, VELOCITY_NOISE = 0.004, 1.0e-5, 1.0e-3
# Mass of the last link of the small arm by its URDF [kg]: what a payload is stated in.
LAST_MASS = 3.0


def friction_truth(robot, seed=3):
    """Return an arm with Stribeck friction under load that falls with temperature."""
    truth = draw_truth(robot, seed)
    n = robot.n
    return replace(
        truth, velocity_width=0.002, static=1.4 * truth.coulomb, stribeck_velocity=0.06,
        load_share=np.full(n, 0.05), viscous_slope=np.full(n, -0.012),
    )


def loaded(robot, truth, mass):
    """Return the truth of an arm that carries a mass where its last link has its own."""
    factor = truth.mass_factor.copy()
    factor[-1] += mass / LAST_MASS
    return replace(truth, mass_factor=factor)


def segment_motion(robot, joint, plan=None, rate=RATE, **experiment):
    """Return stamps (N,) and the motion of segments of one joint."""
    content = {'schema_version': 1, 'trajectory': {'form': 'fourier'}, 'collision': 'off',
               'center': {'lift': 0.4, 'reach': 0.3}, **experiment}
    trajectory = segment_trajectory(robot, read_experiment(content, 'test'), joint, plan)
    stamps = np.arange(0.0, trajectory.duration, 1.0 / rate)
    return stamps, trajectory.sample(stamps)


def measured(robot, truth, motion, temperature, seed, noise=1.0):
    """Return position, velocity and torque (N, n) as they are measured along a motion."""
    torque = inverse_dynamics(robot, truth, motion, temperature=temperature)
    drawn = noise * np.random.default_rng(seed).normal(size=(3, *motion.q.shape))
    return (
        motion.q + POSITION_NOISE * drawn[0],
        motion.dq + VELOCITY_NOISE * drawn[1],
        torque + EFFORT_NOISE * robot.limits.effort * drawn[2],
    )


def segment_recording(robot, stamps, values, temperature=None, name='segments'):
    """Return a recording of measured values in N m at one temperature."""
    channels = {}
    if temperature is not None:
        channels['temperature'] = Channel(stamps[::50], np.full(
            (len(stamps[::50]), robot.n), temperature
        ))
    return Recording(
        name, '/joint_states', robot.joint_names, stamps, *values,
        metadata={'robot': robot.name, 'effort_unit': 'Nm'}, channels=channels,
    )


def segment_dataset(robot, truth, joint, *, temperature=24.0, mass=0.0, seed=0, plan=None,
                    noise=1.0, change=None, delay=0.0, **experiment):
    """Return the dataset of segments; `change` is done to torques (N, n), a delay taken off."""
    stamps, motion = segment_motion(robot, joint, plan, **experiment)
    values = list(measured(robot, loaded(robot, truth, mass), motion, temperature, seed, noise))
    if change is not None:
        values[2] = change(stamps, motion, values[2])
    recording = segment_recording(robot, stamps, values, temperature, f'bag_{seed}')
    return process(recording, KinematicFilter(), 'Nm', delay=delay)


def true_friction(truth, joint, speed, load, temperature):
    """Return the true friction of a joint at constant velocity, as MuJoCo's simulator has it."""
    n = len(truth.coulomb)
    return float(truth.friction(
        np.full(n, speed), np.full(n, load), np.full(n, temperature)
    )[joint])


def segment_run(robot, truth, joint, *, temperature=24.0, mass=0.0, seed=0, plan=None):
    """Return the same as a simulated run, to be written as a driver's bag in A."""
    stamps, motion = segment_motion(robot, joint, plan)
    q, dq, torque = measured(robot, loaded(robot, truth, mass), motion, temperature, seed)
    state = (q, dq, torque / robot.drives.drive_gain)
    return SimulatedRun(
        stamps, state, state, temperature=np.full(q.shape, temperature), unit='A'
    )
