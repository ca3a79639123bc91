# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Choice of correction groups for a joint, on held-out blocks of the residuals of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.estimation.estimators.huber import NORMAL_DEVIATION
from robot_identification.model import (
    CorrectionGroup, CorrectionSignals, JointCorrection, Residuals, RobotModel,
)
from robot_identification.processing import Dataset
from robot_identification.validation import Folds, hold_out

# Share by which a group has to lower the squared error on held-out blocks.
LEAST_DECREASE = 0.02
# Columns shorter than this share of the longest say nothing.
SHORTEST_COLUMN = 1.0e-9


@dataclass(frozen=True, eq=False)
class AcceptedGroup:
    """A group of corrections that one joint takes, with its ridge parameter."""

    joint: int
    group: CorrectionGroup
    ridge: float
    decrease: float  # of the squared error on held-out blocks beside the groups before, as a share


@dataclass(frozen=True, eq=False)
class FoldedResiduals(Residuals):
    """Residuals in folds of which one part is held out."""

    training: tuple[BoolArray, ...]  # (M,) of each fold, of all recordings one after the other
    held_out: tuple[BoolArray, ...]

    @cached_property
    def _at_rows(self) -> list[CorrectionSignals]:
        """Signals of these samples alone, which hold the regressor for all joints."""
        return [
            signals.rows(rows) for signals, rows in zip(self.signals, self.rows, strict=True)
        ]

    def columns(self, group: CorrectionGroup, joint: int) -> FloatArray:
        """Return the columns of a group there, shape (M, size)."""
        if group.reach == 0:
            return np.concatenate([
                group.columns(self.robot, signals, joint) for signals in self._at_rows
            ])
        return np.concatenate([
            group.columns_at(self.robot, signals, joint, rows)
            for signals, rows in zip(self.signals, self.rows, strict=True)
        ])


def residuals_at(
    robot: RobotModel, datasets: Sequence[Dataset], rows: Sequence[BoolArray],
    predictions: Sequence[FloatArray], folds: Folds, rigid: tuple[int, ...],
    signals: Sequence[CorrectionSignals] | None = None,
) -> FoldedResiduals:
    """
    Return the residuals of predictions of effort (m, n) at rows (N,) of datasets.

    `signals` are those of causal kinematics where the predictions are of such. Several recordings
    have offsets of their own, which no correction is to explain: each is taken less its mean.
    """
    parts = [
        [(training[chosen], held[chosen]) for training, held in hold_out(dataset, chosen, folds)]
        for dataset, chosen in zip(datasets, rows, strict=True)
    ]
    return FoldedResiduals(
        robot,
        tuple(dataset.correction_signals for dataset in datasets)
        if signals is None else tuple(signals),
        tuple(rows),
        tuple(
            torque if len(datasets) == 1 else torque - torque.mean(axis=0)
            for torque in (
                (dataset.effort[chosen] - predicted) * dataset.torque_per_effort(robot)
                for dataset, chosen, predicted in zip(datasets, rows, predictions, strict=True)
            )
        ),
        rigid,
        signals is not None,
        _join_masks([[training for training, _ in of] for of in parts]),
        _join_masks([[held for _, held in of] for of in parts]),
    )


def _join_masks(by_recording: Sequence[Sequence[BoolArray]]) -> tuple[BoolArray, ...]:
    """Return the mask of each fold over all recordings, one after the other."""
    return tuple(np.concatenate(masks) for masks in zip(*by_recording, strict=True))


class _Chosen(NamedTuple):
    """The groups of a joint that are accepted so far."""

    groups: tuple[AcceptedGroup, ...]
    columns: FloatArray  # (M, m)
    ridges: FloatArray  # (m,)
    errors: FloatArray  # squared errors that are left on each held-out block


def choose_groups(
    residuals: FoldedResiduals, offered: Sequence[type[CorrectionGroup]], joint: int, huber: float
) -> tuple[AcceptedGroup, ...]:
    """
    Return the groups that lower the error of a joint on held-out blocks.

    Each is tried beside those accepted before. It is taken if the squared error falls by more than
    its `certainty` in standard errors over the blocks, and by `LEAST_DECREASE`; another variant of
    it, if that does better than the first by one standard error. Residuals beyond `huber` standard
    deviations count linearly in the fit.
    """
    residual = residuals.of(joint)
    chosen = _Chosen(
        (), np.empty((len(residual), 0)), np.empty(0),
        np.array([np.sum(residual[held] ** 2) for held in residuals.held_out]),
    )
    for kind in offered:
        best = None
        for group in kind.candidates(residuals, joint):
            columns = np.hstack([chosen.columns, residuals.columns(group, joint)])
            for ridge in kind.ridges:
                tried = _try(residuals, chosen, (joint, group, ridge), columns, huber)
                accepted = (
                    _is_accepted(chosen.errors, tried.errors, kind.certainty) if best is None
                    else _is_better(best.errors, tried.errors)
                )
                best = tried if accepted else best
        chosen = best or chosen
    return chosen.groups


def _try(
    residuals: FoldedResiduals, chosen: _Chosen, tried: tuple[int, CorrectionGroup, float],
    columns: FloatArray, huber: float,
) -> _Chosen:
    """Return what is left with one more group, whose columns are the last ones."""
    joint, group, ridge = tried
    residual = residuals.of(joint)
    ridges = np.append(chosen.ridges, np.full(group.size, ridge))
    left = residual - predict_held_out(residuals, columns, ridges, residual, huber)
    errors = np.array([np.sum(left[held] ** 2) for held in residuals.held_out])
    share = float(1.0 - errors.sum() / chosen.errors.sum())
    accepted = AcceptedGroup(joint, group, ridge, share)
    return _Chosen((*chosen.groups, accepted), columns, ridges, errors)


def _is_better(before: FloatArray, after: FloatArray, certainty: float = 1.0) -> bool:
    """Return whether errors by block fall by more than so many standard errors."""
    decrease = before - after
    error = np.std(decrease, ddof=1) / np.sqrt(len(decrease))
    return bool(decrease.mean() > certainty * error)


def _is_accepted(before: FloatArray, after: FloatArray, certainty: float) -> bool:
    return _is_better(before, after, certainty) and bool(
        before.sum() - after.sum() > LEAST_DECREASE * before.sum()
    )


def predict_held_out(
    residuals: FoldedResiduals, columns: FloatArray, ridges: FloatArray, residual: FloatArray,
    huber: float,
) -> FloatArray:
    """Return the correction (M,) of each block by coefficients of the other blocks."""
    weighted = columns * huber_weights(residual, huber)[:, None]
    whole, side = weighted.T @ columns, weighted.T @ residual
    predicted = np.zeros(len(residual))
    for training, held in zip(residuals.training, residuals.held_out, strict=True):
        out = ~training
        coefficients = solve_ridge(
            whole - weighted[out].T @ columns[out], side - weighted[out].T @ residual[out], ridges
        )
        predicted[held] = columns[held] @ coefficients
    return predicted


def huber_weights(residual: FloatArray, limit: float) -> FloatArray:
    """Return weights (M,) of squares by which residuals count linearly beyond a limit."""
    size = np.abs(residual)
    bound = limit * NORMAL_DEVIATION * np.median(size)
    weights: FloatArray = np.minimum(1.0, bound / np.maximum(size, np.finfo(float).tiny))
    return weights


def solve_ridge(gram: FloatArray, side: FloatArray, ridges: FloatArray) -> FloatArray:
    """Return coefficients (m,) of least squares, each column's length raised by its ridge."""
    lengths = np.diag(gram)
    used = lengths > SHORTEST_COLUMN * max(lengths.max(initial=0.0), np.finfo(float).tiny)
    found = np.zeros(len(side))
    found[used] = np.linalg.solve(
        gram[np.ix_(used, used)] + np.diag((ridges * lengths)[used]), side[used]
    )
    return found


def gather_columns(
    residuals: FoldedResiduals, groups: Sequence[AcceptedGroup], joint: int
) -> tuple[FloatArray, FloatArray]:
    """Return the columns (M, m) of the groups of a joint and their ridge parameters (m,)."""
    own = [one for one in groups if one.joint == joint]
    return (
        np.hstack([residuals.columns(one.group, joint) for one in own]),
        np.concatenate([np.full(one.group.size, one.ridge) for one in own]),
    )


def fit_groups(
    residuals: FoldedResiduals, groups: Sequence[AcceptedGroup], huber: float
) -> tuple[JointCorrection, ...]:
    """Fit the coefficients of accepted groups to residuals, those of a joint together."""
    fitted: list[JointCorrection] = []
    for joint in sorted({one.joint for one in groups}):
        columns, ridges = gather_columns(residuals, groups, joint)
        residual = residuals.of(joint)
        weighted = columns * huber_weights(residual, huber)[:, None]
        found = solve_ridge(weighted.T @ columns, weighted.T @ residual, ridges)
        first = 0
        for one in groups:
            if one.joint == joint:
                own = found[first: first + one.group.size]
                fitted.append(JointCorrection(joint, one.group, own, one.decrease))
                first += one.group.size
    return tuple(fitted)
