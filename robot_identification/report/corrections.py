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
    effort_unit_text, fixed, NOT_AVAILABLE, number, percent,
)
from robot_identification.report.plot import Drawing, Picture, PREDICTED, RESIDUAL
from robot_identification.report.residuals import segment_length, SPECTRUM_POINTS
from robot_identification.validation import (
    contiguous_parts, ErrorDetails, measure_details, predict_effort,
)
import scipy

# Parts of an error that are stated without and with corrections, in the order of the columns.
PARTS = ('moving', 'resting', 'low', 'high')


@dataclass(frozen=True)
class CorrectionsSection:
    """Section of the corrections, by joint that has some."""

    unit: str  # of the RMS errors
    split: str  # frequency between low and high [Hz]
    # Joint, and without and with corrections: NRMSE on held-out blocks, RMS errors of PARTS on the
    # samples that were fitted, mean coherence above the split with measured minus smooth velocity.
    rows: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    # Joint, and its groups, each with the share of the squared error that it explains.
    groups: tuple[tuple[str, str], ...]
    spectra: tuple[Picture, ...]

    def table(self, arrow: str, unit: str = '') -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return header and rows; the arrow stands between errors without and with them."""
        header = (
            'joint', 'NRMSE, held out', f'moving{unit}', 'at rest', f'below {self.split} Hz',
            'above', 'coherence',
        )
        return header, [(joint, *map(arrow.join, pairs)) for joint, pairs in self.rows]


def corrections_section(
    identification: Identification, fitted: Sequence[Scored]
) -> CorrectionsSection | None:
    """Return the section of an identification, None where no joint has corrections."""
    model = identification.model
    if not model.corrections.offline:
        return None
    plain = [predict_effort(model, one.dataset, corrected=False) for one in fitted]
    before = [
        measure_details(one.dataset, effort, one.rows)
        for one, effort in zip(fitted, plain, strict=True)
    ]
    after = [measure_details(one.dataset, one.predicted, one.rows) for one in fitted]
    held = model.quality['cross_validation']
    rows, groups, pictures = [], [], []
    for joint in sorted({one.joint for one in model.corrections.offline}):
        name, spectra = model.robot.joint_names[joint], _spectra(fitted, plain, joint)
        rows.append((name, (
            (_mean(held['without_corrections']['nrmse'], joint), _mean(held['nrmse'], joint)),
            *(
                (number(_rms(before, part, joint)), number(_rms(after, part, joint)))
                for part in PARTS
            ),
            _mean_coherence(spectra, after[0].split),
        )))
        groups.append((name, _groups(model, joint)))
        if spectra is not None:
            pictures.append(_draw(spectra, name, model.effort_unit))
    return CorrectionsSection(
        effort_unit_text(model.effort_unit), number(after[0].split, 2), tuple(rows),
        tuple(groups), tuple(pictures),
    )


def _groups(model: IdentifiedModel, joint: int) -> str:
    return '; '.join(
        f'{one.group.meaning} ({one.group.name}, {percent(one.decrease)})'
        for one in model.corrections.offline if one.joint == joint
    )


def _mean(nrmse: Sequence[Sequence[float]], joint: int) -> str:
    return fixed(float(np.nanmean([of_bag[joint] for of_bag in nrmse])))


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
    length = segment_length(count, dataset.rate)
    if not length:
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
        # One window gives 1 for any signals; of fewer than four the error is above a quarter.
        if np.isfinite(fast).all() and np.any(fast != 0.0) and count >= 4 * length:
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


def _draw(spectra: _Spectra, name: str, unit: str) -> Picture:
    """Draw what is left without and with corrections, and how it follows the velocity."""
    both = spectra.coherence is not None
    drawing = Drawing(WIDTH, 3.0 if both else 2.0)
    panels = drawing.panels(
        MARGINS, rows=(2.0, 1.0) if both else (1.0,), gaps=(0.0, 0.2)
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
