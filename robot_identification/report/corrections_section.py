# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Corrections in a report: what they explain of each joint, and the spectrum before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.estimation import Identification
from robot_identification.model import IdentifiedModel
from robot_identification.processing import Dataset
from robot_identification.report.explanation import Scored
from robot_identification.report.figures import MARGINS, WIDTH
from robot_identification.report.formatting import (
    effort_unit_text, fixed, number, percent, text_table, wrap,
)
from robot_identification.report.plot import Drawing, Picture, PREDICTED, RESIDUAL
from robot_identification.report.residual_figures import (
    power_density, SHORTEST_SPECTRUM, SPECTRUM_POINTS, SPECTRUM_SECONDS,
)
from robot_identification.validation import (
    contiguous_parts, ErrorDetails, measure_details, predict_effort,
)

HEIGHT = 2.4  # of a spectrum [inches]
# Parts of an error that are stated without and with corrections, in the order of the columns.
PARTS = ('moving', 'resting', 'low', 'high')


@dataclass(frozen=True)
class CorrectedJoint:
    """A joint with corrections: every pair is an error without and with them."""

    joint: str
    groups: tuple[str, ...]  # each with the share of the squared error that it explains
    held_out: tuple[str, str]  # NRMSE on held-out blocks
    parts: tuple[tuple[str, str], ...]  # RMS errors of PARTS on the samples that were fitted
    spectrum: Picture | None


@dataclass(frozen=True)
class CorrectionsSection:
    """Section of the corrections; `split` is the frequency between low and high [Hz]."""

    unit: str
    split: str
    joints: tuple[CorrectedJoint, ...]


def corrections_section(
    identification: Identification, fitted: Sequence[Scored]
) -> CorrectionsSection | None:
    """Return the section of an identification, None where no joint has corrections."""
    model = identification.model
    if not model.corrections.offline:
        return None
    plain = [predict_effort(model, one.dataset, corrected=False) for one in fitted]
    before, after = (
        [measure_details(one.dataset, effort, one.rows) for one, effort in pairs]
        for pairs in (
            list(zip(fitted, plain, strict=True)), [(one, one.predicted) for one in fitted],
        )
    )
    held = model.quality['cross_validation']
    joints = sorted({one.joint for one in model.corrections.offline})
    return CorrectionsSection(
        effort_unit_text(model.effort_unit), number(after[0].split, 2),
        tuple(
            CorrectedJoint(
                model.robot.joint_names[joint],
                _groups(model, joint),
                (
                    fixed(_mean(held['without_corrections']['nrmse'], joint)),
                    fixed(_mean(held['nrmse'], joint)),
                ),
                tuple(
                    (number(_rms(before, part, joint)), number(_rms(after, part, joint)))
                    for part in PARTS
                ),
                _spectrum(fitted, plain, joint, model.effort_unit),
            )
            for joint in joints
        ),
    )


def corrections_lines(section: CorrectionsSection) -> list[str]:
    """Return the table as text."""
    header = (
        'joint', 'NRMSE, held out', f'moving [{section.unit}]', 'at rest',
        f'below {section.split} Hz', 'above',
    )
    rows = [
        (
            one.joint, f'{one.held_out[0]} > {one.held_out[1]}',
            *(f'{before} > {after}' for before, after in one.parts),
        )
        for one in section.joints
    ]
    return [
        *text_table(header, rows), '',
        *(
            line for one in section.joints
            for line in wrap(f'{one.joint}: {"; ".join(one.groups)}')
        ),
    ]


def _groups(model: IdentifiedModel, joint: int) -> tuple[str, ...]:
    return tuple(
        f'{one.group.meaning} ({one.group.name}, {percent(one.decrease)})'
        for one in model.corrections.offline if one.joint == joint
    )


def _mean(nrmse: Sequence[Sequence[float]], joint: int) -> float:
    return float(np.nanmean([of_bag[joint] for of_bag in nrmse]))


def _rms(details: Sequence[ErrorDetails], part: str, joint: int) -> float:
    """Return the RMS of a part of the errors over all recordings."""
    if part == 'moving':
        squares = [
            (one.forward[joint], one.forward_samples[joint]) for one in details
        ] + [(one.backward[joint], one.backward_samples[joint]) for one in details]
    elif part == 'resting':
        squares = [(one.resting[joint], one.resting_samples[joint]) for one in details]
    else:
        squares = [(getattr(one, part)[joint], 1.0) for one in details]
    values, weights = np.array(squares).T
    known = np.isfinite(values) & (weights > 0.0)
    if not known.any():
        return float('nan')
    return float(np.sqrt(np.average(values[known] ** 2, weights=weights[known])))


def _spectrum(
    fitted: Sequence[Scored], plain: Sequence[FloatArray], joint: int, unit: str
) -> Picture | None:
    """Draw the amplitude density of what is left without and with corrections."""
    one, without = max(
        zip(fitted, plain, strict=True), key=lambda pair: len(pair[0].dataset)
    )
    drawing = Drawing(WIDTH, HEIGHT)
    (panel,) = drawing.panels(MARGINS)
    panel.x.logarithmic = panel.y.logarithmic = True
    for effort, colour in ((without, RESIDUAL), (one.predicted, PREDICTED)):
        found = _density(one.dataset, (one.dataset.effort - effort)[:, joint], one.rows)
        if found is None:
            return None
        panel.curve(*found, colour, 1.0)
    panel.label(f'residual [{effort_unit_text(unit)}/√Hz]', 'frequency [Hz]')
    name = one.dataset.joint_names[joint]
    return drawing.picture(
        name, f'Amplitude density of the residual of {name}, without corrections (orange) and '
        'with them (blue)',
    )


def _density(
    dataset: Dataset, residual: FloatArray, rows: BoolArray
) -> tuple[FloatArray, FloatArray] | None:
    """Return frequencies [Hz] and amplitude density of the longest part; None if it is short."""
    parts = contiguous_parts(dataset, rows)
    longest = max(parts, key=lambda part: part.stop - part.start)
    values = residual[rows][longest]
    length = min(len(values), int(max(SPECTRUM_SECONDS * dataset.rate, SHORTEST_SPECTRUM)))
    if length < SHORTEST_SPECTRUM:
        return None
    frequencies, power = power_density(values, dataset.rate, length)
    step = max(len(frequencies) // SPECTRUM_POINTS, 1)
    return frequencies[1::step], np.sqrt(power[1::step])
