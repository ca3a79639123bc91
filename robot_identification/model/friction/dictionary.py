# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The friction dictionary: sliding, pre-sliding and load terms, sparse by non-negativity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.errors import DescriptionError
from robot_identification.model.friction.basis import BasisTerm, STOP
from robot_identification.model.friction.law import check_between, check_positive, FrictionLaw

# Passage through zero of the Stribeck terms [rad/s], the default width of the other laws.
STRIBECK_WIDTH = 0.01
# What the terms of each kind describe, and the unit of the constant that distinguishes them.
_KINDS = {
    'viscous': ('viscous', ''), 'sliding': ('Coulomb', 'rad/s'),
    'presliding': ('presliding', 'rad'), 'stribeck': ('Stribeck', 'rad/s'),
    'load_sliding': ('load', 'rad/s'), 'load_presliding': ('load', 'rad'),
}


def _basis_term(kind: str, constant: float, position_step: float) -> BasisTerm:
    loaded = kind.startswith('load')
    match kind.removeprefix('load_'):
        case 'sliding':
            return BasisTerm('smooth_sign', (constant,), per_load=loaded)
        case 'presliding':
            return BasisTerm(STOP, (constant, position_step), per_load=loaded)
        case 'stribeck':
            return BasisTerm('static_sign', (STRIBECK_WIDTH, constant, 2.0))
        case _:
            return BasisTerm('velocity', (constant,))


@dataclass(frozen=True)
class DictionaryFriction(FrictionLaw):
    """
    Many simple terms, of which a fit with coefficients that are not negative keeps few.

    With the stop operator ``s(q; r)`` of `stop_operator` and the torque ``l`` that the joint
    transmits::

        dq                                          viscous
        tanh(dq / w)                                sliding, by width w
        s(q; r) / r                                 presliding, by radius r
        tanh(dq / .01) exp(-(dq / v)^2)             stribeck, by velocity v
        abs(l) tanh(dq / w)                         load_sliding, by width w
        abs(l) s(q; r) / r                          load_presliding, by radius r

    A term dissipates energy in any motion, or (pre-sliding, under a constant load) stores no more
    than ``r / 2`` times its coefficient. So does a sum with coefficients that are not negative.
    """

    viscous: tuple[float, ...] = (1.0,)  # one factor on the velocity, or none
    # Widths of the passage through zero velocity [rad/s].
    sliding: tuple[float, ...] = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
    # Displacements at which sliding begins [rad].
    presliding: tuple[float, ...] = (0.0001, 0.0002, 0.0006, 0.002, 0.006, 0.02, 0.06, 0.2)
    # Velocities at which static friction has fallen to 37 % [rad/s].
    stribeck: tuple[float, ...] = (0.03, 0.1, 0.3)
    load_sliding: tuple[float, ...] = (0.01, 0.1)
    load_presliding: tuple[float, ...] = (0.0006, 0.006)
    # Step in which positions are read [rad], 0 if it is too fine to matter. Displacements do not
    # follow a digit that jumps at rest.
    position_step: float = 0.0

    name = 'dictionary'
    needs_rigid_torque = True
    is_structural = False
    is_sparse = True
    excludes = (
        'coulomb', 'coulomb_sign', 'viscous', 'asymmetric', 'stribeck', 'power_viscous',
        'cubic_viscous', 'load', 'temperature_viscous', 'strain_wave',
    )

    def __post_init__(self) -> None:
        check_between(self.position_step, 0.0, 1.0, 'position_step of dictionary friction')
        for kind in _KINDS:
            values = getattr(self, kind)
            if not isinstance(values, (tuple, list)):
                raise DescriptionError(
                    f'{kind} of dictionary friction is {values!r}, it must be a list'
                )
            for value in values:
                check_positive(value, f'{kind} of dictionary friction')
            if len({f'{value:g}' for value in values}) < len(values):
                raise DescriptionError(
                    f'{kind} of dictionary friction has a constant twice: {values!r}'
                )
            # A file has lists.
            object.__setattr__(self, kind, tuple(float(value) for value in values))

    @property
    def terms(self) -> tuple[tuple[str, float], ...]:
        """Kind and constant of every term."""
        return tuple((kind, value) for kind in _KINDS for value in getattr(self, kind))

    @property
    def symbols(self) -> tuple[str, ...]:
        return tuple(f'{kind}[{value:g}]' for kind, value in self.terms)

    @property
    def units(self) -> tuple[str, ...]:
        return tuple(
            'N m s/rad' if kind == 'viscous' else '1' if kind.startswith('load') else 'N m'
            for kind, _ in self.terms
        )

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(_KINDS[kind][0] for kind, _ in self.terms)

    def label(self, k: int) -> tuple[str, str]:
        kind, constant = self.terms[k]
        # One viscous term needs no constant.
        is_plain = kind == 'viscous' and constant == 1.0
        text = '' if is_plain else f'{constant:g} {_KINDS[kind][1]}'.rstrip()
        return kind.replace('_', ' '), text

    def without_zeros(self, coefficients: FloatArray) -> tuple[FrictionLaw, BoolArray]:
        used = coefficients > 0.0
        return self.keep(used), used

    def with_position_step(self, step: float) -> FrictionLaw:
        return replace(self, position_step=max(self.position_step, step))

    def keep(self, chosen: Sequence[bool] | BoolArray) -> DictionaryFriction:
        """Return the law with some of its terms."""
        left = [term for term, kept in zip(self.terms, chosen, strict=True) if kept]
        constants: dict[str, Any] = {
            kind: tuple(value for other, value in left if other == kind) for kind in _KINDS
        }
        return replace(self, **constants)

    @property
    def basis(self) -> tuple[BasisTerm, ...]:
        return tuple(
            _basis_term(kind, constant, self.position_step) for kind, constant in self.terms
        )
