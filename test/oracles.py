# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Second opinions on rigid-body dynamics: formulas of the literature in plain numpy.

Arms are Denavit-Hartenberg tables of revolute and prismatic joints. Parameters of a link stand in
the order m, mx, my, mz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz, in the link's frame of the table and, for
the tensor, about its origin; the columns of a regressor are those of link 1, link 2, ...

References
----------
.. [1] J. Rajagopal, "Dynamic Robot Model Parameter Identification via Domain Specific
   Optimization", report, University of Applied Sciences Bonn-Rhein-Sieg 2017, chapter 3.
.. [2] M. Gautier and W. Khalil, "Direct calculation of minimum set of inertial parameters of
   serial robots", IEEE Trans. Robotics and Automation 6(3), 1990.

"""

from dataclasses import dataclass

import numpy as np

SYMBOLS = ('m', 'mx', 'my', 'mz', 'Ixx', 'Ixy', 'Iyy', 'Ixz', 'Iyz', 'Izz')
M, MX, MY, MZ, XX, XY, YY, XZ, YZ, ZZ = range(10)
# Places of the six numbers of a tensor, in the order of the parameters.
ROWS, COLUMNS = (0, 0, 1, 0, 1, 2), (0, 1, 1, 2, 2, 2)
# Of unit vectors: far above rounding, far below any angle in a table.
PARALLEL = 1e-9
# A smaller coefficient is the cosine of a right angle.
COEFFICIENT_TOLERANCE = 1e-12


@dataclass(frozen=True, eq=False)
class Chain:
    """A serial arm as a Denavit-Hartenberg table."""

    # Lengths [m] and angles [rad] (n,): the position of a prismatic joint is added to its d, that
    # of a revolute one to its offset.
    a: np.ndarray
    alpha: np.ndarray
    d: np.ndarray
    offset: np.ndarray
    prismatic: np.ndarray
    # Whether row i is Rz(theta) Tz(d) Tx(a) Rx(alpha), which puts the link's frame at its far end,
    # on the next axis; else it is Rx(alpha) Tx(a) Rz(theta) Tz(d), on its own axis.
    standard: bool

    @property
    def n(self):
        return len(self.a)

    def steps(self, q):
        """Return the pose of every link frame in the one before it, shape (n, 4, 4)."""
        slides = self.prismatic
        theta, length = self.offset + np.where(slides, 0, q), self.d + np.where(slides, q, 0)
        steps = []
        for row in range(self.n):
            normal = screw_x(self.alpha[row], self.a[row])
            along = screw_z(theta[row], length[row])
            steps.append(along @ normal if self.standard else normal @ along)
        return np.array(steps)

    def frames(self, q):
        """Return the pose of every link frame in the base, shape (n, 4, 4)."""
        frames, pose = [], np.eye(4)
        for step in self.steps(q):
            pose = pose @ step
            frames.append(pose)
        return np.array(frames)

    def axes(self, frames):
        """Return directions and points of the joint axes in the base, shapes (n, 3)."""
        # The axis of joint i is the z axis of link frame i (modified) or of the one before.
        if self.standard:
            frames = np.concatenate([np.eye(4)[None], frames[:-1]])
        return frames[:, :3, 2], frames[:, :3, 3]


def dh_chain(a, alpha, d, offset, convention, joint_types=None):
    """Return an arm from the columns of its table."""
    joint_types = joint_types or 'R' * len(a)
    columns = (np.asarray(column, dtype=float) for column in (a, alpha, d, offset))
    prismatic = np.array([letter == 'P' for letter in joint_types])
    return Chain(*columns, prismatic, convention == 'standard')


def screw_x(angle, length):
    """Return Rx(angle) Tx(length), shape (4, 4); the two commute."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1, 0, 0, length], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1]])


def screw_z(angle, length):
    """Return Rz(angle) Tz(length), shape (4, 4); the two commute."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, length], [0, 0, 0, 1]])


def skew(x):
    """Return the matrix of the cross product with x on the left, shape (3, 3)."""
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def unit_tensors():
    """Return the tensors of which one number is 1 (and its mirror), shape (6, 3, 3)."""
    tensors = np.zeros((6, 3, 3))
    tensors[range(6), ROWS, COLUMNS] = tensors[range(6), COLUMNS, ROWS] = 1.0
    return tensors


def newton_euler_regressor(chain, q, dq, ddq, gravity):
    """Return the regressor of the Newton-Euler equations, shape (n, 10 n) [1]_."""
    # Twists and their rates are carried forward in the base (eqs. 3.20 to 3.26), the wrench of
    # each link follows in its own frame (eq. 3.43) and is handed backward (eqs. 3.56 and 3.65).
    # Misprints of the report, here corrected: 3.20 and 3.56 transpose a rotation that has to take
    # vectors from the link's frame to the base, and from frame i + 1 to frame i; the product of
    # twists (3.27) has its blocks misplaced for twists with the linear part first; the selecting
    # vector of 3.65 has five entries in place of six.
    frames, steps = chain.frames(q), chain.steps(q)
    directions, points = chain.axes(frames)
    Y = np.zeros((chain.n, 10 * chain.n))
    v, w, dv, dw = np.zeros((4, 3))  # of the body's point in the base's origin, linear first
    for link in range(chain.n):
        z = directions[link]
        if chain.prismatic[link]:
            linear, angular = z, np.zeros(3)
        else:
            linear, angular = skew(points[link]) @ z, z
        v, w = v + linear * dq[link], w + angular * dq[link]
        dv = dv + linear * ddq[link] + (skew(w) @ linear + skew(v) @ angular) * dq[link]
        dw = dw + angular * ddq[link] + skew(w) @ angular * dq[link]
        R, p = frames[link, :3, :3], frames[link, :3, 3]
        ddp = dv + skew(dw) @ p + skew(w) @ (v + skew(w) @ p)
        wrench = _body_matrix(R.T @ (ddp - gravity), R.T @ w, R.T @ dw)
        for joint in range(link, -1, -1):
            handed = _transmission(steps[joint]) @ wrench
            at_axis = handed if chain.standard else wrench
            row = 2 if chain.prismatic[joint] else 5
            Y[joint, 10 * link: 10 * link + 10] = at_axis[row]
            wrench = handed
    return Y


def _body_matrix(free, w, dw):
    """Return force and moment per parameter (6, 10); `free` is acceleration less gravity."""
    A = np.zeros((6, 10))
    A[:3, M] = free
    A[:3, MX:XX] = skew(dw) + skew(w) @ skew(w)
    A[3:, MX:XX] = -skew(free)
    A[3:, XX:] = _dot_matrix(dw) + skew(w) @ _dot_matrix(w)
    return A


def _dot_matrix(w):
    """Return the matrix of I w = (...) (Ixx, Ixy, Iyy, Ixz, Iyz, Izz), shape (3, 6)."""
    return np.array([
        [w[0], w[1], 0, w[2], 0, 0],
        [0, w[0], w[1], 0, w[2], 0],
        [0, 0, 0, w[0], w[1], w[2]],
    ])


def _transmission(step):
    """Return the matrix that hands a wrench to the frame before, force first, shape (6, 6)."""
    R, t = step[:3, :3], step[:3, 3]
    return np.block([[R, np.zeros((3, 3))], [skew(t) @ R, R]])


def gautier_khalil(alpha, a, d, joint_types, gravity_along_first_axis, offset=None):
    """Return the base parameters of an arm in modified frames, in closed form [2]_."""
    # From tip to base, every revolute joint lets Iyy, mz and m of its link be written as
    # parameters of its own and the link before, every prismatic one the tensor. Near the base some
    # have no effect at all: a link that only slides has no first moment; one that turns about a
    # fixed direction only shows its inertia about this direction and no first moment along it; one
    # whose axis is fixed and vertical shows no first moment. Returned: name -> {name: factor}.
    n = len(joint_types)
    offset = np.zeros(n) if offset is None else np.asarray(offset, dtype=float)
    revolute = [letter == 'R' for letter in joint_types]
    first_revolute = revolute.index(True) if True in revolute else n
    # The direction of the first (revolute) axis in the frames of the links that keep it.
    turning = _kept_direction(alpha, offset, revolute, first_revolute)
    vertical = _kept_direction(alpha, offset, revolute, 0) if gravity_along_first_axis else {}

    # What each parameter of a link stands for, as a sum of standard ones.
    forms = np.eye(10 * n).reshape(n, 10, 10 * n)
    kept = np.ones((n, 10), dtype=bool)
    for link in range(n - 1, -1, -1):
        own = forms[link]
        before = forms[link - 1] if link else np.zeros((10, 10 * n))  # the base does not move
        direction = turning.get(link)
        if revolute[link]:
            _regroup_revolute(own, before, alpha[link], a[link], d[link])
            kept[link, [YY, MZ, M]] = False
            if direction is not None:
                kept[link, [XX, XY, XZ, YZ]] = False
                still = all(
                    _is_along_z(vertical.get(i)) and (i <= first_revolute or a[i] == 0.0)
                    for i in range(link + 1)
                )
                kept[link, [MX, MY]] = not still
        else:
            step = screw_x(alpha[link], a[link]) @ screw_z(offset[link], d[link])
            _regroup_tensor(own, before, step)
            kept[link, XX:] = False
            if link < first_revolute:
                kept[link, [MX, MY, MZ]] = False
            elif _is_along_z(direction):
                _regroup_across(own, before, step)
                kept[link, [MX, MY, MZ]] = False
            elif direction is not None:
                axis = max(i for i in range(3) if abs(direction[i]) > PARALLEL)
                for other in set(range(3)) - {axis}:
                    own[MX + other] -= direction[other] / direction[axis] * own[MX + axis]
                kept[link, MX + axis] = False
    names = [f'{symbol}{link + 1}' for link in range(n) for symbol in SYMBOLS]
    return {
        names[10 * link + index]: {
            names[column]: float(forms[link, index, column])
            for column in np.flatnonzero(np.abs(forms[link, index]) > COEFFICIENT_TOLERANCE)
        }
        for link, index in np.argwhere(kept)
    }


def _kept_direction(alpha, offset, revolute, first):
    """Return the direction of axis `first` in the frames of the links that keep it, by link."""
    # As long as no revolute axis has another direction; sliding does not turn it.
    directions, direction = {}, np.array([0.0, 0.0, 1.0])
    for link in range(first, len(revolute)):
        if link > first:
            direction = screw_x(alpha[link], 0.0)[:3, :3].T @ direction
        if revolute[link]:
            if not _is_along_z(direction):
                break
        elif link > first:
            direction = screw_z(offset[link], 0.0)[:3, :3].T @ direction
        directions[link] = direction
    return directions


def _is_along_z(direction):
    return direction is not None and np.hypot(direction[0], direction[1]) < PARALLEL


def _regroup_revolute(own, before, alpha, a, d):
    """Move Iyy, mz and m of a revolute joint's link, in place."""
    C, S = np.cos(alpha), np.sin(alpha)
    yy, mz, m = own[YY].copy(), own[MZ].copy(), own[M].copy()
    own[XX] -= yy
    before[XX] += yy + 2 * d * mz + d**2 * m
    before[XY] += a * S * (mz + d * m)
    before[XZ] -= a * C * (mz + d * m)
    before[YY] += C**2 * (yy + 2 * d * mz) + (a**2 + d**2 * C**2) * m
    before[YZ] += C * S * (yy + 2 * d * mz + d**2 * m)
    before[ZZ] += S**2 * (yy + 2 * d * mz) + (a**2 + d**2 * S**2) * m
    before[MX] += a * m
    before[MY] -= S * (mz + d * m)
    before[MZ] += C * (mz + d * m)
    before[M] += m


def _regroup_tensor(own, before, step):
    """Move the tensor of a prismatic joint's link, in place: it turns as the link before does."""
    R = step[:3, :3]
    for index, tensor in enumerate(unit_tensors()):
        turned = (R @ tensor @ R.T)[ROWS, COLUMNS]
        before[XX:] += np.outer(turned, own[XX + index])


def _regroup_across(own, before, step):
    """Move the first moments across the slide of a prismatic joint's link, in place."""
    # For a slide along the only axis of rotation: how far out the moment is does not matter.
    p = skew(step[:3, 3])
    for axis in range(2):
        h = step[:3, axis]
        before[MX:XX] += np.outer(h, own[MX + axis])
        tensor = -(p @ skew(h) + skew(h) @ p)
        before[XX:] += np.outer(tensor[ROWS, COLUMNS], own[MX + axis])
