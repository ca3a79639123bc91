# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Arms that publish current, torque or torque without gravity; their torques are MuJoCo's."""

from dataclasses import dataclass, replace

from known_models import made_up_dataset
import numpy as np
from recordings import fourier_motion
from robot_identification.model.payload import tool_frame
from robot_identification.model.regressor import Motion
from robot_identification.model.robot_model import (
    gravity_of_mounting, make_robot_model, RobotModel,
)
from robot_identification.model.urdf import parse_urdf
from robot_identification.model.urdf_variants import mount_tool, Tool
from robot_identification.processing.dataset import Dataset
from robot_identification.simulation.ground_truth import draw_truth, with_static_friction
from robot_identification.simulation.mujoco_robot import inverse_dynamics, rigid_inverse_dynamics

RATE = 50.0
UPRIGHT, CEILING, WALL = (0.0, 0.0, 0.0), (np.pi, 0.0, 0.0), (np.pi / 2.0, 0.0, 0.0)
MOUNTINGS = (UPRIGHT, UPRIGHT, CEILING, WALL)
# Noise of the torque over the limit of the joint: current sensors of real arms have some 0.4 %.
NOISE = 0.004
LARGEST_LIMIT = 1000.0  # where a description states none


@dataclass(frozen=True, eq=False)
class Twin:
    """A recording whose kind of effort is known."""

    robot: RobotModel  # what the user says: URDF without the payload, true mounting
    dataset: Dataset
    kind: str


def make_twin(robot, seed, kind, style, *, rough):
    """Return a twin."""
    rng = np.random.default_rng([seed, 5])
    motion = make_motion(robot, style, rng)
    if not rough and robot.name == 'flat':
        stated = robot
    else:
        stated = robot.with_gravity(gravity_of_mounting(*MOUNTINGS[rng.integers(4)]))
    n = robot.n
    gains = np.exp(rng.uniform(np.log(5.0), np.log(25.0), n))
    truth = draw_truth(stated.with_drive_gains(gains), seed)
    if rough:
        truth = replace(
            truth, mass_factor=rng.uniform(0.6, 1.4, n),
            centre_shift=rng.uniform(-0.03, 0.03, (n, 3)),
        )
    truth = with_static_friction(truth)
    arm = with_payload(stated, rng) if rng.random() < 0.5 else stated
    torque = inverse_dynamics(arm, truth, motion) + holding_torque(motion, truth.coulomb, rng)
    limit = np.minimum(robot.limits.effort, LARGEST_LIMIT)
    torque += NOISE * limit * rng.normal(size=torque.shape)
    effort = published(torque, kind, (stated, arm), truth, motion, rng)
    seen = Motion(
        motion.q, motion.dq + 2.0e-3 * rng.normal(size=effort.shape),
        motion.ddq + 0.02 * rng.normal(size=effort.shape),
    )
    return Twin(stated, made_up_dataset(robot.joint_names, seen, effort, RATE), kind)


def published(torque, kind, arms, truth, motion, rng):
    """Return what a driver makes of torques; `arms` are without and with the payload."""
    n = torque.shape[1]
    if kind == 'A':
        return torque / truth.drive_gain
    scale = rng.uniform(0.93, 1.07, n)
    if kind == 'Nm':
        return torque * scale
    stated, arm = arms
    own = replace(
        truth, mass_factor=truth.mass_factor * rng.uniform(0.9, 1.1, n),
        centre_shift=truth.centre_shift + rng.uniform(-0.01, 0.01, (n, 3)),
    )
    still = np.zeros_like(motion.q)
    told = rng.random() < 0.6
    gravity = rigid_inverse_dynamics(
        arm if told else stated, own, Motion(motion.q, still, still)
    )
    return (torque - gravity) * scale


def with_payload(robot, rng):
    """Return the arm with a tool of up to a fifth of the mass that it moves."""
    moved = sum(inertia.mass for inertia in list(robot.pinocchio.inertias)[1:])
    tool = Tool(
        rng.uniform(0.5, 0.2 * moved), (*rng.uniform(-0.05, 0.05, 2), rng.uniform(0.0, 0.12)),
        (0.1, 0.1, 0.15),
    )
    text = mount_tool(robot.urdf.text, 'twin', tool_frame(robot), tool)
    made = make_robot_model(
        parse_urdf(text, robot.name), joints=robot.joint_names, gravity=robot.gravity
    )
    return replace(made, limits=robot.limits, drives=robot.drives)


def holding_torque(motion, coulomb, rng):
    """Return what dry friction holds at rest: another torque in every rest, up to Coulomb's."""
    torque = np.zeros_like(motion.q)
    still = np.all(np.abs(np.diff(motion.q, axis=0)) < 1.0e-9, axis=1)
    of_rest = np.cumsum(np.concatenate([[True], ~still]))
    held = rng.uniform(-1.0, 1.0, (of_rest[-1] + 1, motion.q.shape[1])) * coulomb
    return np.where(motion.dq == 0.0, held[of_rest], torque)


def make_motion(robot, style, rng):
    """Return a motion: excitation, the same slowly, moves between poses, rests, or wrists."""
    n = robot.n
    if style == 'fourier':
        duration, period = rng.choice([10.0, 20.0, 40.0]), rng.choice([6.0, 10.0])
        return fourier_motion(
            n, int(rng.integers(10**6)), np.arange(0.0, duration, 1.0 / RATE), period=period,
            speed=rng.uniform(0.6, 1.8),
        )
    if style == 'slow':
        return fourier_motion(
            n, int(rng.integers(10**6)), np.arange(0.0, 60.0, 1.0 / RATE), period=60.0,
            speed=rng.uniform(0.1, 0.3),
        )
    if style == 'points':
        return between_poses(robot, rng, int(rng.integers(6, 15)), rng.uniform(0.5, 1.5), 1.0)
    if style == 'rests':
        moves = between_poses(robot, rng, int(rng.integers(8, 20)), 0.3, 2.0)
        return moves.rows(np.all(moves.dq == 0.0, axis=1))
    whole = fourier_motion(
        n, int(rng.integers(10**6)), np.arange(0.0, 20.0, 1.0 / RATE), period=6.0, speed=1.2
    )
    q, dq, ddq = whole.q.copy(), whole.dq.copy(), whole.ddq.copy()
    q[:, :3], dq[:, :3], ddq[:, :3] = rng.uniform(-1.5, 1.5, 3), 0.0, 0.0
    return Motion(q, dq, ddq)


def between_poses(robot, rng, count, speed, rest):
    """Return moves between random poses, of quintic course, with rests [s] before each."""
    lower, upper = np.maximum(robot.limits.lower, -2.0), np.minimum(robot.limits.upper, 2.0)
    n, samples = robot.n, int(rest * RATE)
    at, parts = rng.uniform(lower, upper, n), []
    for _ in range(count):
        parts.append((np.tile(at, (samples, 1)), *np.zeros((2, samples, n))))
        to = rng.uniform(lower, upper, n)
        way, duration = to - at, max(1.875 * np.abs(to - at).max() / speed, 0.5)
        s = (np.arange(1, int(duration * RATE)) / (duration * RATE))[:, None]
        parts.append((
            at + (10.0 * s**3 - 15.0 * s**4 + 6.0 * s**5) * way,
            (30.0 * s**2 - 60.0 * s**3 + 30.0 * s**4) * way / duration,
            (60.0 * s - 180.0 * s**2 + 120.0 * s**3) * way / duration**2,
        ))
        at = to
    return Motion(*(np.concatenate(column) for column in zip(*parts, strict=True)))
