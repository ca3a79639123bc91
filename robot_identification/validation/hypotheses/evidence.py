# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Data of all hypotheses: one thinned problem, and its fit as it was recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray, IntArray
from robot_identification.model import (
    inertial_regressor, KinematicFilter, Motion, reduce_to_base, rigid_torque, RobotModel,
    run_stops, StandardParameters,
)
from robot_identification.processing import Dataset, low_pass, orthonormal
from robot_identification.validation.hypotheses.posterior import (
    BodyFit, fit_bodies, make_prior, Prior, reduce_rows, ReducedRows,
)
from robot_identification.validation.hypotheses.thresholds import (
    BAND, FLOOR, LONGEST_STEP, SAMPLES, WINDOWS,
)
from robot_identification.validation.whiteness import autocovariance, independent_share

# Widths of the smooth steps that stand for dry friction [rad/s], and displacements before sliding
# [rad]: a few of those of the dictionary.
SLIDING_WIDTHS = (0.005, 0.02, 0.1, 0.3)
PRESLIDING_RADII = np.array([0.002, 0.02, 0.1])
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
    windows: tuple[Window, ...]  # the M samples that are used
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

    @cached_property
    def rows(self) -> FloatArray:
        """Regressor of the bodies along the recorded motion, in the band (m, n, b)."""
        return self.regressor()

    @cached_property
    def reduced(self) -> ReducedRows:
        """Rows of each joint for the measured torque, reduced."""
        return self.reduce(self.rows)

    @cached_property
    def independent(self) -> FloatArray:
        """
        Number of independent samples (n,) that the residual of each joint is worth.

        A fit decides it, for which each joint is first worth a window. An effort that never
        changes is no measurement, and worth none.
        """
        changing = (np.ptp(self.torque, axis=0) > 0.0).astype(float)
        targets = self.reduced.targets[:, :, 0]
        fit = fit_bodies(self.reduced, targets, self.prior, changing * FEWEST_IN_WINDOW)
        residual = self.in_band(self.torque) - np.einsum('knb,b->kn', self.rows, fit.theta)
        residual = np.column_stack([
            r - basis @ (basis.T @ r)
            for r, basis in zip(residual.T, self.friction, strict=True)
        ])
        count = len(residual)
        products = autocovariance(residual, min(count - 1, count // 4))
        worth: FloatArray = changing * np.array([
            count * independent_share(own, count) for own in products
        ])
        return worth

    @cached_property
    def fit(self) -> BodyFit:
        """The most likely bodies if the data are as they are said to be."""
        return self.explain()

    def in_band(self, values: FloatArray) -> FloatArray:
        """Return the signals, shape (M, ..), in the band of the motion, shape (m, ..)."""
        return band_limited(values, self.windows)

    def regressor(
        self, motion: Motion | None = None, robot: RobotModel | None = None
    ) -> FloatArray:
        """Return the regressor of a motion, by default this one, in the band (m, n, b)."""
        motion = self.motion if motion is None else motion
        rows = inertial_regressor(self.robot if robot is None else robot, motion)
        return self.in_band(rows.reshape(len(motion), self.robot.n, -1)[:, :, self.columns])

    @property
    def carried(self) -> FloatArray:
        """Return the share (n,) of the deviation of each torque that friction does not explain."""
        share: FloatArray = np.linalg.norm(self.reduced.targets[:, :, 0], axis=1)
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

    def reduce(
        self,
        regressor: FloatArray,
        targets: FloatArray | None = None,
        friction: Sequence[FloatArray] | None = None,
    ) -> ReducedRows:
        """
        Return the reduced rows of a regressor (m, n, b) and some torques (m, n, k) in the band.

        By default of the measured torque, and with the friction of the recorded motion.
        """
        return reduce_rows(
            regressor, self.friction if friction is None else friction,
            self.in_band(self.torque)[:, :, None] if targets is None else targets,
            self.deviation,
        )

    def explain(
        self,
        rows: ReducedRows | None = None,
        target: FloatArray | None = None,
        scale: FloatArray | float = 1.0,
        prior: Prior | None = None,
    ) -> BodyFit:
        """Return the fit of other rows, torques (n, h), scale of the torques, or prior."""
        rows = self.reduced if rows is None else rows
        return fit_bodies(
            rows, rows.targets[:, :, 0] if target is None else target,
            self.prior if prior is None else prior, self.independent, scale,
        )

    def body_torque(self, motion: Motion, theta: FloatArray) -> FloatArray:
        """Return the torque (M, n) of bodies with parameters (b,) along a motion."""
        rows = inertial_regressor(self.robot, motion).reshape(*motion.q.shape, -1)
        torque: FloatArray = rows[:, :, self.columns] @ theta
        return torque

    def only(self, joint: int) -> BoolArray:
        """Return a mask (n,) of one joint."""
        own: BoolArray = np.arange(self.robot.n) == joint
        return own

    def supports(self, fit: BodyFit, least_gain: float, least_fall: float = -np.inf) -> bool:
        """Return whether the posterior gains so much in a fit, and residuals fall by so much."""
        return self.gain(fit) >= least_gain and self.fall(fit) >= least_fall

    def gain(self, fit: BodyFit) -> float:
        """Return by how much the logarithm of the posterior of a fit is above that of the data."""
        return self.fit.score - fit.score

    def fall(self, fit: BodyFit) -> float:
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

    def names(self, joints: Sequence[int] | IntArray) -> tuple[str, ...]:
        """Return the names of joints."""
        return tuple(self.robot.joint_names[joint] for joint in joints)


def gather(
    robot: RobotModel, datasets: Sequence[Dataset], *, relative_scale: bool = False
) -> Evidence | None:
    """Make the thinned problem of the hypotheses; None of too few samples."""
    windows = choose_windows(datasets)
    if sum(len(window.rows) for window in windows) < FEWEST_SAMPLES:
        return None
    reduction = reduce_to_base(robot, StandardParameters(robot.n, (), True))
    motion = join_motions([datasets[one.recording].motion.rows(one.rows) for one in windows])
    torque = np.concatenate([
        datasets[one.recording].effort[one.rows]
        * datasets[one.recording].torque_per_effort(robot)
        for one in windows
    ])
    deviation = np.std(torque, axis=0)
    unloaded = friction_bases(robot, datasets, windows, motion)
    return Evidence(
        robot=robot, datasets=tuple(datasets), windows=windows,
        columns=reduction.independent[reduction.independent < 10 * robot.n],
        motion=motion, torque=torque, unloaded=unloaded,
        friction=add_load(unloaded, robot, motion, windows),
        deviation=np.where(
            deviation > 1e-9 * np.abs(torque).max(initial=1e-300), deviation, 1.0
        ),
        prior=make_prior(robot, reduction, stated=not relative_scale),
        tool_prior=make_prior(robot, reduction, stated=not relative_scale, with_tool=True),
        relative_scale=relative_scale,
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
    """Return the fitted samples of a segment at which its kinematics are reliable."""
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
