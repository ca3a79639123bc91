# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Drive gains from motions without and with a known payload [1]_.

References
----------
.. [1] M. Gautier, S. Briot, "Global identification of joint drive gains and dynamic parameters of
   robots", J. Dynamic Systems, Measurement, and Control 136(5), 2014.

"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
import math

import numpy as np
from robot_identification.arrays import FloatArray, IntArray, triangle_of
from robot_identification.errors import NotIdentifiableError
from robot_identification.estimation import (
    Observations, QRAccumulator, RowTreatment, TIME_BLOCKS, TrainingData,
)
from robot_identification.model import (
    block_slices, inertial_regressor, joint_parameters, make_standard_parameters, Motion,
    parse_friction, Payload, PLAIN_FRICTION, reduce_to_base, RobotModel,
)
from robot_identification.processing import Dataset
from robot_identification.studies.drive_gains.estimate import (
    check_any_gain, check_error, DriveGain, DriveGains,
)

# What friction does below this is not Coulomb's law: such rows of a joint are left out [rad/s];
# chosen: as in the payload study.
SLOWEST = 0.05
# Singular values of scaled columns below this part of the largest are rounding.
ROUNDING = 1.0e-8
# Gauss-Newton steps at most, and the relative change that ends them; chosen: far below the
# standard errors, of 0.1 to 1 %.
MOST_STEPS, STEP = 50, 1.0e-6
_NO_SCALE = (
    "the payload's torque cannot be distinguished from the arm's own: record a motion without it "
    'and one with it, both of every joint'
)


def mixed_total_least_squares(
    exact: FloatArray, noisy: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """
    Return coefficients (k,) and (l,) with which noisy columns are a combination of exact ones.

    ``noisy @ of_noisy`` (m, l) is about ``exact @ of_exact`` (m, k), of_noisy having unit length
    and the noise of all its columns being equal. Orthogonal transformations remove the exact
    columns; what is left of the noisy ones is singular but for their noise, and the last right
    singular vector is of_noisy.
    """
    scale, left, values, right = _scaled_svd(exact)
    rest = noisy - left @ (left.T @ noisy)
    of_noisy = np.linalg.svd(rest, full_matrices=False)[2][-1]
    of_exact = right.T @ ((left.T @ (noisy @ of_noisy)) / values) / scale
    return of_exact, of_noisy


def payload_torque(robot: RobotModel, payload: Payload, motion: Motion) -> FloatArray:
    """Return the joint torques that a payload alone needs along a motion, (N, n) [N m]."""
    parameters = joint_parameters(robot, payload)
    torque = np.empty(motion.q.shape)
    for rows in block_slices(len(motion)):
        W = inertial_regressor(robot, motion.part(rows))
        torque[rows] = (W[:, -10:] @ parameters).reshape(-1, robot.n)
    return torque


def gains_from_motion(
    robot: RobotModel, bare: Sequence[Dataset], loaded: Sequence[Dataset], payload: Payload
) -> DriveGains:
    """
    Estimate drive gains from motions without and with a known payload, currents being the effort.

    For every joint, ``gain * current = W @ theta + payload's torque``, with the bare arm's base
    parameters theta unknown and the second term zero without the payload. The noise is in the
    currents, which are columns of the unknown gains: total least squares with the other columns
    exact give a start, from which the squares of the currents' own errors are minimized, joints
    weighted by their noise. The motions need not be the same; neither inertial parameters nor
    gains of the arm are used. Raise NotIdentifiableError if the scale or all gains are invisible.
    """
    datasets = [*bare, *loaded]
    added = [
        np.zeros(dataset.effort.shape) if number < len(bare)
        else payload_torque(robot, payload, dataset.motion)
        for number, dataset in enumerate(datasets)
    ]
    parts, samples = _factors(robot, datasets, added)
    width = parts[0][0].shape[1] if parts else 0
    moved = np.flatnonzero(samples > width)
    if not moved.size:
        raise NotIdentifiableError(_NO_SCALE)
    largest = np.max([np.abs(torques).max(axis=0) for torques in added], axis=0)
    found = _ScaledProblem(
        [robot.joint_names[joint] for joint in moved],
        [robot.unit('N m', joint) for joint in moved],
        [[part[joint] for joint in moved] for part in parts],
        samples[moved],
    ).solve(largest[moved])
    by_name = {gain.joint: gain for gain in found}
    joints = tuple(
        by_name.get(name, DriveGain(
            name,
            reason=f'it hardly moved faster than {SLOWEST:g} {robot.unit("rad/s", joint)}',
        ))
        for joint, name in enumerate(robot.joint_names)
    )
    check_any_gain(joints)
    return DriveGains(
        'payload_motion', 'known payload', 'measured current', joints,
        notes=tuple(note for dataset in datasets for note in dataset.notes),
    )


def _factors(
    robot: RobotModel, datasets: Sequence[Dataset], added: Sequence[FloatArray]
) -> tuple[list[list[FloatArray]], IntArray]:
    """
    Return triangular factors by part of the time and joint, and the samples of each joint.

    Columns are the bare arm's unknowns, the payload's torque and the current.
    """
    parameters = make_standard_parameters(
        robot.n, parse_friction(PLAIN_FRICTION), reflected_inertia=True
    )
    reduction = reduce_to_base(robot, parameters)
    observations = Observations(robot, reduction, [
        TrainingData(
            dataset, np.ones(robot.n),
            dataset.fitted & np.all(np.isfinite(dataset.effort), axis=1),
        )
        for dataset in datasets
    ], time_blocks=TIME_BLOCKS, treatment=RowTreatment(slowest=SLOWEST))
    samples = np.zeros(robot.n, dtype=int)
    width = reduction.rank + robot.n * (len(datasets) - 1) + 2
    parts: dict[int, list[QRAccumulator]] = defaultdict(
        lambda: [QRAccumulator(width) for _ in range(robot.n)]
    )
    for block in observations.blocks():
        labels = observations.label_blocks(block.bag, block.part)
        for joint, rows in enumerate(block.joints):
            table = np.zeros((len(rows.samples), width))
            table[:, observations.columns(joint)] = rows.table[:, :-1]
            table[:, -2], table[:, -1] = added[block.bag][rows.samples, joint], rows.tau
            samples[joint] += len(table)
            label = labels.by_time(rows.samples)
            for part in np.unique(label).tolist():
                parts[part][joint].add(table[label == part])
    return [[one.triangle() for one in parts[part]] for part in sorted(parts)], samples


class _ScaledProblem:
    """
    Currents of all joints, ``current_j = (W_j theta + payload_j) / gain_j + noise``.

    `parts` are triangular factors (k + 2, k + 2) of each part of the motions and each joint: of
    W_j, the payload's torque and the current; `samples` (n,) are the rows of each joint. `units`
    are those of the torques.
    """

    def __init__(
        self, names: Sequence[str], units: Sequence[str], parts: list[list[FloatArray]],
        samples: IntArray,
    ) -> None:
        self.names, self.units = names, units
        self.samples = samples
        self.n = len(names)
        whole = [
            triangle_of(np.asfortranarray(np.vstack([part[joint] for part in parts])))
            for joint in range(self.n)
        ]
        # Coordinates of what the base parameters can do in these motions: joints that stand do
        # not show all of them, and none of them is asked for.
        scale, _, values, right = _scaled_svd(np.vstack(whole)[:, :-2])
        basis = right[values > ROUNDING * values[0]].T / scale[:, None]
        self.whole = [_in_basis(triangle, basis) for triangle in whole]
        self.parts = [[_in_basis(triangle, basis) for triangle in part] for part in parts]

    def solve(self, largest: FloatArray) -> tuple[DriveGain, ...]:
        """Return the gains; `largest` (n,) is the payload's largest torque at each joint [N m]."""
        theta, inverse, weights = self._iterate(*self._start(), largest)
        scale, _, values, right = _scaled_svd(self._rows(self.whole, theta, inverse, weights)[1])
        root = (right.T / values) / scale[:, None]
        scores = []
        for part in self.parts:
            residual, of_part = self._rows(part, theta, inverse, weights)
            scores.append(root.T @ (of_part.T @ residual))
        count = len(scores)
        scatter = root @ np.array(scores).T
        variance = np.maximum(
            np.sum(scatter**2, axis=1) * count / max(count - 1, 1), np.sum(root**2, axis=1)
        )[len(theta):]
        return tuple(
            check_error(DriveGain(
                name, 1.0 / one, math.sqrt(of_one) / one**2, 0.0, points=count,
                both_sides=count, largest_torque=float(torque),
            ), unit)
            for name, unit, one, of_one, torque in zip(
                self.names, self.units, inverse, variance, largest, strict=True
            )
        )

    def _iterate(
        self, theta: FloatArray, inverse: FloatArray, largest: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return base parameters, inverse gains and weights (n,) of the least squared errors."""
        weights = np.ones(self.n)
        for _ in range(MOST_STEPS):
            residual, jacobian = self._rows(self.whole, theta, inverse, weights)
            scale, left, values, right = _scaled_svd(jacobian)
            _check_scale(values)
            step = -(right.T @ ((left.T @ residual) / values)) / scale
            theta, inverse = theta + step[: len(theta)], inverse + step[len(theta):]
            deviation = self._deviation(theta, inverse)
            changed = np.abs(deviation * weights - 1.0).max()
            weights = 1.0 / np.maximum(deviation, ROUNDING * np.abs(inverse) * largest.max())
            if np.abs(step[len(theta):]).max() < STEP * np.abs(inverse).max() and changed < STEP:
                break
        return theta, inverse, weights

    def _start(self) -> tuple[FloatArray, FloatArray]:
        """Return base parameters and inverse gains by total least squares."""
        exact = np.vstack([triangle[:, :-1] for triangle in self.whole])
        height = len(self.whole[0])
        noisy = np.zeros((len(exact), self.n))
        for joint, triangle in enumerate(self.whole):
            noisy[joint * height: (joint + 1) * height, joint] = triangle[:, -1]
        scale, _, values, _ = _scaled_svd(exact)
        _check_scale(values)
        of_exact, of_noisy = mixed_total_least_squares(exact, noisy)
        if abs(of_exact[-1]) * scale[-1] < ROUNDING or np.any(of_noisy == 0.0):
            raise NotIdentifiableError(_NO_SCALE)
        return of_exact[:-1] / of_exact[-1], of_exact[-1] / of_noisy

    def _rows(
        self, triangles: Sequence[FloatArray], theta: FloatArray, inverse: FloatArray,
        weights: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Return weighted errors of the currents, and their derivatives."""
        residuals, jacobians = [], []
        for joint, triangle in enumerate(triangles):
            torque = triangle[:, :-2] @ theta + triangle[:, -2]
            residuals.append(weights[joint] * (inverse[joint] * torque - triangle[:, -1]))
            of_gains = np.zeros((len(triangle), self.n))
            of_gains[:, joint] = torque
            jacobians.append(weights[joint] * np.hstack([
                inverse[joint] * triangle[:, :-2], of_gains,
            ]))
        return np.concatenate(residuals), np.vstack(jacobians)

    def _deviation(self, theta: FloatArray, inverse: FloatArray) -> FloatArray:
        """Return the standard deviation of the currents' errors, shape (n,) [A]."""
        squares = [
            float(np.sum((
                one * (triangle[:, :-2] @ theta + triangle[:, -2]) - triangle[:, -1]
            ) ** 2))
            for one, triangle in zip(inverse, self.whole, strict=True)
        ]
        freedom = np.maximum(self.samples - (len(theta) + self.n) / self.n, 1.0)
        deviation: FloatArray = np.sqrt(np.array(squares) / freedom)
        return deviation


def _scaled_svd(A: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the lengths of columns, and the thin SVD of the columns of unit length."""
    scale = np.maximum(np.linalg.norm(A, axis=0), np.finfo(float).tiny)
    return (scale, *np.linalg.svd(A / scale, full_matrices=False))


def _check_scale(values: FloatArray) -> None:
    """Refuse singular values (descending) of which the last is rounding."""
    if not values[-1] > ROUNDING * values[0]:
        raise NotIdentifiableError(_NO_SCALE)


def _in_basis(triangle: FloatArray, basis: FloatArray) -> FloatArray:
    return np.hstack([triangle[:, :-2] @ basis, triangle[:, -2:]])
