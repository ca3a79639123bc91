# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Corrections in a report: what they explain of each joint, and the spectrum before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.estimation import Identification
from robot_identification.model import IdentifiedModel
from robot_identification.report.explanation import Scored
from robot_identification.report.figures import MARGINS, WIDTH
from robot_identification.report.formatting import (
    effort_unit_text, fixed, NOT_AVAILABLE, number, percent, text_table, wrap,
)
from robot_identification.report.plot import Drawing, Picture, PREDICTED, RESIDUAL
from robot_identification.report.residual_figures import (
    SHORTEST_SPECTRUM, SPECTRUM_POINTS, SPECTRUM_SECONDS,
)
from robot_identification.validation import (
    contiguous_parts, ErrorDetails, measure_details, predict_effort,
)
import scipy

HEIGHT, LOWER_HEIGHT, GAP = 2.0, 1.0, 0.2  # of spectrum and coherence, between them [inches]
# Windows that overlap by half, of which coherence is estimated; chosen: with fewer its error is
# above a quarter.
FEWEST_WINDOWS = 4
# Parts of an error that are stated without and with corrections, in the order of the columns.
PARTS = ('moving', 'resting', 'low', 'high')


@dataclass(frozen=True)
class CorrectedJoint:
    """A joint with corrections: every pair is an error without and with them."""

    joint: str
    groups: tuple[str, ...]  # each with the share of the squared error that it explains
    held_out: tuple[str, str]  # NRMSE on held-out blocks
    parts: tuple[tuple[str, str], ...]  # RMS errors of PARTS on the samples that were fitted
    # Mean coherence above the split with measured minus smooth velocity.
    coherence: tuple[str, str]
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
                _mean_coherence(spectra, after[0].split),
                _draw(spectra, model.robot.joint_names[joint], model.effort_unit),
            )
            for joint, spectra in (
                (joint, _spectra(fitted, plain, joint)) for joint in joints
            )
        ),
    )


def corrections_lines(section: CorrectionsSection) -> list[str]:
    """Return the table as text."""
    header = (
        'joint', 'NRMSE, held out', f'moving [{section.unit}]', 'at rest',
        f'below {section.split} Hz', 'above', 'coherence',
    )
    rows = [
        (
            one.joint, f'{one.held_out[0]} > {one.held_out[1]}',
            *(f'{before} > {after}' for before, after in (*one.parts, one.coherence)),
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


class _Spectra(NamedTuple):
    """Frequencies [Hz], and at each without and with corrections."""

    frequencies: FloatArray
    density: tuple[FloatArray, FloatArray]  # amplitude density of the residual
    # Of residual and measured minus smooth velocity; None where the velocity was not recorded.
    coherence: tuple[FloatArray, FloatArray] | None


def _spectra(
    fitted: Sequence[Scored], plain: Sequence[FloatArray], joint: int
) -> _Spectra | None:
    """Return spectra of the longest part of the longest recording; None if it is short."""
    one, without = max(
        zip(fitted, plain, strict=True), key=lambda pair: len(pair[0].dataset)
    )
    dataset = one.dataset
    part = max(
        contiguous_parts(dataset, one.rows), key=lambda part: part.stop - part.start
    )
    count = part.stop - part.start
    length = min(count, int(max(SPECTRUM_SECONDS * dataset.rate, SHORTEST_SPECTRUM)))
    if length < SHORTEST_SPECTRUM:
        return None
    residuals = [
        (dataset.effort - effort)[one.rows, joint][part] for effort in (without, one.predicted)
    ]
    (frequencies, before), (_, after) = (
        scipy.signal.welch(values, dataset.rate, nperseg=length) for values in residuals
    )
    coherence = None
    if dataset.measured_dq is not None:
        fast = (dataset.measured_dq - dataset.motion.dq)[one.rows, joint][part]
        # One window gives 1 for any signals.
        if np.isfinite(fast).all() and np.any(fast != 0.0) and count >= FEWEST_WINDOWS * length:
            first, second = (
                scipy.signal.coherence(values, fast, dataset.rate, nperseg=length)[1][1:]
                for values in residuals
            )
            coherence = first, second
    return _Spectra(frequencies[1:], (np.sqrt(before[1:]), np.sqrt(after[1:])), coherence)


def _mean_coherence(spectra: _Spectra | None, split: float) -> tuple[str, str]:
    """Return the mean coherence above a frequency [Hz], without and with corrections."""
    if spectra is None or spectra.coherence is None:
        return NOT_AVAILABLE, NOT_AVAILABLE
    fast = spectra.frequencies > split
    before, after = (fixed(float(np.mean(one[fast])), 2) for one in spectra.coherence)
    return before, after


def _draw(spectra: _Spectra | None, name: str, unit: str) -> Picture | None:
    """Draw what is left without and with corrections, and how it follows the velocity."""
    if spectra is None:
        return None
    both = spectra.coherence is not None
    drawing = Drawing(WIDTH, HEIGHT + (LOWER_HEIGHT if both else 0.0))
    panels = drawing.panels(
        MARGINS, rows=(HEIGHT, LOWER_HEIGHT) if both else (1.0,), gaps=(0.0, GAP)
    )
    step = max(len(spectra.frequencies) // SPECTRUM_POINTS, 1)
    panels[0].y.logarithmic = True
    for panel, curves, label in zip(
        panels, (spectra.density, spectra.coherence),
        (f'residual [{effort_unit_text(unit)}/√Hz]', 'coherence'), strict=False,
    ):
        panel.x.logarithmic = True
        for values, colour in zip(curves or (), (RESIDUAL, PREDICTED), strict=True):
            panel.curve(spectra.frequencies[::step], values[::step], colour, 1.0)
        panel.label(label, 'frequency [Hz]' if panel is panels[-1] else '')
    return drawing.picture(
        name, f'Amplitude density of the residual of {name}, and its coherence with measured '
        'minus smooth velocity, without corrections (orange) and with them (blue)',
    )
