# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Data of all tests: one thinned problem, and its fit as it was recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray, IntArray, triangle_of
from robot_identification.model import (
    BaseReduction, inertial_regressor, KinematicFilter, Motion, prior_inertial_parameters,
    reduce_to_base, rigid_torque, RobotModel, run_stops, StandardParameters,
)
from robot_identification.processing import Dataset, low_pass
from robot_identification.validation.data_warnings.likelihood import (
    Blocks, fit_blocks, JointFit, Prior, reduce_rows,
)
from robot_identification.validation.data_warnings.thresholds import (
    BAND, CENTRE_SHARE, FLOOR, INERTIA_SHARE, LONGEST_STEP, MASS_SHARE, SAMPLES,
    TOOL_SHARE, WINDOWS,
)
from robot_identification.validation.whiteness import autocovariance, independent_share
import scipy

# Widths of the smooth steps that stand for dry friction [rad/s], and displacements before sliding
# [rad]: a few of those of the dictionary.
SLIDING_WIDTHS = (0.005, 0.02, 0.1, 0.3)
PRESLIDING_RADII = np.array([0.002, 0.02, 0.1])
# Parameters below this share of an arm's largest mass or inertia are not stated by its URDF.
SMALLEST_BODY = 1.0e-3
# Left out at both ends of a part without a gap: smoothed kinematics are worst there [s].
EDGE = 0.75
# No window has fewer samples, and no test is made with fewer in all.
FEWEST_IN_WINDOW, FEWEST_SAMPLES = 40, 200


@dataclass(frozen=True, eq=False)
class Window:
    """Consecutive samples of a recording without a gap: every step-th of `samples` is used."""

    recording: int
    samples: IntArray
    step: int
    rate: float

    @property
    def rows(self) -> IntArray:
        """Return the samples of the recording that are used, shape (m,)."""
        chosen: IntArray = self.samples[:: self.step]
        return chosen


@dataclass(frozen=True, eq=False)
class Evidence:
    """A thinned identification problem with plain friction, as the tests need it."""

    robot: RobotModel  # the arm as it is described, of n joints
    datasets: tuple[Dataset, ...]  # training data
    windows: tuple[Window, ...]  # the M samples that are looked at
    columns: IntArray  # (b,) independent inertial columns
    motion: Motion  # at the M samples
    torque: FloatArray  # (M, n) measured torque of the joints [N m]
    # (m, f) for each joint what acts on it alone under any load: friction, rotor, and an offset
    # of each recording; orthonormal, in the band of the motion
    unloaded: tuple[FloatArray, ...]
    # (m, f + 1) the same with friction in proportion to the load that the URDF's bodies put on the
    # joint
    friction: tuple[FloatArray, ...]
    deviation: FloatArray  # (n,) standard deviation of the torque [N m]; 1 where it is constant
    prior: Prior  # what the URDF says
    tool_prior: Prior  # what it says of an arm whose last link may carry a tool
    relative_scale: bool  # whether torques are per unknown drive gain
    blocks: Blocks  # rows of each joint, reduced; the first target is the measured torque
    # (n,) number of independent samples that the residual of each joint is worth
    independent: FloatArray
    fit: JointFit  # the fit

    def in_band(self, values: FloatArray) -> FloatArray:
        """Return the signals, shape (M, ..), in the band of the motion, shape (m, ..)."""
        return band_limited(values, self.windows)

    def regressor(self, motion: Motion | None = None, robot: RobotModel | None = None
                  ) -> FloatArray:
        """Return what bodies do along a motion, by default this one, shape (M, n, b)."""
        motion = self.motion if motion is None else motion
        rows = inertial_regressor(self.robot if robot is None else robot, motion)
        return rows.reshape(len(motion), self.robot.n, -1)[:, :, self.columns]

    @property
    def carried(self) -> FloatArray:
        """Return the share (n,) of the deviation of each torque that friction does not explain."""
        share: FloatArray = np.linalg.norm(self.blocks.targets[:, :, 0], axis=1)
        return share

    @property
    def parts(self) -> list[tuple[slice, float]]:
        """Runs of consecutive samples in the band (m,), and their rate [Hz]."""
        found, first = [], 0
        for window in self.windows:
            step = band_step(window)
            count = len(range(0, len(window.rows), step))
            found.append((slice(first, first + count), window.rate / step))
            first += count
        return found

    def place_in_band(self, at: int) -> tuple[str, float]:
        """Return the recording of one of the samples in the band, and its time there [s]."""
        for window in self.windows:
            rows = window.rows[:: band_step(window)]
            if at < len(rows):
                break
            at -= len(rows)
        dataset = self.datasets[window.recording]
        return dataset.source, float(dataset.stamps[rows[at]] - dataset.stamps[0])

    def with_offset(self, joint: int, offset: float) -> Motion:
        """Return the motion with a joint's positions moved by an offset [rad]."""
        q = self.motion.q.copy()
        q[:, joint] += offset
        return Motion(q, self.motion.dq, self.motion.ddq)

    def reduce(self, regressor: FloatArray, targets: FloatArray) -> Blocks:
        """Return the reduced rows of a regressor (M, n, b) and some torques (M, n, m)."""
        return reduce_rows(
            self.in_band(regressor), self.friction, self.in_band(targets), self.deviation
        )

    def explain(
        self,
        blocks: Blocks | None = None,
        target: FloatArray | None = None,
        scale: FloatArray | float = 1.0,
        prior: Prior | None = None,
    ) -> JointFit:
        """Return the fit of other rows, torques (n, h), scale of the torques, or prior."""
        blocks = self.blocks if blocks is None else blocks
        return fit_blocks(
            blocks, blocks.targets[:, :, 0] if target is None else target,
            self.prior if prior is None else prior, self.independent, scale,
        )

    def gain(self, fit: JointFit) -> float:
        """Return by how much the logarithm of the posterior of a fit is above that of the data."""
        return self.fit.score - fit.score

    def fall(self, fit: JointFit) -> float:
        """Return by how much the logarithms of the residuals' variances fall in a fit, added."""
        return float(np.sum(
            np.log(self.fit.variance + FLOOR**2) - np.log(fit.variance + FLOOR**2)
        ))

    def torque_at(self, shift: float) -> FloatArray:
        """
        Return the torque that was measured `shift` [s] after the samples, shape (M, n).

        It is that of the nearest joint state: between two of them it would have less noise than at
        one, and a fit to it less of a residual, at any shift.
        """
        parts = []
        for window in self.windows:
            dataset = self.datasets[window.recording]
            rows = window.rows + round(shift * dataset.rate)
            effort = dataset.effort[np.clip(rows, 0, len(dataset) - 1)]
            known = np.isfinite(effort).all(axis=1)
            if not known.all():
                effort = np.column_stack([
                    np.interp(rows, rows[known], column[known]) for column in effort.T
                ])
            parts.append(dataset.torque_per_effort(self.robot) * effort)
        return np.concatenate(parts)

    def names(self, joints: Sequence[int]) -> tuple[str, ...]:
        """Return the names of joints."""
        return tuple(self.robot.joint_names[joint] for joint in joints)


def gather(
    robot: RobotModel,
    datasets: Sequence[Dataset],
    *,
    relative_scale: bool = False,
    with_tool: bool = False,
) -> Evidence | None:
    """Make the thinned problem of the tests, `with_tool` of an arm that may carry one."""
    windows = choose_windows(datasets)
    reduction = reduce_to_base(robot, StandardParameters(robot.n, (), True))
    columns = reduction.independent[reduction.independent < 10 * robot.n]
    if sum(len(window.rows) for window in windows) < FEWEST_SAMPLES:
        return None
    motion = join_motions([datasets[one.recording].motion.rows(one.rows) for one in windows])
    torque = np.concatenate([
        datasets[one.recording].effort[one.rows]
        * datasets[one.recording].torque_per_effort(robot)
        for one in windows
    ])
    unloaded = friction_bases(robot, datasets, windows, motion)
    friction = add_load(unloaded, robot, motion, windows)
    deviation = np.std(torque, axis=0)
    deviation = np.where(deviation > 1e-9 * np.abs(torque).max(initial=1e-300), deviation, 1.0)
    tool_prior = make_prior(robot, reduction, stated=not relative_scale, with_tool=True)
    prior = (
        tool_prior if with_tool else make_prior(robot, reduction, stated=not relative_scale)
    )
    # The fit decides how many independent samples its residual is worth, and these the fit. An
    # effort that never changes is no measurement, and worth none.
    changing = (np.ptp(torque, axis=0) > 0.0).astype(float)
    independent = changing * FEWEST_IN_WINDOW
    regressor = inertial_regressor(robot, motion).reshape(len(motion), robot.n, -1)[:, :, columns]
    rows, targets = band_limited(regressor, windows), band_limited(torque, windows)
    blocks = reduce_rows(rows, friction, targets[:, :, None], deviation)
    fit = fit_blocks(blocks, blocks.targets[:, :, 0], prior, independent)
    residual = targets - np.einsum('knb,b->kn', rows, fit.theta)
    residual = np.column_stack([
        r - basis @ (basis.T @ r) for r, basis in zip(residual.T, friction, strict=True)
    ])
    products = autocovariance(residual, min(len(residual) - 1, len(residual) // 4))
    independent = changing * np.array([
        len(residual) * independent_share(own, len(residual)) for own in products
    ])
    return Evidence(
        robot, tuple(datasets), windows, columns, motion, torque, unloaded, friction,
        deviation, prior, tool_prior, relative_scale, blocks, independent,
        fit_blocks(blocks, blocks.targets[:, :, 0], prior, independent),
    )


def choose_windows(datasets: Sequence[Dataset]) -> tuple[Window, ...]:
    """Choose consecutive samples of the recordings, evenly thinned."""
    runs = [
        (number, rows)
        for number, dataset in enumerate(datasets) for segment in dataset.segments
        if len(rows := _away_from_edges(dataset, segment)) > FEWEST_IN_WINDOW
    ]
    if not runs:
        return ()
    seconds = sum(len(rows) / datasets[number].rate for number, rows in runs)
    # Of a recording with fewer samples than that, every one is used.
    slowest = max(1.0 / datasets[number].rate for number, _ in runs)
    step_time = min(seconds / SAMPLES, max(LONGEST_STEP, slowest))
    share = min(1.0, SAMPLES * step_time / seconds)
    windows = []
    for number, rows in runs:
        step = max(round(step_time * datasets[number].rate), 1)
        parts = [rows] if share == 1.0 else [
            part[: int(share * len(part))] for part in np.array_split(rows, WINDOWS)
        ]
        windows += [
            Window(number, part, step, datasets[number].rate / step)
            for part in parts if len(part) > FEWEST_IN_WINDOW * step
        ]
    return tuple(windows)


def _away_from_edges(dataset: Dataset, segment: slice) -> IntArray:
    """Return the fitted samples of a segment at which its kinematics are settled."""
    edge = int(EDGE * dataset.rate)
    inside = slice(segment.start + edge, segment.stop - edge)
    rows: IntArray = inside.start + np.flatnonzero(dataset.fitted[inside])
    return rows


def join_motions(parts: Sequence[Motion]) -> Motion:
    """Return the kinematics of some motions as one."""
    return Motion(*(
        np.concatenate([getattr(part, name) for part in parts]) for name in ('q', 'dq', 'ddq')
    ))


def band_limited(values: FloatArray, windows: Sequence[Window]) -> FloatArray:
    """Return signals (M, ..) in the band of the motion (m, ..), where noise hides less."""
    parts, first = [], 0
    for window in windows:
        part = values[first: first + len(window.rows)]
        first += len(part)
        if window.rate > 4.0 * BAND:
            flat = part.reshape(len(part), -1)
            flat = low_pass(flat, window.rate, KinematicFilter(order=2, cutoff=BAND))
            part = flat.reshape(part.shape)[:: band_step(window)]
        parts.append(part)
    return np.concatenate(parts)


def band_step(window: Window) -> int:
    """Return which of a window's samples are as many as the band leaves meaning."""
    return max(int(window.rate / (3.0 * BAND)), 1) if window.rate > 4.0 * BAND else 1


def friction_bases(
    robot: RobotModel,
    datasets: Sequence[Dataset],
    windows: Sequence[Window],
    motion: Motion,
) -> tuple[FloatArray, ...]:
    """Return orthonormal columns (m, f) for each joint of what acts on it under any load."""
    recording = np.concatenate([np.full(len(one.rows), one.recording) for one in windows])
    offsets = (recording[:, None] == np.unique(recording)).astype(float)
    bases = []
    for joint in range(robot.n):
        dq = motion.dq[:, joint]
        stops = np.concatenate([
            run_stops(
                raw := datasets[one.recording].motion.q[one.samples, joint],
                PRESLIDING_RADII, np.zeros(len(PRESLIDING_RADII)), float(raw[0]),
            )[:: one.step]
            for one in windows
        ])
        sliding, q = np.tanh(dq / SLIDING_WIDTHS[1]), motion.q[:, joint]
        columns = np.column_stack([
            offsets, dq, np.abs(dq), dq * np.abs(dq), motion.ddq[:, joint],
            *(np.tanh(dq / width) for width in SLIDING_WIDTHS), stops,
            # Friction varies with the pose.
            np.sin(q) * sliding, np.cos(q) * sliding,
        ])
        bases.append(orthonormal(band_limited(columns, windows)))
    return tuple(bases)


def add_load(
    unloaded: Sequence[FloatArray],
    robot: RobotModel,
    motion: Motion,
    windows: Sequence[Window],
) -> tuple[FloatArray, ...]:
    """
    Return columns of friction (m, f) of each joint with one more in proportion to the load.

    The load is that of the robot's bodies at the M samples of all windows.
    """
    load = np.abs(rigid_torque(robot, motion)) * np.tanh(motion.dq / SLIDING_WIDTHS[1])
    bases = []
    for basis, column in zip(unloaded, band_limited(load, windows).T, strict=True):
        size = np.linalg.norm(column)
        left = column - basis @ (basis.T @ column)
        left -= basis @ (basis.T @ left)
        rest = np.linalg.norm(left)
        bases.append(
            np.column_stack([basis, left / rest]) if rest > 1e-6 * size else basis
        )
    return tuple(bases)


def orthonormal(columns: FloatArray) -> FloatArray:
    """Return an orthonormal basis of what some columns span."""
    size = np.linalg.norm(columns, axis=0)
    U, s, _ = np.linalg.svd(columns[:, size > 0.0] / size[size > 0.0], full_matrices=False)
    basis: FloatArray = U[:, s > 1e-6 * s[0]]
    return basis


def make_prior(
    robot: RobotModel, reduction: BaseReduction, *, stated: bool, with_tool: bool = False
) -> Prior:
    """Return what the URDF says of the independent inertial columns, if it is `stated`."""
    rows = np.flatnonzero(reduction.independent < 10 * robot.n)
    inertial = prior_inertial_parameters(robot)
    # Masses that all lie in their joints give no length, and so no width of anything.
    if not stated or not np.any(inertial.reshape(-1, 10)[:, 4:]):
        return Prior(np.zeros((0, len(rows))), np.zeros(0))
    parameters = reduction.parameters
    mean, deviation = np.zeros(parameters.size), np.zeros(parameters.size)
    mean[: inertial.size] = inertial
    deviation[: inertial.size] = body_deviation(inertial)
    if with_tool:
        last = slice(inertial.size - 10, inertial.size)
        deviation[last] = np.maximum(deviation[last], tool_deviation(robot))
    # A URDF does not state rotors.
    deviation[parameters.reflected_inertia_slice] = 10.0 * np.abs(inertial).max()
    K = reduction.K[rows]
    lower = triangle_of(np.asfortranarray((K * deviation).T)).T
    whitening = scipy.linalg.solve_triangular(lower, np.eye(len(rows)), lower=True)
    return Prior(whitening, whitening @ (K @ mean))


def body_deviation(inertial: FloatArray) -> FloatArray:
    """Return how far inertial parameters (10 n,) of a URDF may be wrong."""
    links = inertial.reshape(-1, 10)
    mass = np.maximum(links[:, 0], SMALLEST_BODY * links[:, 0].max())
    moment = 0.5 * (links[:, 4] + links[:, 6] + links[:, 9])
    moment = np.maximum(moment, SMALLEST_BODY * moment.max())
    # Distance of the mass from the joint, in the mean.
    distance = np.sqrt(moment / mass)
    deviation = np.empty_like(links)
    deviation[:, 0] = MASS_SHARE * mass
    deviation[:, 1:4] = (CENTRE_SHARE * mass * distance)[:, None]
    deviation[:, 4:] = (INERTIA_SHARE * moment)[:, None]
    return deviation.ravel()


def tool_deviation(robot: RobotModel) -> FloatArray:
    """Return how far a tool may move the parameters (10,) of the last link."""
    links = prior_inertial_parameters(robot).reshape(-1, 10)
    mass, moment = links[:, 0].sum(), 0.5 * links[:, [4, 6, 9]].sum()
    reach = np.sqrt(moment / mass)
    deviation: FloatArray = TOOL_SHARE * mass * np.repeat([1.0, reach, reach**2], [1, 3, 6])
    return deviation
