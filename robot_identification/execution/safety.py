# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Limits of a motion on a real arm besides its own, and the torque its drives may need.

A file is certified with the margins of its experiment. A real arm needs at least these
margins, for every experiment.
"""

from __future__ import annotations

from dataclasses import replace
import hashlib
import json

import numpy as np
import pinocchio as pin
from robot_identification.arrays import FloatArray
from robot_identification.errors import UnsafeMotionError
from robot_identification.excitation import (
    broken_limits, certificate_times, CollisionModel, hardware_limits, MASS_UNCERTAINTY,
    obstacles_from_content, overlapping_links, POSITION_MARGIN, refine_limit_uses, tool_path,
    TORQUE_SHARE, Trajectory, VELOCITY_SHARE,
)
from robot_identification.execution.checks import Approach
from robot_identification.execution.stop import HARDEST_SHARE, SHARE_OF_PEAKS
from robot_identification.model import (
    EFFORT_UNITS, Motion, rigid_torque, RobotModel, tool_frame, tool_placements,
)
from robot_identification.simulation import TrajectoryPoints

# What calibration moves a joint by, against the nominal arm [m], at most (docs/execution.md);
# chosen: half the usual clearance.
LARGEST_SHIFT = 0.01
LARGEST_TURN = 0.02  # [rad], the same; chosen: 20 mm at a distance of 1 m
COMPARED_POSES = 20  # number of random poses; chosen: another type of arm differs in every one
# Decimals of m and rad that are hashed; chosen: to a micrometer and -radian.
KINEMATICS_DIGITS = 6
# Drives may ask for this much more than is expected, a ratio (docs/execution.md); chosen: wide, as
# parameters are not known before they are identified.
EFFORT_RESERVE = 1.2
DRY_FRICTION_SHARE = 0.15  # of the limit of effort (docs/execution.md); chosen: as of real arms
# Of the same for each rad/s [s/rad] (docs/execution.md); chosen: as above.
VISCOUS_FRICTION_SHARE = 0.1


def carry(robot: RobotModel, mass: float, center: FloatArray) -> RobotModel:
    """
    Return the arm with a payload, for torques that are to hold with it.

    Its mass [kg] is at its centre [m] in the tool frame; its own inertia is left out.
    """
    if mass == 0.0:
        return robot
    placement = tool_placements(robot)[tool_frame(robot)]
    model = robot.pinocchio.copy()
    last = model.njoints - 1
    model.inertias[last] += pin.Inertia(mass, placement.act(center), np.zeros((3, 3)))
    return replace(robot, pinocchio=model)


def check_lab_margins(robot: RobotModel, trajectory: Trajectory) -> None:
    """Raise UnsafeMotionError where a motion comes too near to the limits of a real arm."""
    limits = hardware_limits(robot)
    kept = replace(
        limits,
        lower=limits.lower + POSITION_MARGIN,
        upper=limits.upper - POSITION_MARGIN,
        velocity=VELOCITY_SHARE * limits.velocity,
        torque=TORQUE_SHARE / (1.0 + MASS_UNCERTAINTY) * limits.torque,
    )
    broken = broken_limits(refine_limit_uses(
        robot, kept, trajectory, certificate_times(trajectory.form)
    ))
    if broken:
        raise UnsafeMotionError(
            f'on a real arm a motion keeps {POSITION_MARGIN:g} {robot.units("rad")} from '
            f'the position limits, {VELOCITY_SHARE:.0%} of the speeds, and {TORQUE_SHARE:.0%} of '
            f'the torques even where masses are {MASS_UNCERTAINTY:.0%} larger: '
            + '; '.join(broken)
        )


def check_same_arm(robot: RobotModel, live: RobotModel) -> None:
    """
    Raise UnsafeMotionError if `live` is not the arm that a motion was certified for.

    That is, if joint names differ, or a joint is further off than a calibration moves it. `live`
    is the arm as its driver describes it, with its calibration, meshes and perhaps a world around
    it, so that texts cannot be compared: what counts is where the joints are against the first.
    """
    if live.joint_names != robot.joint_names:
        raise UnsafeMotionError(
            f'robot_description has the joints {", ".join(live.joint_names)}, the motion is for '
            f'{", ".join(robot.joint_names)}'
        )
    rng = np.random.default_rng(0)
    for q in rng.uniform(-np.pi, np.pi, size=(COMPARED_POSES, robot.n)):
        for joint, own, other in zip(
            robot.joint_names, _from_first_joint(robot, q), _from_first_joint(live, q), strict=True
        ):
            shift = float(np.linalg.norm(own.translation - other.translation))
            turn = float(np.linalg.norm(pin.log3(own.rotation.T @ other.rotation)))
            if shift > LARGEST_SHIFT or turn > LARGEST_TURN:
                raise UnsafeMotionError(
                    f'robot_description has {joint} {1000.0 * shift:.1f} mm and {turn:.3f} rad '
                    f'off where the motion was certified, a calibration moves it by '
                    f'{1000.0 * LARGEST_SHIFT:g} mm and {LARGEST_TURN:g} rad at most: is it '
                    'another type of arm? Design with the calibration of this one'
                )


def kinematics_sha256(robot: RobotModel) -> str:
    """Return a hash of where the joints are against each other, to a micrometre and -radian."""
    placements = np.array([
        placement.homogeneous[:3] for placement in list(robot.pinocchio.jointPlacements)[2:]
    ])
    # A zero has no sign here.
    rounded = np.round(placements, KINEMATICS_DIGITS) + 0.0
    return hashlib.sha256(json.dumps([robot.joint_names, rounded.tolist()]).encode()).hexdigest()


def _from_first_joint(robot: RobotModel, q: FloatArray) -> list[pin.SE3]:
    """Return the placements of all joints against the fixed place of the first, at `q` (n,)."""
    model = robot.pinocchio
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    base = model.jointPlacements[1].inverse()
    return [base * data.oMi[joint] for joint in range(1, model.njoints)]


def tool_speed(robot: RobotModel, trajectory: Trajectory) -> float:
    """Return the largest speed of the last link's origin at full speed [m/s]."""
    times = certificate_times(trajectory.form)
    path = tool_path(robot, trajectory.sample(times).q)
    steps = np.linalg.norm(np.diff(path, axis=0), axis=1)
    return float(np.max(steps / np.diff(times)))


def prove_approach(robot: RobotModel, trajectory: Trajectory, approach: Approach) -> None:
    """
    Prove that the way to the start keeps the clearance of the motion's certificate.

    Raises UnsafeMotionError, with the pair and the place, where it does not.
    """
    entry = trajectory.certificate['collision']
    if entry == 'off':
        return
    dense = approach.sample(np.append(0.0, approach.knots.times)).dq
    try:
        CollisionModel(
            robot, obstacles_from_content(entry['obstacles'], 'the certificate'),
            overlapping_links(entry),
        ).prove(
            lambda times: approach.sample(times).q, approach.duration, dense,
            float(entry['clearance']),
        )
    except UnsafeMotionError as error:
        raise UnsafeMotionError(
            f'the straight way to the start is not clear: {error}; move the arm nearer to the '
            'start by hand or by pendant'
        ) from error


def hardest_stop(robot: RobotModel, knots: TrajectoryPoints) -> float:
    """
    Return how many times as hard as planned a motion may be stopped, `HARDEST_SHARE` at most.

    The accelerations of `knots` may be so many times larger until a joint is at its limit of
    acceleration or at the share of its torque that is left to a real arm (`check_lab_margins`).
    """
    assert knots.dq is not None
    assert knots.ddq is not None
    limits = hardware_limits(robot)
    steady = rigid_torque(robot, Motion(knots.q, knots.dq, np.zeros_like(knots.q)))
    inertial = rigid_torque(robot, Motion(knots.q, knots.dq, knots.ddq)) - steady
    limit = TORQUE_SHARE / (1.0 + MASS_UNCERTAINTY) * limits.torque
    with np.errstate(divide='ignore', invalid='ignore'):
        shares = np.concatenate([
            ((limit - np.sign(inertial) * steady) / np.abs(inertial)).ravel(),
            (limits.acceleration / np.abs(knots.ddq)).ravel(),
        ])
    # What is not limited, or does not move, allows for everything.
    least = np.nanmin(shares / SHARE_OF_PEAKS, initial=HARDEST_SHARE)
    return max(float(least), 1.0)


def effort_bounds(robot: RobotModel, knots: TrajectoryPoints) -> FloatArray:
    """
    Return the efforts above which a drive pushes against something, in the driver's unit, (n,).

    Friction is not known before it is identified, nor are the masses, so these bounds are wide:
    they see an arm that is held or hits something, not a soft contact. Infinite where unit, drive
    gain or limit is not known.
    """
    rest = np.zeros_like(knots.q)
    speeds, accelerations = (
        rest if values is None else values for values in (knots.dq, knots.ddq)
    )
    rotors = np.nan_to_num(robot.drives.reflected_inertia) * accelerations
    torques = rigid_torque(robot, Motion(knots.q, speeds, accelerations)) + rotors
    expected = np.abs(torques).max(axis=0)
    limit = robot.limits.effort
    # Shares of the limit as of real arms: at rest, and for each rad/s.
    friction = DRY_FRICTION_SHARE + VISCOUS_FRICTION_SHARE * np.abs(speeds).max(axis=0)
    torque = np.minimum(
        EFFORT_RESERVE * (1.0 + MASS_UNCERTAINTY) * expected + friction * limit, limit
    )
    unit = EFFORT_UNITS.get(robot.effort_unit or '')
    if unit is None:
        return np.full(robot.n, np.inf)
    if not unit.is_current:
        # Without gravity, too: that of a payload which is not set on the controller is in it.
        return np.asarray(torque)
    bounds = np.abs(robot.drives.to_current(torque))
    return np.where(np.isfinite(bounds), bounds, np.inf)
