# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Score: a model on recordings, with the samples behind the errors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray, IntArray
from robot_identification.errors import needing
from robot_identification.model import IdentifiedModel
from robot_identification.processing import Dataset
from robot_identification.texts import counted, html_of, short_repr
from robot_identification.validation.validation import predict_effort, Validation


@dataclass(frozen=True, eq=False)
class Residuals:
    """Measured and predicted effort at the samples that errors are of, recording by recording."""

    joints: tuple[str, ...]  #: Names of the n joints.
    unit: str  #: Of all efforts.
    recording: IntArray  #: (N,): number of the recording that a sample is of.
    time: FloatArray  #: (N,): seconds after the first joint state of its recording.
    measured: FloatArray  #: (N, n)
    predicted: FloatArray  #: (N, n)

    __repr__ = short_repr

    @property
    def residual(self) -> FloatArray:
        """Measured minus predicted effort, shape (N, n)."""
        return self.measured - self.predicted


@dataclass(frozen=True, eq=False)
class Score:
    """Errors of a model on recordings, the verdict on it, and the samples behind them."""

    model: IdentifiedModel
    validation: Validation  #: Errors by recording, and verdict.
    datasets: tuple[Dataset, ...]  #: The recordings as they were scored.
    notes: tuple[str, ...]  #: Remarks on them.

    __repr__ = short_repr
    _repr_html_ = html_of

    def __str__(self) -> str:
        names, verdict = self.model.robot.joint_names, self.validation.verdict
        width, recordings = max(map(len, names)), counted(len(self.datasets), 'recording')
        return '\n'.join([
            f'Validation of {self.model.robot.name} on {recordings}: {verdict.level.upper()}',
            f'By use: {verdict.describe_uses()}',
            *(f'  {name:{width}}  NRMSE {value:.4f}'
              for name, value in zip(names, self.nrmse, strict=True)),
            f'  {"mean":{width}}  NRMSE {self.nrmse_mean:.4f}',
            f'Next step: {verdict.next_step}',
        ])

    def __iter__(self) -> Iterator[Any]:
        """Unpack into validation, datasets and notes."""
        return iter((self.validation, self.datasets, self.notes))

    @property
    def nrmse(self) -> FloatArray:
        """
        RMS error over the standard deviation of the effort, by joint, shape (n,).

        The mean over the recordings; NaN where the effort of a joint never changes.
        """
        every = np.ma.masked_invalid([bag.nrmse for bag in self.validation.bags])
        mean: FloatArray = every.mean(axis=0).filled(np.nan)
        return mean

    @property
    def nrmse_mean(self) -> float:
        """Mean of `nrmse` over the joints."""
        return float(np.ma.filled(np.ma.masked_invalid(self.nrmse).mean(), np.nan))

    @cached_property
    def residuals(self) -> Residuals:
        """Samples that the errors are of."""
        rows = [dataset.scored for dataset in self.datasets]
        predicted = [predict_effort(self.model, dataset) for dataset in self.datasets]
        numbers = [np.full(np.count_nonzero(one), k) for k, one in enumerate(rows)]
        time, measured, predictions = (
            np.concatenate([values[one] for values, one in zip(every, rows, strict=True)])
            for every in (
                [dataset.stamps for dataset in self.datasets],
                [dataset.effort for dataset in self.datasets], predicted,
            )
        )
        return Residuals(
            self.model.robot.joint_names, self.model.effort_unit, np.concatenate(numbers), time,
            measured, predictions,
        )

    def plot(self, recording: int = 0) -> Any:
        """
        Draw measured and predicted effort of a recording, one axes for each joint.

        Returns an array (n,) of matplotlib axes. Raises MissingDependencyError without matplotlib.
        """
        with needing('matplotlib', 'plot'):
            from matplotlib import pyplot
        found = self.residuals
        rows = found.recording == recording
        n = len(found.joints)
        _, axes = pyplot.subplots(
            n, sharex=True, squeeze=False, figsize=(8.0, 1.6 * n), layout='constrained'
        )
        for joint, (name, panel) in enumerate(zip(found.joints, axes[:, 0], strict=True)):
            for label, values in (
                ('measured', found.measured), ('predicted', found.predicted),
                ('residual', found.residual),
            ):
                panel.plot(found.time[rows], values[rows, joint], linewidth=0.8, label=label)
            panel.set_ylabel(f'{name}\n[{self.model.robot.unit(found.unit, joint)}]')
        axes[0, 0].legend(
            loc='lower right', bbox_to_anchor=(1.0, 1.0), ncols=3, frameon=False
        )
        axes[-1, 0].set_xlabel('time [s]')
        return axes[:, 0]
