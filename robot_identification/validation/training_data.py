# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Recordings that a model was identified from, by content, and their temperatures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.files import file_sha256
from robot_identification.model import IdentifiedModel, StandardParameters
from robot_identification.processing import Dataset
from robot_identification.recording import data_hashes, Recording


def find_training_data(
    model: IdentifiedModel, bag: Path | Recording, start: float | None = None,
    stop: float | None = None,
) -> str:
    """
    Return why a bag is training data of a model, in words; empty if it is not.

    Bags are compared by the SHA-256 of their message files: copies, names and folders make no
    difference. The same bag is no training data if its window from `start` to `stop` [s after the
    first joint state] does not overlap the model's. A bag that shares only some files has another
    time base: it is training data for any windows.
    """
    entries = model.provenance.get('bags', ())
    files = set(data_hashes(bag))
    # Models of earlier versions have the hash of the whole bag alone.
    is_old = any('data_sha256' not in entry for entry in entries)
    whole = {file_sha256(bag)} if is_old and isinstance(bag, Path) else files
    trained = _window(model.provenance.get('options', {}))
    scored = _window({'start': start, 'stop': stop})
    for entry in entries:
        known = set(entry.get('data_sha256', ())) or {entry.get('sha256')}
        path = entry.get('path', 'a bag')
        if known in (files, whole):
            if max(trained[0], scored[0]) < min(trained[1], scored[1]):
                return (
                    f'it has the content of {path}, from which the model was identified (fitted: '
                    f'{_words(trained)}; scored: {_words(scored)})'
                )
        elif files & known:
            return f'it has some files of {path}, from which the model was identified'
    return ''


def _window(options: Mapping[str, Any]) -> tuple[float, float]:
    """Return the ends of a window [s]; infinite where it is open."""
    start, stop = options.get('start'), options.get('stop')
    return (
        -math.inf if start is None else float(start), math.inf if stop is None else float(stop)
    )


def _words(window: tuple[float, float]) -> str:
    start, stop = window
    if window == (-math.inf, math.inf):
        return 'everything'
    if math.isinf(stop):
        return f'from {start:g} s on'
    return f'up to {stop:g} s' if math.isinf(start) else f'{start:g} s to {stop:g} s'


# Where the temperature of a joint varies by more than this within what is fitted together [K],
# its friction is not one number.
WIDE_RANGE = 5.0


def _fitted(datasets: Sequence[Dataset]) -> list[FloatArray]:
    """Return the temperatures (m, n) at the fitted samples of each recording that has them."""
    return [
        dataset.motion.temperature[dataset.fitted]
        for dataset in datasets if dataset.motion.temperature is not None
    ]


def temperatures_covered(
    datasets: Sequence[Dataset], others: Sequence[FloatArray] = ()
) -> FloatArray | None:
    """
    Return the lowest and highest temperature of each fitted joint (2, n) [deg C], if recorded.

    `others` (m, n) are temperatures of what is fitted with the datasets, extremes at least.
    """
    seen = [*others, *_fitted(datasets)]
    if not seen or not np.all(np.isfinite(values := np.concatenate(seen))) or not len(values):
        return None
    return np.stack([values.min(axis=0), values.max(axis=0)])


def temperature_notes(
    datasets: Sequence[Dataset],
    parameters: StandardParameters,
    others: Sequence[FloatArray] = (),
) -> tuple[str, ...]:
    """
    Return which joints warmed by so much that their viscous friction varies, in words.

    Joints with a law that knows of temperature are not named; `others` (m, n) [deg C] are the
    extreme temperatures, at least, of recordings that are fitted with the datasets.
    """
    seen = [*_fitted(datasets), *others]
    if not seen:
        return ()
    known = {term.joint for term in parameters.friction if term.law.needs_temperature}
    columns = np.concatenate(seen).T
    ends = [
        (name, float(np.nanmin(column)), float(np.nanmax(column)))
        for j, (name, column) in enumerate(zip(datasets[0].joint_names, columns, strict=True))
        if j not in known and np.any(np.isfinite(column))
    ]
    warm = [
        f'{name} from {low:.1f} to {high:.1f}' for name, low, high in ends
        if high - low > WIDE_RANGE
    ]
    if not warm:
        return ()
    return (
        f'temperatures vary by more than {WIDE_RANGE:g} K ({", ".join(warm)} deg C), and viscous '
        'friction with them: --friction coulomb,viscous,temperature_viscous,offset gives it a '
        'slope',
    )
