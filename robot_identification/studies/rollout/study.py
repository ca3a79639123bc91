# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Rollouts of recordings: the identified model, the URDF, the exported MJCF, and no model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.blas import one_blas_thread
from robot_identification.errors import InconsistentModelError, MissingDependencyError, UsageError
from robot_identification.export import export_mjcf
from robot_identification.model import IdentifiedModel, joint_axes, RobotModel, tool_frame
from robot_identification.options import check_options, option
from robot_identification.prediction import ForwardDynamics
from robot_identification.processing import Dataset
from robot_identification.simulation import Drive, import_mujoco
from robot_identification.studies.rollout.drift import (
    joint_drift, measure_drift, Measurement, plan_rollouts, RolloutPlan, Simulated,
)

# Rollouts that the error of the step is measured on; chosen: a median of them.
HALVED_STARTS = 8
MODEL, URDF, MJCF, VELOCITY = 'model', 'urdf', 'mjcf', 'constant_velocity'
WORDS = {
    MODEL: 'the identified model', URDF: 'the URDF alone', MJCF: 'the exported MJCF',
    VELOCITY: 'a constant velocity',
}
OPEN, CLOSED = 'open', 'closed'
# Returns what drives all rollouts, by the time of a step [s] and the loop.
DriveAt = Callable[..., Drive]


@dataclass(frozen=True)
class RolloutOptions:
    """
    Options of rollouts. Raises UsageError if one is out of its range.

    The step is that of our own integrator [s]; MuJoCo has the one of its model file.
    """

    starts: int = option(
        int, 'rollouts of each recording, evenly spread', minimum=1, default=32, metavar='N',
        key='rollout_starts',
    )
    frequency: float = option(
        float, 'natural frequency of the PD servo of the closed loop [Hz], of the identified '
        'inertia of each joint, with damping 1', minimum=0.01, default=2.0, metavar='HZ',
        key='rollout_frequency',
    )
    step: float = 0.001

    def __post_init__(self) -> None:
        check_options(self)


@dataclass(frozen=True, eq=False)
class Rollout:
    """Rollouts of a recording by several models."""

    plan: RolloutPlan
    prismatic: BoolArray  # (n,)
    tool: str  # the frame that is the tool
    measured: FloatArray  # (T, S, n): measured positions [rad]
    simulated: tuple[Simulated, ...]
    step: float  # of our integrator [s]
    # (H,): what halving the step changes in the model's open loop: median over starts, of the
    # joint where it is largest [rad].
    halving: FloatArray
    # (n,): of the servo [N m/rad], [N m s/rad], and its natural frequency [Hz].
    stiffness: FloatArray
    damping: FloatArray
    frequency: float
    not_checked: tuple[str, ...] = ()  # what was not simulated, and why

    def find(self, name: str, loop: str) -> Simulated | None:
        """Return the rollouts of a model, if there are any."""
        return next(
            (one for one in self.simulated if (one.name, one.loop) == (name, loop)), None
        )


@one_blas_thread()
def run_rollout(
    model: IdentifiedModel, datasets: Sequence[Dataset], options: RolloutOptions
) -> tuple[Rollout, ...]:
    """
    Return the drift of simulations from recordings.

    Raises UsageError where torques are unknown, because drive gains are, and DataError where the
    model cannot be simulated.
    """
    unknown = ~np.isfinite(model.effort_per_torque)
    if model.relative_scale or unknown.any():
        names = np.array(model.robot.joint_names)
        raise UsageError(
            'rollouts need torques, and the drive gains of '
            f'{", ".join(names if model.relative_scale else names[unknown])} are unknown: '
            'identify with --drive-gains, or leave out --rollout'
        )
    # Base parameters need not be those of bodies: their mass matrix may be indefinite, and no
    # simulator has them.
    bodies = model if model.theta_consistent is None else model.with_consistent_parameters()
    return tuple(_roll_out(bodies, dataset, options) for dataset in datasets)


def _roll_out(model: IdentifiedModel, dataset: Dataset, options: RolloutOptions) -> Rollout:
    """Return the rollouts of one recording."""
    robot, plan = model.robot, plan_rollouts(dataset, options.starts)
    _, _, prismatic = joint_axes(robot.pinocchio)
    nothing = np.full(robot.n, np.nan)
    rollout = Rollout(
        plan, prismatic, tool_frame(robot), np.zeros((0, 0, robot.n)), (), options.step,
        np.zeros(0), nothing, nothing, options.frequency,
        (f'no part of {dataset.source} is scored for 0.1 s without a gap',),
    )
    if not plan.horizons:
        return rollout
    dynamics = ForwardDynamics(model)
    inertias = dynamics.inertias(dynamics.start(dataset, plan.rows))
    inertia = np.maximum(np.median(np.diagonal(inertias, axis1=1, axis2=2), axis=0), 0.0)
    rate = 2.0 * np.pi * options.frequency
    servo = rate**2 * inertia, 2.0 * rate * inertia
    measurement = Measurement(dataset, plan)

    def drive(step: float, loop: str) -> Drive:
        gains = servo if loop == CLOSED else (np.zeros(robot.n), np.zeros(robot.n))
        return measurement.drive(1.0 / model.effort_per_torque, step, gains)

    measured = measurement.position(plan.times)
    mine, halving = _simulate_ours(robot, dynamics, dataset, plan, drive, options.step)
    plain, _ = _simulate_ours(
        robot, ForwardDynamics(robot), dataset, plan, drive, options.step
    )
    mujoco, not_checked = _simulate_mjcf(model, dataset, plan, drive)
    # A model that drifts further than this predicts no motion; too much inertia comes near it.
    kept = measured[:1] + plan.times[:, None, None] * np.array(dataset.motion.dq[plan.rows])
    positions = {MODEL: mine, URDF: plain, MJCF: mujoco, VELOCITY: {OPEN: kept}}
    return replace(
        rollout, measured=measured, halving=halving, stiffness=servo[0], damping=servo[1],
        not_checked=not_checked,
        simulated=tuple(
            measure_drift(robot, name, loop, positions[name][loop], measured)
            for loop in (OPEN, CLOSED) for name in positions if loop in positions[name]
        ),
    )


def _simulate_ours(
    robot: RobotModel, dynamics: ForwardDynamics, dataset: Dataset, plan: RolloutPlan,
    drive_at: DriveAt, step: float,
) -> tuple[dict[str, FloatArray], FloatArray]:
    """Return the positions of both loops, and what halving the step changes."""
    states = dynamics.start(dataset, plan.rows)
    found = {
        loop: _at(plan.times, step, dynamics.roll_out(states, drive_at(step, loop)))
        for loop in (OPEN, CLOSED)
    }
    few = np.unique(np.linspace(0, len(plan.rows) - 1, HALVED_STARTS).astype(int))
    drive = drive_at(0.5 * step, OPEN)
    drive = replace(
        drive, torque=drive.torque[:, few], q=drive.q[:, few], dq=drive.dq[:, few]
    )
    halved = _at(plan.times, 0.5 * step, dynamics.roll_out(states.part(few), drive))
    # A joint that is lost, or leads to another place, has no error of the step.
    changes = np.abs(joint_drift(robot, halved, found[OPEN][:, few]))
    return found, np.median(changes, axis=1).max(axis=1)[plan.stated]


def _simulate_mjcf(
    model: IdentifiedModel, dataset: Dataset, plan: RolloutPlan, drive_at: DriveAt
) -> tuple[dict[str, FloatArray], tuple[str, ...]]:
    """Return the positions of both loops of the exported MJCF, and why there are none."""
    motion = dataset.motion
    # An effort without gravity drives an arm that has none.
    model = replace(model, robot=model.robot.with_gravity(model.robot.gravity))
    start = np.array(motion.q[plan.rows]), np.array(motion.dq[plan.rows])
    try:
        text = export_mjcf(model)
        found = {}
        for loop in (OPEN, CLOSED):
            q, ends = roll_out_mjcf(
                text, model.robot.joint_names, start, partial(drive_at, loop=loop)
            )
            found[loop] = _at(plan.times, float(ends[1]), q)
    except (InconsistentModelError, MissingDependencyError) as error:
        return {}, (f'{WORDS[MJCF]}: {error}',)
    return found, ()


def _at(times: FloatArray, step: float, positions: FloatArray) -> FloatArray:
    """Return positions (K + 1, ..) at the steps nearest to some times (T,) [s]."""
    kept: FloatArray = positions[np.round(times / step).astype(int)]
    return kept


def roll_out_mjcf(
    text: str,
    joints: Sequence[str],
    start: tuple[FloatArray, FloatArray],
    drive_at: Callable[[float], Drive],
) -> tuple[FloatArray, FloatArray]:
    """
    Return the positions of rollouts (K + 1, S, n) [rad], and their times (K + 1,) [s].

    `text` is MJCF with a motor of gear 1 for each of the `joints`, called as they are; `start` has
    positions and velocities (S, n) [rad], [rad/s]; `drive_at` returns what drives the arms in
    steps of the model's time. Motors keep to their limits. A rollout that MuJoCo resets, because
    it is unstable, is not a number from there on. Raises MissingDependencyError if MuJoCo is not
    installed.
    """
    mujoco = import_mujoco()
    model = mujoco.MjModel.from_xml_string(text)
    # What is unstable is counted; a log file in the working directory would be left.
    mujoco.set_mju_user_warning(lambda message: None)
    drive = drive_at(float(model.opt.timestep))
    try:
        rollouts = [
            _roll_out_one(model, joints, (q, dq), drive, number)
            for number, (q, dq) in enumerate(zip(*start, strict=True))
        ]
    finally:
        mujoco.set_mju_user_warning(None)
    return np.stack(rollouts, axis=1), drive.step * np.arange(drive.steps + 1.0)


def _roll_out_one(
    model: Any, joints: Sequence[str], start: tuple[FloatArray, FloatArray], drive: Drive,
    number: int,
) -> FloatArray:
    """Return the positions (K + 1, n) [rad] of one of the rollouts."""
    mujoco = import_mujoco()
    data, warnings = mujoco.MjData(model), mujoco.mjtWarning
    unstable = (
        warnings.mjWARN_BADQPOS, warnings.mjWARN_BADQVEL, warnings.mjWARN_BADQACC,
        warnings.mjWARN_BADCTRL,
    )
    at = [int(model.joint(name).qposadr[0]) for name in joints]
    dofs = [int(model.joint(name).dofadr[0]) for name in joints]
    motors = [int(model.actuator(name).id) for name in joints]
    data.qpos[at], data.qvel[dofs] = start
    positions = np.full((drive.steps + 1, len(joints)), np.nan)
    positions[0] = start[0]
    for step in range(drive.steps):
        data.ctrl[motors] = (
            drive.torque[step, number]
            + drive.stiffness * (drive.q[step, number] - data.qpos[at])
            + drive.damping * (drive.dq[step, number] - data.qvel[dofs])
        )
        mujoco.mj_step(model, data)
        if any(data.warning[kind].number for kind in unstable):
            break
        positions[step + 1] = data.qpos[at]
    return positions
