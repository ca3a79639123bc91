# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Energy of a motion for people and programs: text, JSON, columns of a table and a report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.blas import one_blas_thread
from robot_identification.files import ResultFolder
from robot_identification.report import (
    BAND, decimate, MAXIMUM_POINTS, number, percent, Picture, PREDICTED, render_page, RESIDUAL,
    single_panel, text_table, wrap,
)
from robot_identification.studies.comparison import CONFIDENCE
from robot_identification.studies.energy.study import (
    ABOVE, BELOW, EnergyOptions, EnergyResult, find_energy, Interval, MotionEnergy, ThresholdCheck,
    UNDECIDED,
)

CAUTION = (
    'This is not a safety function. It says what a model says of one motion: bodies that the '
    'model does not know (a payload), another motion or another speed have another energy, and '
    'what a contact does to a person depends on more than the energy of the arm. The intervals '
    "are those of the model's parameters alone."
)
# Times above a threshold that are listed.
MOST_CROSSINGS = 20
HEADER = ('joint', 'delivered [J]', '+-', 'lost to friction [J]', '+-', 'largest power [W]')


@one_blas_thread()
def run_energy(
    model_file: Path, bag: Path | None, options: EnergyOptions | None = None,
    folder: ResultFolder | None = None, report: str = 'report.html',
) -> EnergyResult:
    """
    Return the energy of a recorded motion, or of the trajectory that the options name.

    `report` is the file in `folder`; without a folder nothing is written. Raises DataError if the
    scale of the model is relative or the trajectory is of other joints, UsageError unless there is
    either a bag or a trajectory, or if a file or the folder cannot be used.
    """
    if folder is not None:
        folder.check((report,))
    result = find_energy(model_file, bag, EnergyOptions() if options is None else options)
    if folder is not None:
        folder.write({report: render_energy_report(result, folder.command_line)})
    return result


def energy_columns(energy: MotionEnergy) -> dict[str, FloatArray]:
    """Return figures of the whole arm by name, each of shape (N,), in SI units."""
    return {
        'kinetic_energy': energy.kinetic.value,
        'kinetic_energy_lower': energy.kinetic.lower,
        'kinetic_energy_upper': energy.kinetic.upper,
        'potential_energy': energy.potential,
        'power': energy.power.value,
        'delivered_energy': energy.delivered.value,
        'friction_loss': energy.loss.value,
    }


def energy_content(result: EnergyResult) -> dict[str, Any]:
    """Return the energy of a motion as plain values; docs/energy.md says what they are."""
    energy, check = result.energy, result.check
    peak = energy.peak
    strongest = int(np.argmax(np.abs(energy.power.value)))
    return {
        'confidence': CONFIDENCE,
        'kinetic_energy_max': _at(energy.kinetic, peak),
        'kinetic_energy_max_time': float(energy.stamps[peak]),
        'power_max': _at(energy.power, strongest),
        'power_max_time': float(energy.stamps[strongest]),
        'delivered_energy': _at(energy.delivered, -1),
        'friction_loss': _at(energy.loss, -1),
        'joints': [
            {
                'joint': name,
                'delivered_energy': _at(energy.joint_delivered, j),
                'friction_loss': _at(energy.joint_loss, j),
                'power_max': float(np.abs(energy.joint_power[:, j]).max()),
            }
            for j, name in enumerate(energy.joint_names)
        ],
        'threshold': None if check is None else {
            'value': check.threshold,
            'outcome': check.outcome,
            'crossings': [one._asdict() for one in check.crossings],
        },
        'safety_function': False,
    }


def energy_sentences(energy: MotionEnergy, check: ThresholdCheck | None) -> list[str]:
    """Return what is found, in sentences, the most important one first."""
    peak = energy.peak
    sentences = []
    if check is not None:
        times = len(check.crossings)
        sentences.append({
            ABOVE: (
                f'By the model kinetic energy is above {check.threshold:g} J, '
                f'{"once" if times == 1 else f"{times} times"}.'
            ),
            UNDECIDED: (
                f'Whether kinetic energy stays below {check.threshold:g} J is undecided: the '
                'interval of its largest value reaches above.'
            ),
            BELOW: f'By the model kinetic energy stays below {check.threshold:g} J.',
        }[check.outcome])
    sentences += [
        f'Largest kinetic energy {_words(energy.kinetic, peak, "J")}, at '
        f'{energy.stamps[peak]:.3f} s.',
        f'The joints deliver {_words(energy.delivered, -1, "J")}, friction takes '
        f'{_words(energy.loss, -1, "J")}.',
    ]
    return sentences


def crossing_rows(check: ThresholdCheck) -> list[tuple[str, ...]]:
    """Return number, start, stop and largest kinetic energy of the first times above."""
    return [
        (str(k), f'{one.start:.3f}', f'{one.stop:.3f}', number(one.largest, 4))
        for k, one in enumerate(check.crossings[:MOST_CROSSINGS], start=1)
    ]


CROSSING_HEADER = ('', 'from [s]', 'to [s]', 'largest [J]')


def joint_rows(energy: MotionEnergy) -> list[tuple[str, ...]]:
    """Return the cells of the table of joints; titles are HEADER."""
    delivered, loss = energy.joint_delivered, energy.joint_loss
    figures = zip(
        delivered.value, delivered.half, loss.value, loss.half,
        np.abs(energy.joint_power).max(axis=0), strict=True,
    )
    return [
        (name, *map(number, of_joint, (4, 2, 4, 2, 3)))
        for name, of_joint in zip(energy.joint_names, figures, strict=True)
    ]


def energy_text(result: EnergyResult) -> str:
    """Return the energy of a motion as plain text, at most 100 columns wide."""
    energy, check = result.energy, result.check
    lines = [line for sentence in energy_sentences(energy, check) for line in wrap(sentence)]
    if check is not None and check.crossings:
        lines += ['', *text_table(CROSSING_HEADER, crossing_rows(check))]
        if len(check.crossings) > MOST_CROSSINGS:
            lines.append(f'and {len(check.crossings) - MOST_CROSSINGS} more')
    lines += ['', *text_table(HEADER, joint_rows(energy)), '', *wrap(CAUTION)]
    return '\n'.join(lines) + '\n'


def render_energy_report(result: EnergyResult, command_line: str = '') -> str:
    """Return the report of a motion's energy, one HTML file that needs no network."""
    model, energy, check = result.model, result.energy, result.check
    level, label = ('usable', 'No threshold') if check is None else {
        ABOVE: ('bad', 'Above'), UNDECIDED: ('usable', 'Undecided'), BELOW: ('good', 'Below'),
    }[check.outcome]
    return render_page(
        'energy.html.j2',
        model=model,
        level=level, label=label,
        sentences=energy_sentences(energy, check),
        caution=CAUTION,
        confidence=percent(CONFIDENCE),
        pictures=_pictures(energy, check),
        header=HEADER, rows=joint_rows(energy),
        crossing_header=CROSSING_HEADER,
        crossings=[] if check is None else crossing_rows(check),
        more=0 if check is None else max(len(check.crossings) - MOST_CROSSINGS, 0),
        made=[
            ('Model', result.model_file),
            ('Parameters', 'identified' if model.theta_consistent is None else 'physically '
             'consistent, with the covariance of the identified ones'),
            ('Trajectory', result.options.trajectory) if result.bag is None
            else ('Recording', result.bag),
        ],
        notes=result.notes, command_line=command_line,
    )


def _at(figure: Interval, index: int) -> list[float]:
    """Return value and both ends of an interval."""
    return [float(each[index]) for each in (figure.value, figure.lower, figure.upper)]


def _words(figure: Interval, index: int, unit: str) -> str:
    value, low, high = _at(figure, index)
    return f'{number(value, 4)} {unit} ({number(low, 4)} to {number(high, 4)})'


def _pictures(energy: MotionEnergy, check: ThresholdCheck | None) -> list[Picture]:
    level = None if check is None else check.threshold
    t, stored = energy.stamps, [
        ('delivered', energy.delivered.value, PREDICTED), ('lost', energy.loss.value, RESIDUAL),
    ]
    return [
        _curves(t, [('kinetic', energy.kinetic, PREDICTED)], 'kinetic energy [J]',
                'Kinetic energy', level),
        _curves(t, [('power', energy.power, PREDICTED)], 'power [W]',
                'Mechanical power of all joints'),
        _curves(t, stored, 'energy [J]',
                'Delivered by the joints (blue), lost to friction (vermilion)'),
    ]


def _curves(
    t: FloatArray, curves: Sequence[tuple[str, FloatArray | Interval, str]], label: str,
    title: str, level: float | None = None,
) -> Picture:
    """Draw named curves over time, those with an interval on its band, and a level."""
    drawing, panel = single_panel(2.6)
    step = max(len(t) // MAXIMUM_POINTS, 1)
    for name, values, colour in curves:
        if isinstance(values, Interval):
            panel.area(t[::step], values.lower[::step], values.upper[::step], BAND)
            values = values.value
        panel.curve(*decimate(t, values), colour, 0.9, name=name)
    if level is not None:
        panel.level(level, RESIDUAL, 1.0)
    panel.x.is_time = True
    panel.label(label, 'time [s]')
    return drawing.picture(title, f'{title} over time')
