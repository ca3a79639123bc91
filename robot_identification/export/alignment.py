# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Lay one description of an arm over another one by the axes of their joints."""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from robot_identification.arrays import FloatArray
from robot_identification.errors import DescriptionError
import scipy

# By which the axes of two descriptions of one arm may differ [m], [rad]: lengths of published
# scenes are rounded to millimetres, which adds up along an arm.
SAME_AXIS = (5.0e-3, 0.02)
# What is not worth a word [m], [rad].
ROUNDING = 1.0e-6
# A metre counts as much as a radian here: arms are about a metre long.


@dataclass(frozen=True, eq=False)
class ArmAxes:
    """Joints of an arm at position zero, in one frame."""

    names: tuple[str, ...]
    parents: tuple[int, ...]  # index of the joint before; -1 is what stands still
    is_prismatic: tuple[bool, ...]
    poses: tuple[pin.SE3, ...]  # of the frames that bodies are stated in
    points: FloatArray  # (n, 3): on the axes [m]
    directions: FloatArray  # (n, 3): of the axes


@dataclass(frozen=True, eq=False)
class Alignment:
    """An arm as it lies over another one."""

    poses: tuple[pin.SE3, ...]  # of the arm's frames in the other's world
    rotation: FloatArray  # (3, 3): of the arm as a whole
    misfit: str  # what is to be said of it; empty where there is none


def align_arms(arm: ArmAxes, target: ArmAxes, source: str) -> Alignment:
    """
    Return an arm as it lies over another one.

    The whole arm is moved so that its axes lie on the target's as well as they can, then each
    frame alone so that its own axis does; along an axis and about it nothing is changed. Raises
    DescriptionError, naming the joint, if order, kind or axes are others.
    """
    for name, before, other_before, slides, other_slides in zip(
        target.names, arm.parents, target.parents, arm.is_prismatic, target.is_prismatic,
        strict=True,
    ):
        difference = ''
        if before != other_before:
            names = ['the base' if k < 0 else arm.names[k] for k in (other_before, before)]
            difference = 'follows {!r:.80}, in the model it follows {!r:.80}'.format(*names)
        elif slides != other_slides:
            kinds = ['slides' if one else 'turns' for one in (other_slides, slides)]
            difference = '{}, in the model it {}'.format(*kinds)
        if difference:
            raise DescriptionError(
                f'{source}: joint {name!r:.80} {difference}: name the scene of the arm that was '
                'identified'
            )
    move = _fit(arm, target)
    poses, distances, angles = [], [], []
    for k, pose in enumerate(arm.poses):
        point, axis = move.act(arm.points[k]), move.rotation @ arm.directions[k]
        turn = pin.Quaternion.FromTwoVectors(axis, target.directions[k]).toRotationMatrix()
        gap = np.zeros(3) if arm.is_prismatic[k] else _across(
            target.points[k] - point, target.directions[k]
        )
        distances.append(float(np.linalg.norm(gap)))
        angles.append(float(np.linalg.norm(pin.log3(turn))))
        about = pin.SE3(turn, point + gap - turn @ point)
        poses.append(about * move * pose)
    parts = np.array([distances, angles]) / np.array(SAME_AXIS)[:, None]
    worst = int(np.argmax(parts.max(axis=0)))
    if parts.max() > 1.0:
        raise DescriptionError(
            f'{source}: the axis of joint {target.names[worst]!r:.80} is {distances[worst]:.2g} m '
            f'and {angles[worst]:.2g} rad from where the model has it at position zero, at most '
            f'{SAME_AXIS[0]:g} m and {SAME_AXIS[1]:g} rad are rounding: this is another arm, or '
            'its joints have other zero positions or directions'
        )
    if max(distances) <= ROUNDING and max(angles) <= ROUNDING:
        return Alignment(tuple(poses), move.rotation, '')
    worst = int(np.argmax(distances))
    return Alignment(tuple(poses), move.rotation, (
        f'axes of the joints lie up to {1e3 * distances[worst]:.2g} mm ({target.names[worst]}) '
        f'and {max(angles):.2g} rad from where the model has them: bodies were put on their own '
        'axes, and torques differ by that much of an arm'
    ))


def _across(vector: FloatArray, axis: FloatArray) -> FloatArray:
    """Return the part of a vector that is square to an axis of length one."""
    return vector - (vector @ axis) * axis


def _fit(arm: ArmAxes, target: ArmAxes) -> pin.SE3:
    """Return the motion of an arm as a whole with the least squares of distances and angles."""

    def misfit(motion: FloatArray, start: FloatArray) -> FloatArray:
        rotation = pin.exp3(motion[3:]) @ start
        parts = []
        for k, axis in enumerate(target.directions):
            parts.append(rotation @ arm.directions[k] - axis)
            if not arm.is_prismatic[k]:
                point = rotation @ arm.points[k] + motion[:3]
                parts.append(_across(point - target.points[k], axis))
        return np.concatenate(parts)

    best, least = pin.SE3.Identity(), np.inf
    # The rotations that take axes to axes, from the least turn on (the largest trace), so that one
    # of several that fit alike is the nearest.
    turns = np.round(scipy.spatial.transform.Rotation.create_group('O').as_matrix())
    for start in sorted(turns, key=np.trace, reverse=True):
        found = scipy.optimize.least_squares(
            misfit, np.zeros(6), args=(start,), xtol=1e-15, ftol=1e-15, gtol=1e-15,
        )
        if found.cost < 0.5 * least - ROUNDING**2:
            least = found.cost
            best = pin.SE3(pin.exp3(found.x[3:]) @ start, found.x[:3])
        if least < ROUNDING**2:
            break
    return best
