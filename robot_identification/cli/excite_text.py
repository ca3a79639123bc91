# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Motions as `excite` shows them, as text and as JSON."""

from collections.abc import Iterator, Mapping, Sequence
import math
from pathlib import Path
import textwrap
from typing import Any

import numpy as np
from robot_identification.excitation import (
    CRITERIA, criteria_columns, describe_certificate_gaps, describe_waived_collision, Evaluation,
    evaluation_content, Progress, rounded, Trajectory, UNITS_NOTE, WEAK_SHARE, Weakness,
)
from robot_identification.report import text_table

WIDTH = 99  # of the lines [characters]
# Parameters in the table of weak ones at least, and those that are weak at most.
SHOWN_PARAMETERS, MOST_PARAMETERS = 5, 20
# Longer motions are no plan.
LONGEST_MINUTES = 24.0 * 60.0


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
    certificate, lines = trajectory.certificate, []
    for kind, use in certificate['limits'].items():
        when = 'by its bound' if use['time'] is None else f'at {use["time"]:.2f} s'
        lines.append(
            f'  {kind}: at most {use["share"]:.0%} of the margin, {use["joint"]} {when}'
        )
    for gap in describe_certificate_gaps(certificate, trajectory.joint_names):
        lines += _wrapped(gap)
    entry = certificate['collision']
    if isinstance(entry, dict):
        lines.append(f'  collision: {_clearance(entry)}')
    elif waived := describe_waived_collision(certificate):
        lines.append(f'  {waived}')
    return '\n'.join([*lines, f'  sha256 {trajectory.sha256}'])


def _clearance(entry: Mapping[str, Any]) -> str:
    """Return what was proved of collisions, in words."""
    if entry['nearest'] is None:
        return 'nothing to touch'
    obstacles = ', '.join(entry['obstacles']) or 'none'
    return (
        f'{entry["clearance"]:g} m kept at every instant; nearest {" and ".join(entry["pair"])}, '
        f'{entry["nearest"]:.4f} m at {entry["time"]:.2f} s (obstacles: {obstacles})'
    )


def describe_evaluation(
    evaluation: Evaluation, more: Mapping[str, Mapping[str, float | None]] | None = None
) -> str:
    """
    Return every criterion with its meaning, the base set and what stays weak.

    `more` are criteria of other motions by their titles, in columns of their own.
    """
    reduction, columns = evaluation.reduction, criteria_columns(evaluation, more)
    noise = [f'{value:g}' for value in evaluation.noise]
    return '\n'.join([
        f'  base set: {reduction.rank} base parameters in {reduction.frames} frames, '
        f'{reduction.preference} order, friction {evaluation.friction}, '
        f'{"with" if reduction.parameters.reflected_inertia else "without"} rotor inertia',
        *_table(('', *columns), [
            (name, *(_criterion(values.get(name)) for values in columns.values()))
            for name in CRITERIA
        ]),
        *(
            line for name, criterion in CRITERIA.items()
            for line in _wrapped(f'{name}: {criterion.meaning}')
        ),
        *_wrapped(UNITS_NOTE),
        *_wrapped(
            f'weakest of the {sum(not np.isnan(one.share) for one in evaluation.weak)} with a '
            f'value in the description, by their standard errors in {evaluation.samples} samples '
            f'with white noise of {", ".join(noise if len(set(noise)) > 1 else noise[:1])} N m:'
        ),
        *(
            f'    {one.name}: ' + (
                f'{one.standard_error:.3g} {one.unit}, {one.share:.3g} times its value'
                if np.isfinite(one.share) else 'the motion does not show it'
            ) for one in evaluation.weakest
        ),
    ])


def _criterion(value: float | None) -> str:
    return f'{value:.4g}' if value is not None and np.isfinite(value) else 'infinite'


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f'  {line}' for line in text_table(header, rows)]


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent='  ', subsequent_indent='    ', break_long_words=False,
        break_on_hyphens=False,
    )


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


def describe_weakness(weakness: Weakness) -> str:
    """Return what is weak after a motion, and the recording time required, in words."""
    weak = int(weakness.weak.sum())
    shown = weakness.order[: min(max(weak, SHOWN_PARAMETERS), MOST_PARAMETERS)]
    lines = [
        f'standard errors before this motion and after its {weakness.duration:g} s',
        *_table(
            ('parameter', 'unit', 'value', 'before', 'after', 'allowed', 'in all'),
            [tuple(_weakness_row(weakness, i)) for i in shown],
        ),
    ]
    if weak > len(shown):
        lines.append(f'  and {weak - len(shown)} more that are weak')
    for remark in (
        _time_needed(weakness),
        *(f'note: {note}' for note in weakness.notes),
        f'allowed are {WEAK_SHARE:.0%} of the value, or of the value whose torque is as large as '
        'the noise; errors assume white noise, but measured noise is correlated in time: they are '
        'too small, all by about the same factor, and times by its square',
    ):
        lines += _wrapped(remark)
    return '\n'.join(lines)


def _weakness_row(weakness: Weakness, i: int) -> Iterator[str]:
    """Yield the cells of a parameter: errors, and how long to record in all."""
    yield from (weakness.names[i], weakness.units[i])
    # A value that nothing is known about is not the zero that stands for it.
    value = weakness.theta[i] if math.isfinite(weakness.before[i]) else math.nan
    for number in (value, weakness.before[i], weakness.after[i], weakness.allowed[i]):
        yield f'{number:.3g}' if math.isfinite(number) else 'unknown'
    minutes = weakness.minutes[i]
    if minutes <= 0.0:
        yield '-'
    elif minutes <= LONGEST_MINUTES:
        yield f'{minutes:.1f} min' if minutes >= 1.0 else f'{60.0 * minutes:.0f} s'
    else:
        yield 'over a day' if math.isfinite(minutes) else 'never'


def _time_needed(weakness: Weakness) -> str:
    """Return how many parameters are weak, and how long the motion takes to determine them."""
    weak = [i for i in weakness.order if weakness.weak[i]]
    if not weak:
        return f'none of {len(weakness.names)} parameters is weak after it'
    never = [i for i in weak if not weakness.minutes[i] <= LONGEST_MINUTES]
    text = f'{len(weak)} of {len(weakness.names)} parameters are weak after it: '
    text += ', '.join(weakness.names[i] for i in weak)
    minutes = [weakness.minutes[i] for i in weak if i not in never]
    if minutes:
        kept = 'all' if not never else 'the others'
        text += f'; {max(minutes):.1f} minutes of it suffice for {kept}'
    if never:
        text += f'; no time of it suffices for {", ".join(weakness.names[i] for i in never)}'
    return text


def weakness_content(weakness: Weakness) -> dict[str, Any]:
    """Return what is weak after a motion for --json; what is infinite becomes null."""
    return {
        'parameters': [
            {
                'name': weakness.names[i],
                'unit': weakness.units[i],
                'value': weakness.theta[i],
                'standard_error_before': weakness.before[i],
                'standard_error_after': weakness.after[i],
                'allowed': weakness.allowed[i],
                'weak': bool(weakness.weak[i]),
                'minutes': weakness.minutes[i],
            }
            for i in weakness.order
        ],
        'notes': list(weakness.notes),
    }
