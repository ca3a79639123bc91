# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Evaluation of motions by `excite`, as text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
import textwrap
from typing import Any

import numpy as np
from robot_identification.excitation import (
    CRITERIA, criteria_columns, describe_certificate_gaps, describe_waived_collision, Evaluation,
    evaluation_content, Progress, rounded, Trajectory, UNITS_NOTE,
)

WIDTH = 99  # of the lines [characters]
Columns = Mapping[str, Mapping[str, float | None]]


def describe_search(progress: Progress) -> str:
    """Return how a search goes, in one line."""
    best = f'{progress.best:.5g}' if np.isfinite(progress.best) else 'none yet'
    minutes, seconds = divmod(round(progress.seconds_left), 60)
    return (
        f'{progress.share:4.0%}  {progress.evaluations} evaluations, {progress.feasible} '
        f'feasible, best {best}, {minutes}:{seconds:02d} left'
    )


def describe_motion(trajectory: Trajectory, path: Path | None) -> str:
    """Return what a motion is."""
    return (
        f'{trajectory.robot}: {trajectory.form.name}, {trajectory.duration:g} s'
        + (f', written to {path}' if path else '')
    )


def describe_certificate(trajectory: Trajectory) -> str:
    """Return what was proved about a motion, in words."""
    lines = []
    for kind, use in trajectory.certificate['limits'].items():
        when = 'by its bound' if use['time'] is None else f'at {use["time"]:.2f} s'
        lines.append(
            f'  {kind}: at most {use["share"]:.0%} of the margin, {use["joint"]} {when}'
        )
    for gap in describe_certificate_gaps(trajectory.certificate, trajectory.joint_names):
        lines += _wrapped(gap)
    entry = trajectory.certificate['collision']
    if isinstance(entry, dict):
        lines.append(f'  collision: {describe_clearance(entry)}')
    elif waived := describe_waived_collision(trajectory.certificate):
        lines.append(f'  {waived}')
    lines.append(f'  sha256 {trajectory.sha256}')
    return '\n'.join(lines)


def describe_clearance(entry: Mapping[str, Any]) -> str:
    """Return what was proved of collisions, in words."""
    if entry['nearest'] is None:
        return 'nothing to touch'
    obstacles = ', '.join(entry['obstacles']) or 'none'
    return (
        f'{entry["clearance"]:g} m kept at every instant; nearest {" and ".join(entry["pair"])}, '
        f'{entry["nearest"]:.4f} m at {entry["time"]:.2f} s (obstacles: {obstacles})'
    )


def describe_evaluation(evaluation: Evaluation, more: Columns | None = None) -> str:
    """
    Return every criterion with its meaning, the base set and what stays weak.

    `more` are criteria of other motions by their titles, in columns of their own.
    """
    reduction = evaluation.reduction
    lines = [
        f'  base set: {reduction.rank} base parameters in {reduction.frames} frames, '
        f'{reduction.preference} order, friction {evaluation.friction}, '
        f'{"with" if reduction.parameters.reflected_inertia else "without"} rotor inertia',
        *_table(criteria_columns(evaluation, more)),
        *(
            line for name, criterion in CRITERIA.items()
            for line in _wrapped(f'{name}: {criterion.meaning}')
        ),
        *_wrapped(UNITS_NOTE),
        *_weakest(evaluation),
    ]
    return '\n'.join(lines)


def _table(columns: Columns) -> list[str]:
    name_width = max(map(len, CRITERIA))
    widths = [max(len(title), 9) for title in columns]
    head = '  '.join(title.rjust(width) for title, width in zip(columns, widths, strict=True))
    lines = [f'  {"":{name_width}}  {head}']
    for name in CRITERIA:
        cells = '  '.join(
            _cell(values.get(name)).rjust(width)
            for values, width in zip(columns.values(), widths, strict=True)
        )
        lines.append(f'  {name:{name_width}}  {cells}')
    return lines


def _cell(value: float | None) -> str:
    return f'{value:.4g}' if value is not None and np.isfinite(value) else 'infinite'


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent='  ', subsequent_indent='    ', break_on_hyphens=False
    )


def _weakest(evaluation: Evaluation) -> list[str]:
    lines = _wrapped(
        f'weakest of the {sum(not np.isnan(one.share) for one in evaluation.weak)} with a value '
        f'in the description, by their standard errors in {evaluation.samples} samples with '
        f'white noise of {_noise(evaluation.noise)} N m:'
    )
    return lines + [
        f'    {one.name}: {_error(one.standard_error, one.unit)}'
        + (f', {one.share:.3g} times its value' if np.isfinite(one.share) else '')
        for one in evaluation.weakest
    ]


def _error(value: float, unit: str) -> str:
    return f'{value:.3g} {unit}' if np.isfinite(value) else 'the motion does not show it'


def _noise(noise: Sequence[float] | np.ndarray) -> str:
    values = [f'{value:g}' for value in noise]
    return values[0] if len(set(values)) == 1 else ', '.join(values)


def evaluation_json(evaluation: Evaluation) -> dict[str, Any]:
    """Return an evaluation as JSON has it: with all parameters, and what criteria mean."""
    return {
        **evaluation_content(evaluation),
        'meaning': {name: criterion.meaning for name, criterion in CRITERIA.items()},
        'note': UNITS_NOTE,
        'torque_noise': evaluation.noise,
        'recorded_samples': evaluation.samples,
        'standard_errors': [
            {
                'parameter': one.name,
                'standard_error': rounded(one.standard_error),
                'unit': one.unit,
                'prior': rounded(one.prior),
                'share_of_prior': rounded(one.share),
            }
            for one in evaluation.weak
        ],
    }
