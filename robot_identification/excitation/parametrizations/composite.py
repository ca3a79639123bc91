# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Motions one after the other, all from and to the start of one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
import math
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DescriptionError
from robot_identification.excitation.parametrizations.fourier import FourierParametrization
from robot_identification.excitation.parametrizations.parametrization import (
    check_count, check_seconds, Parametrization, within_period,
)
from robot_identification.excitation.parametrizations.stop_and_go import (
    StaticPosesParametrization,
)
from robot_identification.excitation.parametrizations.via_points import ViaPointsParametrization
from robot_identification.removed import describe_unknown

# Forms that parts may have: they rest at both ends, and their acceleration is continuous.
PART_FORMS: dict[str, type[Parametrization]] = {
    form.name: form for form in (
        FourierParametrization, ViaPointsParametrization, StaticPosesParametrization,
    )
}
MOST_PARTS = 10  # chosen: a motion has two or three
# A short motion with two rests.
USUAL_PARTS = (
    {'form': 'fourier', 'harmonics': 5, 'base_period': 10.0},
    {'form': 'static_poses', 'poses': 2, 'dwell': 1.0, 'move_time': 1.0,
     'both_directions': False},
)


@dataclass(frozen=True)
class CompositeParametrization(Parametrization):
    """
    Parts that follow each other, each a motion of a form of its own.

    Every part starts and ends where the one that is searched starts, at rest and without
    acceleration. The coefficients of a joint are the position that this part moves about, and the
    amplitudes of all parts in their order.
    """

    # The form of each part as `form`, and its options beside it.
    parts: Sequence[Mapping[str, Any]] = USUAL_PARTS
    searched: int = 0  # number of the part that is searched, from 0 on

    name = 'composite'

    def __post_init__(self) -> None:
        parts = self.parts
        if not isinstance(parts, (list, tuple)) or not 1 <= len(parts) <= MOST_PARTS:
            raise DescriptionError(f'parts must be a list of 1 to {MOST_PARTS} forms')
        object.__setattr__(self, 'parts', tuple(dict(part) for part in parts))
        check_count('searched', self.searched, 0, len(parts) - 1)
        check_seconds('duration', self.duration)

    @cached_property
    def forms(self) -> tuple[Parametrization, ...]:
        """Forms of the parts."""
        return tuple(_form_of(number, part) for number, part in enumerate(self.parts))

    @cached_property
    def edges(self) -> FloatArray:
        """Instants at which the parts begin, and the end [s]."""
        return np.concatenate([[0.0], np.cumsum([form.duration for form in self.forms])])

    @property
    def n_coefficients(self) -> int:
        return 1 + sum(form.n_coefficients - 1 for form in self.forms)

    @property
    def duration(self) -> float:
        return float(self.edges[-1])

    @property
    def searched_span(self) -> tuple[float, float]:
        """Start and end of the part that alone is searched [s]."""
        return float(self.edges[self.searched]), float(self.edges[self.searched + 1])

    @property
    def grid_samples(self) -> int:
        rate = max(form.grid_samples / form.duration for form in self.forms)
        return math.ceil(rate * self.duration) + 1

    @property
    def pieces(self) -> FloatArray:
        return np.unique(np.concatenate([
            start + form.pieces for start, form in zip(self.edges, self.forms, strict=False)
        ]))

    def options(self) -> dict[str, Any]:
        """Return the parts, each with all options of its form."""
        return {
            'parts': [{'form': form.name, **form.options()} for form in self.forms],
            'searched': self.searched,
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CompositeParametrization) and (
            (self.forms, self.searched) == (other.forms, other.searched)
        )

    def __hash__(self) -> int:
        return hash((self.forms, self.searched))

    def basis(self, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        t = within_period(t, self.duration)
        bases = np.zeros((3, len(t), self.n_coefficients))
        bases[0, :, 0] = 1.0
        for number, (form, columns, rows, local) in enumerate(self._places(t)):
            amplitudes = [values[:, 1:] for values in form.basis(local)]
            if number == self.searched:
                bases[0, :, columns] += _at_start(form)
            # A part begins where that one does, wherever its own form would.
            amplitudes[0] = amplitudes[0] - _at_start(form)
            for order in range(3):
                bases[order, rows, columns] += amplitudes[order]
        B, dB, ddB = bases
        return B, dB, ddB

    def jerk_basis(self, t: FloatArray) -> FloatArray:
        t = within_period(t, self.duration)
        basis = np.zeros((len(t), self.n_coefficients))
        for form, columns, rows, local in self._places(t):
            basis[rows, columns] = form.jerk_basis(local)[:, 1:]
        return basis

    def coefficients(self, parts: Sequence[FloatArray]) -> FloatArray:
        """Return those of all parts as one (n, c), with the centre of the searched one."""
        return np.hstack([parts[self.searched][:, :1], *(part[:, 1:] for part in parts)])

    def _places(
        self, t: FloatArray
    ) -> list[tuple[Parametrization, slice, Any, FloatArray]]:
        """Return each part with its amplitudes' columns, its rows, and their times in it [s]."""
        part = np.clip(np.searchsorted(self.edges, t, side='right') - 1, 0, len(self.forms) - 1)
        places, column = [], 1
        for number, form in enumerate(self.forms):
            rows = np.flatnonzero(part == number)
            local = np.clip(t[rows] - self.edges[number], 0.0, form.duration)
            end = column + form.n_coefficients - 1
            places.append((form, slice(column, end), rows, local))
            column = end
        return places


def _at_start(form: Parametrization) -> FloatArray:
    """Return where a motion starts, by its amplitudes (c - 1,)."""
    start: FloatArray = form.basis(np.zeros(1))[0][0, 1:]
    return start


def _form_of(number: int, part: Mapping[str, Any]) -> Parametrization:
    """Return the form of a part; DescriptionError names the part that has none."""
    options = dict(part)
    name = options.pop('form', None)
    if name not in PART_FORMS:
        raise DescriptionError(f'parts[{number}]: {describe_unknown("form", name, PART_FORMS)}')
    try:
        return PART_FORMS[name](**options)
    except TypeError as error:
        raise DescriptionError(f'parts[{number}]: {error}') from error
