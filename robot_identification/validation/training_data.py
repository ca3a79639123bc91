# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Detection of recordings that a model was identified from: by content, not by name."""

from __future__ import annotations

from collections.abc import Mapping
import math
from pathlib import Path
from typing import Any

from robot_identification.files import file_sha256
from robot_identification.model import IdentifiedModel
from robot_identification.recording import data_hashes


def find_training_data(
    model: IdentifiedModel, bag: Path, start: float | None = None, stop: float | None = None
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
    whole = {file_sha256(bag)} if is_old else files
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
