# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Denavit-Hartenberg tables, standard and modified, given or derived from an arm's joint axes.

Both conventions put x along the common normals of successive axes. They differ in which axis
carries the frame of link i: its own (modified) or the next one (standard). So one chain of axis
frames serves both.

References
----------
.. [1] W. Khalil and J.-F. Kleinfinger, "A new geometric notation for open and closed-loop
   robots", IEEE ICRA 1986 (modified).
.. [2] G. Porcelli, master thesis, Politecnico di Torino 2020, eq. 2.2 (standard; the sign of
   element (1, 2) is corrected).

"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin
from robot_identification.arrays import FloatArray
from robot_identification.errors import DescriptionError

CONVENTIONS = ('standard', 'modified')
# Below this sine two axes count as parallel, and below this error a table describes an arm: files
# and papers give angles and lengths to six digits or more.
PARALLEL = 1.0e-5
# Below this distance [m] two axes count as meeting.
MEETING = 1.0e-8


@dataclass(frozen=True)
class DenavitHartenberg:
    """A table of rows, one for every joint, locked ones included."""

    # 'standard': row i is Rz(theta) Tz(d) Tx(a) Rx(alpha). 'modified': Rx(alpha) Tx(a) Rz(theta)
    # Tz(d), where a and alpha of row i are those between the axes i - 1 and i.
    convention: str
    a: FloatArray  # (r,) [m]
    alpha: FloatArray  # (r,) [rad]
    d: FloatArray  # (r,) [m]
    theta: FloatArray  # (r,), the offset that is added to the joint's position [rad]
    prismatic: np.ndarray  # (r,): whether the joint's position is added to d instead of theta
    locked: FloatArray  # (r,): position of a locked joint [rad or m]; NaN where the joint moves
    base: FloatArray  # (4, 4): pose of the table's base in the root frame of the robot

    def __post_init__(self) -> None:
        if self.convention not in CONVENTIONS:
            raise DescriptionError(
                f'convention is {self.convention!r}, it must be {" or ".join(CONVENTIONS)}'
            )
        columns = (self.a, self.alpha, self.d, self.theta, self.prismatic, self.locked)
        if len({column.shape for column in columns}) != 1 or self.a.ndim != 1:
            raise DescriptionError(
                'a, alpha, d and theta must have one number for every joint, they have '
                f'{", ".join(str(column.size) for column in columns[:4])}'
            )

    @property
    def moving(self) -> np.ndarray:
        """Rows whose joint moves, bool, shape (r,)."""
        return np.isnan(self.locked)

    def joint_placements(self) -> list[pin.SE3]:
        """
        Return where the axis frame of every row stands in the one before it, at zero, length r.

        The axis frame turns (or slides) with the joint: z is the axis, x the common normal with
        the next axis. The first one is placed in the root frame.
        """
        standard = self.convention == 'standard'
        placements, before = [], pin.SE3(self.base)
        for row in range(self.a.size):
            if not standard:
                before = before * self.normal(row)
            # Rz(theta) Tz(d).
            along = pin.SE3(pin.utils.rotate('z', self.theta[row]), self.d[row] * np.eye(3)[2])
            placements.append(before * along)
            before = self.normal(row) if standard else pin.SE3.Identity()
        return placements

    def link_placements(self, frames: str) -> list[pin.SE3]:
        """Return link frames in axis frames, length r: dh on the next axis, mdh on their own."""
        if frames == 'mdh':
            return [pin.SE3.Identity() for _ in self.a]
        if self.convention == 'standard':
            return [self.normal(row) for row in range(self.a.size)]
        # The last link has no next axis: its frame stays on its own.
        return [self.normal(row) for row in range(1, self.a.size)] + [pin.SE3.Identity()]

    def normal(self, row: int) -> pin.SE3:
        """Return Tx(a) Rx(alpha) of a row; the two commute."""
        return pin.SE3(pin.utils.rotate('x', self.alpha[row]), np.array([self.a[row], 0.0, 0.0]))

    def constants(self) -> dict[str, float]:
        """
        Return the lengths that shape the arm, by name: a and d with the row's number [m].

        Left out are zeros, what only moves the whole arm, and the d of a prismatic joint.
        """
        standard = self.convention == 'standard'
        lengths = {}
        for row in range(self.a.size):
            first = row == 0
            if abs(self.a[row]) > MEETING and (standard or not first):
                lengths[f'a{row + 1}'] = float(self.a[row])
            if abs(self.d[row]) > MEETING and not first and not self.prismatic[row]:
                lengths[f'd{row + 1}'] = float(self.d[row])
        return lengths

    def with_constants(self, values: dict[str, float]) -> DenavitHartenberg:
        """Return the table with other lengths; see `constants`."""
        a, d = self.a.copy(), self.d.copy()
        for name, value in values.items():
            (a if name[0] == 'a' else d)[int(name[1:]) - 1] = value
        return replace(self, a=a, d=d)

    def build(self, frames: str) -> tuple[pin.Model, list[pin.SE3]]:
        """
        Return a massless Pinocchio model of the moving joints, and their link frames.

        The joint frames of the model are the axis frames; the link frames, of the kind `frames`
        ('dh' or 'mdh'), are in the joint frame of each moving joint.
        """
        model, parent, before, chosen = pin.Model(), 0, pin.SE3.Identity(), []
        links = self.link_placements(frames)
        for row, placement in enumerate(self.joint_placements()):
            before = before * placement
            if self.moving[row]:
                joint = pin.JointModelPZ() if self.prismatic[row] else pin.JointModelRZ()
                parent = model.addJoint(parent, joint, before, f'row{row + 1}')
                before = pin.SE3.Identity()
                chosen.append(links[row])
            elif self.prismatic[row]:
                before = before * pin.SE3(np.eye(3), np.array([0.0, 0.0, self.locked[row]]))
            else:
                turned = pin.utils.rotate('z', self.locked[row])
                before = before * pin.SE3(turned, np.zeros(3))
        return model, chosen


def joint_axes(model: pin.Model) -> tuple[FloatArray, FloatArray, np.ndarray]:
    """
    Return the joint axes of a Pinocchio model at its zero position, in the root frame.

    They are the origins of the joint frames (n, 3) [m], the unit vectors of the axes (n, 3), and
    which joints are prismatic (n,).
    """
    data = model.createData()
    pin.computeJointJacobians(model, data, np.zeros(model.nq))
    points, directions, prismatic = [], [], []
    for joint in range(1, model.njoints):
        pose = data.oMi[joint]
        linear, angular = np.split(np.asarray(data.joints[joint].S).ravel(), 2)
        slides = bool(np.linalg.norm(angular) < 0.5)
        points.append(pose.translation)
        directions.append(pose.rotation @ (linear if slides else angular))
        prismatic.append(slides)
    return np.array(points), np.array(directions), np.array(prismatic)


def derive_table(model: pin.Model) -> DenavitHartenberg:
    """
    Derive the modified table of a serial arm from its joint axes.

    Where the convention leaves a choice: between parallel axes the normal starts where the one
    before it ended (d is zero), x between axes that meet is their cross product, and the last
    frame stands where the last normal ends. Raises DescriptionError if the arm branches.
    """
    if list(model.parents)[1:] != list(range(model.njoints - 1)):
        raise DescriptionError(
            f'{model.name} branches: Denavit-Hartenberg frames are those of one chain; name its '
            'joints with --joints'
        )
    points, directions, prismatic = joint_axes(model)
    frames: list[pin.SE3] = []
    start, x = points[0], _any_normal(directions[0])
    axes = list(zip(points, directions, strict=True))
    for row, z in enumerate(directions):
        if row + 1 < len(directions):
            start, end, x = _common_normal(start, x, axes[row], axes[row + 1])
        else:
            # Without a next axis: x as before, made perpendicular to this axis.
            end = start
            across = x - (x @ z) * z
            x = across / np.linalg.norm(across) if np.linalg.norm(across) > 0.1 \
                else _any_normal(z)
        frames.append(pin.SE3(np.column_stack([x, np.cross(z, x), z]), start))
        start = end
    rows = np.zeros((len(frames), 4))
    for row in range(1, len(frames)):
        rows[row] = _modified_row(frames[row - 1].inverse() * frames[row])
    return DenavitHartenberg(
        'modified', rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3], prismatic,
        np.full(len(frames), np.nan), frames[0].homogeneous,
    )


def _any_normal(z: FloatArray) -> FloatArray:
    """Return a unit vector perpendicular to z, the same for the same z."""
    across = np.cross(np.eye(3)[np.argmin(np.abs(z))], z)
    normal: FloatArray = across / np.linalg.norm(across)
    return normal


def _common_normal(
    start: FloatArray, x: FloatArray, axis: tuple[FloatArray, FloatArray],
    following: tuple[FloatArray, FloatArray],
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """
    Return where the common normal leaves an axis, where it reaches the next, and its x.

    An axis is a point and a direction; `start` and `x` are of the normal before.
    """
    (point, z), (next_point, next_z) = axis, following
    cross = np.cross(z, next_z)
    sine = float(np.linalg.norm(cross))
    if sine < PARALLEL:
        apart = next_point - start
        apart = apart - (apart @ z) * z
        length = float(np.linalg.norm(apart))
        if length < MEETING:
            across = x - (x @ z) * z
            size = float(np.linalg.norm(across))
            return start, start, across / size if size > 0.1 else _any_normal(z)
        return start, start + apart, apart / length
    along, next_along = np.linalg.lstsq(
        np.column_stack([z, -next_z]), next_point - point, rcond=None
    )[0]
    foot, next_foot = point + along * z, next_point + next_along * next_z
    apart = next_foot - foot
    length = float(np.linalg.norm(apart))
    return foot, next_foot, cross / sine if length < MEETING else apart / length


def _modified_row(relative: pin.SE3) -> tuple[float, float, float, float]:
    """Return a, alpha, d, theta of Rx(alpha) Tx(a) Rz(theta) Tz(d)."""
    R, p = relative.rotation, relative.translation
    alpha = np.arctan2(-R[1, 2], R[2, 2])
    theta = np.arctan2(-R[0, 1], R[0, 0])
    return p[0], alpha, -np.sin(alpha) * p[1] + np.cos(alpha) * p[2], theta
