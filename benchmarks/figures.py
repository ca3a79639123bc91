# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Result of a benchmark, and the facts of the machine that it depends on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
import os
from pathlib import Path
import platform
import statistics
import time
from typing import Any

from robot_identification.estimation.quality import versions


@dataclass(frozen=True)
class Figure:
    """
    One measured quantity.

    Attributes
    ----------
    name, unit : str
        What it is; the unit is empty for ratios.
    values : tuple of float
        One for each repeat.

    """

    name: str
    unit: str
    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """Median of the repeats."""
        return statistics.median(self.values)

    @property
    def quartiles(self) -> tuple[float, float]:
        """Return the ends of the middle half of the repeats."""
        if len(self.values) == 1:
            return self.values[0], self.values[0]
        first, _, third = statistics.quantiles(self.values, n=4, method='inclusive')
        return first, third

    def as_row(self) -> tuple[str, str, str, str]:
        """Return name, median, middle half and unit as texts."""
        first, third = self.quartiles
        return self.name, f'{self.median:.3g}', f'{first:.3g} to {third:.3g}', self.unit

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            'name': self.name,
            'unit': self.unit,
            'median': self.median,
            'quartiles': list(self.quartiles),
            'lowest': min(self.values),
            'highest': max(self.values),
            'values': list(self.values),
        }


def seconds(function: Callable[[], Any]) -> float:
    """Return how long a call takes."""
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


def alternate(functions: Sequence[Callable[[], Any]], repeats: int) -> list[list[float]]:
    """
    Time several functions in turn, so that all of them meet the same load; each runs once before.

    Returns
    -------
    list of list of float
        Seconds of every repeat, for each function.

    """
    for function in functions:
        function()
    times: list[list[float]] = [[] for _ in functions]
    for _ in range(repeats):
        for found, function in zip(times, functions, strict=True):
            found.append(seconds(function))
    return times


def machine() -> dict[str, Any]:
    """Return what the figures depend on besides the code."""
    return {
        'processor': _processor(),
        'cores': os.cpu_count(),
        'load_average': [round(load, 2) for load in os.getloadavg()],
        'memory_gb': round(os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 1e9, 1),
        'system': platform.platform(terse=True),
        'blas_threads': int(os.environ['OPENBLAS_NUM_THREADS']),
        **versions(),
    }


def _processor() -> str:
    try:
        lines = Path('/proc/cpuinfo').read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(':')[2].strip() for line in lines if line.startswith('model name')]
    return names[0] if names else platform.machine()


def ratio(times: Sequence[float], reference: Sequence[float]) -> tuple[float, ...]:
    """Return times over those of what ran in turn with it, repeat by repeat."""
    return tuple(a / b for a, b in zip(times, reference, strict=True))
