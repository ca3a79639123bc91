# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Kinematic calibration of a Universal Robot: the arm's own geometry instead of the nominal one.

Two files hold it: the controller's ``calibration.conf`` (corrections of the Denavit-Hartenberg
table) and the YAML that the ROS driver's calibration tool writes (a pose for each joint).

The corrections are fitted to flange poses alone. Where axes are nearly parallel, the point at
which a frame sits on its axis is then arbitrary: lengths of hundreds of metres that cancel. The
axes themselves are those of the arm, so frames are put back next to the nominal ones. Where even
the axes are nowhere near the arm, the file is refused: no link hangs on such an axis.
"""

from __future__ import annotations

import configparser
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import tostring

import defusedxml.ElementTree
import numpy as np
import pinocchio as pin
from robot_identification.arrays import FloatArray
from robot_identification.errors import DescriptionError
from robot_identification.files import read_text, read_yaml
from robot_identification.model.denavit_hartenberg import joint_axes
from robot_identification.model.frames import check_table
from robot_identification.model.robot_model import RobotModel
from robot_identification.model.urdf_elements import pose_in, set_pose

LARGEST_SHIFT, LARGEST_TILT = 0.02, 0.05  # published calibrations reach 4 mm and 10 mrad
_CORRECTIONS = ('theta', 'a', 'd', 'alpha')


@dataclass(frozen=True)
class DhCorrections:
    """Corrections (n,) of the rows of a standard Denavit-Hartenberg table [rad], [m]."""

    theta: FloatArray
    a: FloatArray
    d: FloatArray
    alpha: FloatArray


# Pose of each joint frame in the one before it, by the name of the link it moves.
JointPoses = dict[str, pin.SE3]


def read_calibration(path: Path) -> DhCorrections | JointPoses:
    """
    Read a calibration file: the controller's or the ROS driver's.

    Raises UsageError if there is no such file, DescriptionError if it is neither.
    """
    if path.suffix in ('.yaml', '.yml'):
        return _read_joint_poses(read_yaml(path), str(path))
    return _read_corrections(read_text(path), str(path))


def _read_corrections(text: str, source: str) -> DhCorrections:
    parser = configparser.ConfigParser(inline_comment_prefixes=('#',), interpolation=None)
    try:
        parser.read_string(text)
        section = parser['mounting']
        columns = [
            np.array([float(part) for part in section[f'delta_{key}'].strip(' []').split(',')])
            for key in _CORRECTIONS
        ]
    except (configparser.Error, KeyError, ValueError) as error:
        raise DescriptionError(
            f'{source} is no calibration of a Universal Robot: it needs a section [mounting] with '
            f'delta_theta, delta_a, delta_d and delta_alpha ({error})'
        ) from error
    if len({column.size for column in columns}) != 1 or not np.all(np.isfinite(columns)):
        raise DescriptionError(f'{source}: the corrections must be finite, one for each joint')
    return DhCorrections(*columns)


def _read_joint_poses(content: dict[str, Any], source: str) -> JointPoses:
    entries = content.get('kinematics')
    if not isinstance(entries, dict):
        raise DescriptionError(f'{source} is no calibration of the ROS driver: no `kinematics`')
    poses, keys = {}, ('x', 'y', 'z', 'roll', 'pitch', 'yaw')
    for name, entry in entries.items():
        if not isinstance(entry, dict):
            continue  # the hash of the calibration
        try:
            pose = np.array([float(entry[key]) for key in keys])
        except (KeyError, TypeError, ValueError) as error:
            raise DescriptionError(
                f'{source}: {name} must have {", ".join(keys)} ({error!r})'
            ) from error
        if not np.all(np.isfinite(pose)):
            raise DescriptionError(f'{source}: the pose of {name} is not finite')
        poses[f'{name}_link'] = pin.SE3(pin.rpy.rpyToMatrix(*pose[3:]), pose[:3])
    return poses


def calibrate(
    robot: RobotModel, text: str, calibration: DhCorrections | JointPoses, source: str
) -> str:
    """
    Return a URDF with the arm's own geometry.

    `robot` is the nominal arm, no joint locked, `text` its URDF; `source` names the calibration in
    errors. Raises DescriptionError if the arm has no standard Denavit-Hartenberg table to correct,
    the calibration does not fit it, or the axes of the calibration are not those of the arm, so
    that no dynamics can be built on them.
    """
    frames = (
        _frames_of_corrections(robot, calibration, source)
        if isinstance(calibration, DhCorrections)
        else _frames_of_poses(robot, calibration, source)
    )
    _check_physical(robot, frames, source)
    return _write_frames(robot, text, frames)


def _nominal_frames(model: pin.Model) -> list[pin.SE3]:
    """Return the joint frames in the root frame at zero, length n."""
    data = model.createData()
    pin.forwardKinematics(model, data, np.zeros(model.nq))
    return [data.oMi[joint].copy() for joint in range(1, model.njoints)]


def _frames_of_corrections(
    robot: RobotModel, corrections: DhCorrections, source: str
) -> list[pin.SE3]:
    """Return the calibrated joint frames at zero, each next to the nominal one on its axis."""
    table = robot.denavit_hartenberg
    if table is None or table.convention != 'standard' or not table.moving.all():
        raise DescriptionError(
            f'{source} corrects a standard Denavit-Hartenberg table; {robot.name} has none in its '
            'robot YAML, or joints are locked (name the arm with --robot)'
        )
    if corrections.d.size != table.d.size:
        raise DescriptionError(
            f'{source} has corrections for {corrections.d.size} joints, {robot.name} has '
            f'{table.d.size}'
        )
    if corrections.a[-1] != 0.0 or corrections.alpha[-1] != 0.0:
        raise DescriptionError(
            f'{source} corrects a or alpha of the last row of {robot.name}, behind its last axis, '
            'where no joint frame can take it up; a calibration of the controller has zeros there'
        )
    check_table(robot, table)
    corrected = replace(
        table,
        **{key: getattr(table, key) + getattr(corrections, key) for key in _CORRECTIONS},
    )
    nominal = _nominal_frames(robot.pinocchio)
    before, after = (_nominal_frames(each.build('mdh')[0]) for each in (table, corrected))
    _, directions, _ = joint_axes(robot.pinocchio)
    frames = [
        _seat(frame, z, axis) for frame, z, axis in zip(nominal, directions, after, strict=True)
    ]
    # The flange hangs on the last frame, whose place along its axis therefore matters.
    frames[-1] = after[-1] * before[-1].actInv(nominal[-1])
    return frames


def _seat(frame: pin.SE3, z: FloatArray, axis: pin.SE3) -> pin.SE3:
    """Return a frame turned least so that its joint's z is along an axis, moved least onto it."""
    direction = axis.rotation[:, 2]
    turn = pin.Quaternion.FromTwoVectors(z, direction).toRotationMatrix()
    along = direction @ (frame.translation - axis.translation)
    return pin.SE3(turn @ frame.rotation, axis.translation + along * direction)


def _frames_of_poses(robot: RobotModel, calibration: JointPoses, source: str) -> list[pin.SE3]:
    """Return the calibrated joint frames at zero; poses are those of URDF joints."""
    root = defusedxml.ElementTree.fromstring(robot.urdf.text)
    frames: list[pin.SE3] = []
    for joint, between in _joints_of(robot, root):
        link = str(joint.find('child').get('link'))
        if link not in calibration:
            raise DescriptionError(
                f'{source} has no pose of {link.removesuffix("_link")}; it has '
                f'{", ".join(name.removesuffix("_link") for name in calibration)}'
            )
        parent = frames[-1] if frames else pin.SE3.Identity()
        frames.append(parent * between * calibration[link])
    return frames


def _joints_of(robot: RobotModel, root: Any) -> list[tuple[Any, pin.SE3]]:
    """Return each joint's element, and the pose of its parent link in the joint frame before."""
    elements = {str(element.get('name')): element for element in root.findall('joint')}
    joints = [elements[joint] for joint in robot.joint_names]
    placements = list(robot.pinocchio.jointPlacements)[1:]
    return [
        (joint, placement * pose_in(joint.find('origin')).inverse())
        for joint, placement in zip(joints, placements, strict=True)
    ]


def _write_frames(robot: RobotModel, text: str, frames: list[pin.SE3]) -> str:
    """Return the URDF with the origins of its moving joints changed, nothing else."""
    root = defusedxml.ElementTree.fromstring(text, forbid_dtd=True)
    parent = pin.SE3.Identity()
    for (joint, between), frame in zip(_joints_of(robot, root), frames, strict=True):
        set_pose(joint, (parent * between).actInv(frame))
        parent = frame
    return f'<?xml version="1.0"?>\n{tostring(root, encoding="unicode")}\n'


def _check_physical(robot: RobotModel, frames: list[pin.SE3], source: str) -> None:
    _, directions, _ = joint_axes(robot.pinocchio)
    for joint, z, nominal, frame in zip(
        robot.joint_names, directions, _nominal_frames(robot.pinocchio), frames, strict=True
    ):
        shift = float(np.linalg.norm(frame.translation - nominal.translation))
        turned = frame.rotation @ nominal.rotation.T @ z
        tilt = float(np.linalg.norm(np.cross(turned, z)))
        if shift > LARGEST_SHIFT or tilt > LARGEST_TILT:
            raise DescriptionError(
                f'{source}: it puts the axis of {joint} {shift:.3g} m and {np.degrees(tilt):.3g} '
                f'deg from its nominal place in {robot.name} (at most {LARGEST_SHIFT} m and '
                f'{np.degrees(LARGEST_TILT):.2g} deg are credible). Is it the file of this '
                'arm, with all its digits? Corrections that fit flange poses and nothing else put '
                'links where no robot has them. Use the nominal URDF for dynamics, or the YAML of '
                "the ROS driver's calibration tool"
            )
