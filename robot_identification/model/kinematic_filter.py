# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""KinematicFilter: how the kinematics of a recording are smoothed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from robot_identification.errors import DescriptionError
from robot_identification.files import check_keys, is_number, is_whole_number

# Options of each kind; the other fields have no effect on it.
OPTIONS_BY_KIND: Mapping[str, tuple[str, ...]] = {
    'butterworth': ('order', 'cutoff'),
    'fourier': ('period', 'harmonics'),
    'rloess': ('span',),
    'savitzky_golay': ('order', 'span'),
    'none': (),
}


@dataclass(frozen=True)
class KinematicFilter:
    """
    Filter of the positions and velocities of a recording.

    Kinds: 'butterworth', a zero-phase low-pass run forward and backward, `order` and `cutoff` [Hz]
    of one pass; 'fourier', the Fourier series of a motion of `period` [s], so many `harmonics`,
    differentiated term by term; 'rloess', robust local quadratic regression in windows of `span`
    [s]; 'savitzky_golay', local polynomials of degree `order` in such windows; 'none', central
    differences only. Raises DescriptionError if the kind is unknown, a value is outside its range,
    or 'fourier' has no period.
    """

    kind: str = 'butterworth'
    order: int = 2
    cutoff: float = 9.0
    span: float = 0.15
    period: float | None = None
    harmonics: int = 10

    def __post_init__(self) -> None:
        if self.kind not in OPTIONS_BY_KIND:
            raise DescriptionError(
                f'filter {self.kind!r} is unknown; known are {", ".join(OPTIONS_BY_KIND)}'
            )
        # Far above what a motion of an arm needs, so that only a slip of the hand is refused; a
        # longer window would smooth the motion itself away.
        for count, most, what in (
            (self.order, 10, 'filter order'),
            (self.harmonics, 500, 'number of harmonics of the filter'),
        ):
            if not is_whole_number(count) or not 1 <= count <= most:
                raise DescriptionError(f'{what} is {count!r}, allowed are 1 to {most}')
        _check_number(self.cutoff, 1e6, 'filter cut-off', 'Hz')
        _check_number(self.span, 10.0, 'filter span', 's')
        if self.period is not None:
            _check_number(self.period, 3600.0, 'filter period', 's')
        if self.kind == 'fourier' and self.period is None:
            raise DescriptionError(
                'filter fourier needs the period of the motion [s]; the trajectory file has it'
            )

    @property
    def needs_whole_recording(self) -> bool:
        """Return whether kinematics depend on all of a recording: a Fourier series does."""
        return self.kind == 'fourier'

    def options(self) -> dict[str, Any]:
        """Return the kind and its options, by name."""
        return {
            'kind': self.kind,
            **{name: getattr(self, name) for name in OPTIONS_BY_KIND[self.kind]},
        }


def kinematic_filter_from_options(options: Mapping[str, Any]) -> KinematicFilter:
    """
    Return the filter of a model file from its kind and exactly the options of it.

    Raises DescriptionError if the kind is unknown, or an option is missing, superfluous or outside
    its range.
    """
    kind = options.get('kind')
    if not isinstance(kind, str) or kind not in OPTIONS_BY_KIND:
        raise DescriptionError(
            f'filter {kind!r} is unknown; known are {", ".join(OPTIONS_BY_KIND)}'
        )
    check_keys(options, 'the filter', {'kind', *OPTIONS_BY_KIND[kind]}, set())
    return KinematicFilter(**options)


def _check_number(value: Any, highest: float, what: str, unit: str) -> None:
    if not is_number(value) or not 0.0 < value <= highest:
        raise DescriptionError(
            f'{what} is {value!r} {unit}, it must be positive and at most {highest:g} {unit}'
        )
