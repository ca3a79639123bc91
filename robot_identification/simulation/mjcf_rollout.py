# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Rollouts of a MuJoCo model file as it is: its own friction, integrator, limits and step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.simulation.drive import Drive
from robot_identification.simulation.mujoco_robot import import_mujoco


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
            _roll_out(model, joints, (q, dq), drive, number)
            for number, (q, dq) in enumerate(zip(*start, strict=True))
        ]
    finally:
        mujoco.set_mju_user_warning(None)
    return np.stack(rollouts, axis=1), drive.step * np.arange(drive.steps + 1.0)


def _roll_out(
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
