# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Quality of a recording: rate, jitter, gaps, completeness, and samples left out with reasons."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.model import IdentifiedModel
from robot_identification.processing import count_missing, Dataset, MISSING_PERIODS
from robot_identification.recording import (
    Damage, METADATA_FILE, NOT_KNOWN, read_driver_record, read_metadata,
)
from robot_identification.report.formatting import number, percent
from robot_identification.texts import counted

# What recorders note of a run that a reader asks for, and what it is called.
NOTED = {
    'serial': 'Serial number', 'robot': 'Robot, as recorded', 'payload': 'Payload, as recorded',
    'configuration_hash': 'Configuration', 'trajectory_sha256': 'Trajectory',
}


def recording_quality(
    dataset: Dataset, provenance: Mapping[str, Any] | None = None
) -> tuple[str, tuple[tuple[str, str], ...], tuple[tuple[str, int, float], ...]]:
    """
    Return the name of a recording, what is known of it in words, and what was left out.

    The latter is why samples were left out, how many, and their share of all. The provenance of
    the model says how much was read.
    """
    read = ('Read', _completeness(dataset, provenance or {}))
    return dataset.source, (*_reading(dataset), *_timing(dataset), read), _left_out(dataset)


def training_bags(model: IdentifiedModel) -> tuple[tuple[str, str], ...]:
    """Return path and hash of the bags that a model was identified from."""
    return tuple(
        (str(bag.get('path', '')), str(bag.get('sha256', '')))
        for bag in model.provenance.get('bags', ())
    )


def recorder_notes(model: IdentifiedModel) -> tuple[tuple[str, str], ...]:
    """Return titles and values of the recorder's notes in the bags that still exist."""
    noted: dict[str, dict[str, None]] = {}
    for bag in model.provenance.get('bags', ()):
        try:
            custom = read_metadata(Path(str(bag.get('path', ''))) / METADATA_FILE).custom_data
        except Damage:
            continue
        for key, value in custom.items():
            if key in NOTED and value:
                noted.setdefault(NOTED[key], {})[value] = None
        record = read_driver_record(custom)
        described = [] if record is None else record.describe()
        if any(text != NOT_KNOWN for _, text in described):
            for title, text in described:
                noted.setdefault(title, {})[text] = None
    # Those of the operator first, in their order.
    titles = (*(title for title in NOTED.values() if title in noted), *noted)
    return tuple((title, ', '.join(noted[title])) for title in dict.fromkeys(titles))


def _reading(dataset: Dataset) -> list[tuple[str, str]]:
    """Return in words how many samples a recording has, and how many count."""
    facts = [
        (
            'Samples read', f'{len(dataset)} over {number(np.ptp(dataset.stamps))} s' if
            dataset.whole is None else
            f'{len(dataset)} of {dataset.whole}, in evenly spread parts: those below are of them'
        ),
        ('Rate', f'{number(dataset.rate, 4)} Hz by the median interval'),
    ]
    if dataset.found_delay is not None:
        facts.append(('Delay', dataset.found_delay.describe(dataset.delay)))
    return [
        *facts,
        ('Scored', str(np.count_nonzero(dataset.scored))),
        ('Fit for estimation', str(np.count_nonzero(dataset.fitted))),
    ]


def _timing(dataset: Dataset) -> tuple[tuple[str, str], ...]:
    """Return jitter, gaps and missing samples; repeated stamps are no interval."""
    intervals = np.diff(dataset.stamps)
    intervals = intervals[intervals > 0.0]
    if not intervals.size:
        return ()
    period = 1.0 / dataset.rate
    usual = intervals[intervals < MISSING_PERIODS * period]
    jitter = float(np.std(usual)) if usual.size else float('nan')
    missing, seen = count_missing(intervals, period), len(intervals) + 1
    facts = [
        ('Jitter', f'{_milliseconds(jitter)} (standard deviation of the interval, '
                   f'{percent(jitter / period)} of the period)'),
    ]
    if dataset.whole is not None:
        return tuple(facts)
    facts += [
        ('Longest interval', f'{number(1e3 * float(intervals.max()))} ms'),
        ('Samples that came', f'{percent(seen / (seen + missing))} of those that the rate '
                              f'promises, {missing} missing'),
    ]
    gaps = 'none' if not dataset.gaps else (
        f'{len(dataset.gaps)}, together {number(sum(gap.duration for gap in dataset.gaps))} s, '
        f'the longest {number(max(gap.duration for gap in dataset.gaps))} s'
    )
    parts = len(dataset.segments)
    return (*facts, ('Gaps', f'{gaps}; {counted(parts, "part")} without a gap'))


def _milliseconds(seconds: float) -> str:
    """Return a time in words; what is less than a microsecond is rounding of stamps."""
    return '< 0.001 ms' if seconds < 1e-6 else f'{number(1e3 * seconds, 2)} ms'


def _completeness(dataset: Dataset, provenance: Mapping[str, Any]) -> str:
    messages = [
        str(bag.get('completeness', 'complete')) for bag in provenance.get('bags', ())
        if str(bag.get('path', '')) == dataset.source
    ]
    # What processing found of damage is among the notes of the data.
    messages += [note for note in dataset.notes if 'damaged bag' in note]
    return messages[0] if messages else 'complete'


def _left_out(dataset: Dataset) -> tuple[tuple[str, int, float], ...]:
    counts = dict(dataset.excluded)
    before = int(np.count_nonzero(np.isnan(dataset.effort).any(axis=1)))
    if before:
        counts['outside the window, only run through the filter'] = before
    total = max(len(dataset), 1)
    return tuple((reason, count, count / total) for reason, count in counts.items() if count)
