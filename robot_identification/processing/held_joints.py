# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Joints that a model holds fixed, and where they were in a recording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from robot_identification.arrays import LARGEST_IN_MEMORY
from robot_identification.errors import DataError
from robot_identification.model import (
    find_coupled, Motion, reach_of_joints, rigid_torque, RobotModel,
)
from robot_identification.recording import Recording

# Way of a joint that counts [rad or m]; chosen: some three degrees, and more than a finger.
NOTABLE = 0.05
WILD = 1.0e-3  # share of readings at each end that are no motion [1]; chosen
LEAST_TURN = 1.0e-3  # by which a held joint stood elsewhere [rad or m]; chosen
# Change of the torque of a joint, as a share, for which held joints are moved to where they stood,
# and for which a motion is refused and another place named [1]; chosen: a gripper that opens
# changes less than the second, and a URDF's masses are known to it at best.
LEAST_INFLUENCE, NOTABLE_INFLUENCE = 0.01, 0.05
LEAST_LEVEL = 0.1  # a torque is at least this share of the largest of the arm [1]; chosen
FEW_POSES = 100  # of each recording in which torques are compared; chosen


def watched_joints(robot: RobotModel) -> tuple[str, ...]:
    """Return the held joints that move the arm or are moved by it, if their readings are known."""
    encoders = robot.encoders
    if not (np.all(encoders.sign == 1.0) and np.all(encoders.zero == 0.0)):
        return ()
    reach = reach_of_joints(robot.urdf, robot.joint_names)
    near = reach.carried_joints | reach.supporting_joints
    coupled = find_coupled(robot.urdf)
    return tuple(name for name in robot.locked if name in near and name not in coupled)


def hold_as_recorded(
    robot: RobotModel, recordings: Sequence[Recording],
    window: tuple[float | None, float | None] = (None, None),
) -> tuple[RobotModel, tuple[str, ...]]:
    """
    Return the arm with its held joints where they stood in recordings, and remarks on them.

    `window` has the first and last second that count. Raises DataError where a held joint moved,
    or stood in several places, and torques of the arm depend on it.
    """
    poses: dict[str, float] = {}
    moved: dict[str, tuple[tuple[float, float], str]] = {}
    for name in robot.locked:
        places = [
            (recording.source, *place) for recording in recordings
            if (place := _place_of(recording, name, window)) is not None
        ]
        lowest = min((low for _, low, _, _ in places), default=np.nan)
        highest = max((high for *_, high in places), default=np.nan)
        lower, upper = _limits_of(robot, name)
        # Readings beyond the limits are in another unit, or have another zero.
        if not lower - NOTABLE < lowest <= highest < upper + NOTABLE:
            continue
        if highest - lowest > NOTABLE:
            moved[name] = (max(lowest, lower), min(highest, upper)), '; '.join(
                f'{low:.3g} to {high:.3g} in {source}' for source, low, _, high in places
            )
            continue
        pose = float(np.median([middle for _, _, middle, _ in places]))
        if abs(pose - robot.locked[name]) > LEAST_TURN:
            poses[name] = min(max(pose, lower), upper)
    remarks = []
    if _influence(robot, {}, poses, recordings) > LEAST_INFLUENCE:
        listed = ', '.join(
            f'{name} at {pose:.4g} (not {robot.locked[name]:.4g})' for name, pose in poses.items()
        )
        sources = ', '.join(recording.source for recording in recordings)
        remarks.append(
            f'{sources}: joints that are held fixed are held where they stood: {listed} rad or m'
        )
        robot = robot.with_locked(poses)
    for name, ((lowest, highest), listed) in moved.items():
        change = _influence(robot, {name: lowest}, {name: highest}, recordings)
        if change > NOTABLE_INFLUENCE:
            raise DataError(
                f'{name} is held fixed in the model, and was not at one place ({listed}), on '
                f'which torques of {", ".join(robot.joint_names)} depend: include it in --joints, '
                'cut its motion out with --start and --stop, or identify recordings with '
                'different poses by themselves'
            )
    for recording in recordings:
        remarks += held_joint_remarks(robot, recording, window)
    return robot, tuple(remarks)


def held_joint_remarks(
    robot: RobotModel, recording: Recording,
    window: tuple[float | None, float | None] = (None, None),
) -> list[str]:
    """Return which held joints moved in a recording, or stood where torques are others."""
    slides = {joint.name for joint in robot.urdf.joints if joint.kind == 'prismatic'}
    remarks = []
    for name in recording.held:
        place = _place_of(recording, name, window)
        if place is None:
            continue
        (lowest, middle, highest), held = place, robot.locked[name]
        unit, (lower, upper) = 'm' if name in slides else 'rad', _limits_of(robot, name)
        if highest - lowest > NOTABLE:
            found = f'moved by {highest - lowest:.3g} {unit}'
            remedy = 'include it in --joints, or record with it at rest'
        elif not lower - NOTABLE < middle < upper + NOTABLE:
            found = f'was read as {middle:.3g} {unit}, beyond its limits'
            remedy = 'check its unit and its zero'
        elif abs(middle - held) > NOTABLE and _influence(
            robot, {}, {name: min(max(middle, lower), upper)}, [recording]
        ) > NOTABLE_INFLUENCE:
            found = f'stood at {middle:.3g} {unit}'
            remedy = 'record with it there, or identify with it where it stood'
        else:
            continue
        remarks.append(
            f'{recording.source}: {name} is held at {held:.3g} {unit} in the model and {found}: '
            f'{remedy}'
        )
    return remarks


def _limits_of(robot: RobotModel, name: str) -> tuple[float, float]:
    return next(joint.position for joint in robot.urdf.joints if joint.name == name)


def _place_of(
    recording: Recording, name: str, window: tuple[float | None, float | None]
) -> tuple[float, float, float] | None:
    """Return lowest, median and highest position of a held joint; None where it has none."""
    channel = recording.held.get(name)
    if channel is None:
        return None
    start, stop = window
    # Of a long recording some do; single wild readings are no motion.
    rows = slice(None, None, len(channel) // LARGEST_IN_MEMORY + 1)
    stamps, values = np.array(channel.stamps[rows]), np.array(channel.values[rows, 0])
    inside = np.isfinite(values) & (stamps >= (-np.inf if start is None else start))
    inside &= stamps < (np.inf if stop is None else stop)
    if not inside.any():
        return None
    lowest, middle, highest = np.quantile(
        values[inside], (WILD, 0.5, 1.0 - WILD), method='nearest'
    ).tolist()
    return lowest, middle, highest


def _influence(
    robot: RobotModel, first: Mapping[str, float], second: Mapping[str, float],
    recordings: Sequence[Recording],
) -> float:
    """Return the largest share of the torque of a joint that other places of held ones change."""
    if first == second:
        return 0.0
    q = np.concatenate([one.q[::max(len(one) // FEW_POSES, 1)] for one in recordings])
    q = q[np.all(np.isfinite(q), axis=1)]
    ddq = np.random.default_rng(0).uniform(-1.0, 1.0, q.shape)
    motion = Motion(q, np.zeros_like(q), ddq)
    before, after = (
        rigid_torque(robot.with_locked(places), motion) for places in (first, second)
    )
    level = np.sqrt(np.mean(before**2, axis=0))
    if not level.any():
        # Without masses: what carries the arm turns its gravity.
        supporting = reach_of_joints(robot.urdf, robot.joint_names).supporting_joints
        return float(any(name in supporting for name in second))
    change = np.sqrt(np.mean((after - before) ** 2, axis=0))
    return float(np.max(change / np.maximum(level, LEAST_LEVEL * level.max())))
