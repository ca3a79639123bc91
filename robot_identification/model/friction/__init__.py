# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The friction laws, and lists of them as options have them.

To add one: write its class here, add one line to FRICTION_LAWS; the contract tests run over every
entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from types import MappingProxyType
from typing import Any

from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.errors import DescriptionError, UsageError
from robot_identification.model.friction.basis import BasisTerm, STOP
from robot_identification.model.friction.law import (
    check_between, check_positive, Coefficient, FrictionLaw,
)
from robot_identification.removed import describe_unknown, REMOVED

# Constants of the curves of static and kinetic friction.
_STRIBECK = ('width', 'velocity', 'exponent')


@dataclass(frozen=True)
class CoulombFriction(FrictionLaw):
    """
    Coulomb friction, ``fc * tanh(dq / width)``.

    At rest it is zero, where the sign of a measured velocity is that of its noise.
    """

    # Velocity at which 76 % of the friction is reached [rad/s]: above the noise of a measured
    # velocity, below any motion that matters. Raviola et al. 2021 use 0.001 on planned ones.
    width: float = 0.01

    name = 'coulomb'
    plain = (1.0, 0.0)
    coefficients = (Coefficient('fc', 'N m', 'smooth_sign', ('width',)),)
    shape = ('width',)
    searched_next = ('width',)
    tried = ('width', (0.003, 0.01, 0.02, 0.05, 0.1))  # from a gentle creep to a brisk motion

    @property
    def smoothing_velocity(self) -> float:
        return self.width


@dataclass(frozen=True)
class CoulombSignFriction(FrictionLaw):
    """
    Friction torque of constant magnitude against the motion, ``fcs * sign(dq)``.

    In sliding it is `coulomb`, which it excludes.
    """

    # Velocities up to this magnitude [rad/s] count as rest, where the sign is zero: the sign of
    # rounding noise would otherwise be a friction torque.
    zero_velocity: float = 1.0e-6

    name = 'coulomb_sign'
    plain = (1.0, 0.0)
    coefficients = (Coefficient('fcs', 'N m', 'sign', ('zero_velocity',)),)
    excludes = ('coulomb',)

    def softened(self, width: float) -> FrictionLaw:
        """Return smooth Coulomb friction."""
        return CoulombFriction(width)


@dataclass(frozen=True)
class ViscousFriction(FrictionLaw):
    """Friction torque proportional to velocity, ``fv * dq``."""

    name = 'viscous'
    plain = (0.0, 1.0)
    coefficients = (Coefficient('fv', 'N m s/rad', 'velocity', (1.0,)),)


@dataclass(frozen=True)
class FrictionOffset(FrictionLaw):
    """A constant torque: current bias, or unequal Coulomb friction."""

    name = 'offset'
    plain = (0.0, 0.0)
    is_offset = True
    coefficients = (Coefficient('f0', 'N m', 'one'),)
    signed = ('f0',)


@dataclass(frozen=True)
class AsymmetricFriction(FrictionLaw):
    """
    Friction torque ``fcp + fvp dq`` forwards and ``-fcn + fvn dq`` backwards.

    With ``s = tanh(dq / width)`` it is ``(1 + s) / 2 (fcp s + fvp dq) + (1 - s) / 2 (fcn s +
    fvn dq)``, which passes smoothly through zero at rest and is ``fc s + fv dq`` where both
    directions are alike. So `coulomb` and `viscous` are sums of its columns, and in sliding
    `coulomb_sign` and `offset`, half the difference of fcp and fcn, are such sums, too.
    """

    # Velocity at which 76 % of the passage from one direction to the other is done [rad/s].
    width: float = 0.01

    name = 'asymmetric'
    coefficients = (
        Coefficient('fcp', 'N m', 'forward_sign', ('width',)),
        Coefficient('fcn', 'N m', 'backward_sign', ('width',)),
        Coefficient('fvp', 'N m s/rad', 'forward_velocity', ('width',)),
        Coefficient('fvn', 'N m s/rad', 'backward_velocity', ('width',)),
    )
    shape = ('width',)
    excludes = ('coulomb', 'coulomb_sign', 'viscous', 'offset')


@dataclass(frozen=True)
class StribeckFriction(FrictionLaw):
    """
    Stribeck friction without its viscous part.

    ``(fk + (fs - fk) exp(-abs(dq / velocity)^exponent)) tanh(dq / width)`` with kinetic friction
    fk and static friction fs; the columns add up to that of `coulomb`. At the Stribeck velocity
    [rad/s], 1 / e of the static excess is left. The exponent is from 0.5 to 2 (Gaussian). The
    width of the passage through zero [rad/s] should be several times smaller than the Stribeck
    velocity: static friction is seen only between the two. H. Olsson, K. J. Astrom, C. Canudas de
    Wit, M. Gafvert and P. Lischinsky, "Friction models and friction compensation", European
    Journal of Control 4(3), 1998.
    """

    velocity: float = 0.1
    exponent: float = 2.0
    width: float = 0.01

    name = 'stribeck'
    coefficients = (
        Coefficient('fk', 'N m', 'kinetic_sign', _STRIBECK),
        Coefficient('fs', 'N m', 'static_sign', _STRIBECK),
    )
    shape = ('velocity', 'exponent', 'width')
    limits = MappingProxyType({'exponent': (0.5, 2.0)})
    ranges = limits
    searched_first = ('velocity',)
    searched_next = ('width', 'exponent')
    tried = ('velocity', (0.03, 0.1, 0.3))  # from a creep to a slow motion
    excludes = ('coulomb', 'coulomb_sign', 'asymmetric')


@dataclass(frozen=True)
class PowerViscousFriction(FrictionLaw):
    """
    Sub-linear viscous friction, ``fpw abs(dq)^exponent sign(dq)`` with dq in rad/s.

    The coefficient is the torque at 1 rad/s. `viscous` is not excluded: the two are independent
    at every exponent but 1, which only a fit of the exponent can reach. It is then `viscous`.
    """

    exponent: float = 0.5  # above 0, towards which the law turns into Coulomb friction, up to 1

    name = 'power_viscous'
    coefficients = (Coefficient('fpw', 'N m', 'power', ('exponent',)),)
    shape = ('exponent',)
    limits = MappingProxyType({'exponent': (0.0, 1.0)})
    ranges = MappingProxyType({'exponent': (0.05, 0.95)})
    searched_first = ('exponent',)
    tried = ('exponent', (0.3, 0.5, 0.7))


@dataclass(frozen=True)
class CubicViscousFriction(FrictionLaw):
    """
    Friction torque ``fvc dq^3``, used together with `viscous` to bend its line.

    The linear alternative to a power of the velocity: its sum with `viscous` is the odd
    polynomial of degree three. Beyond the velocities of the recording it leads far astray.
    """

    name = 'cubic_viscous'
    coefficients = (Coefficient('fvc', 'N m s^3/rad^3', 'power', (3.0,)),)
    signed = ('fvc',)


@dataclass(frozen=True)
class LoadFriction(FrictionLaw):
    """
    Load-dependent part of Coulomb friction, ``fcl abs(tau_rigid) tanh(dq / width)``.

    Used with `coulomb` or `stribeck`. It is linear where the rigid torque is known, as that of the
    previous iterate of a fit is; `width` is that of the passage through zero [rad/s]. From A. C.
    Bittencourt and S. Gunnarsson, "Static friction in a robot joint: modeling and identification
    of load and temperature effects", ASME Journal of Dynamic Systems, Measurement, and Control
    134(5), 2012.
    """

    width: float = 0.01

    name = 'load'
    coefficients = (Coefficient('fcl', '1', 'smooth_sign', ('width',), per_load=True),)
    shape = ('width',)
    needs_rigid_torque = True


@dataclass(frozen=True)
class TemperatureViscousFriction(FrictionLaw):
    """
    Friction torque ``fvT (temperature - reference) dq``, used together with `viscous`.

    In both laws together viscous friction is linear in temperature, as Raviola et al. 2021 found
    it in a UR3 and a UR5 (whose joints went from 22 to 40 deg C). It falls as grease warms, so
    fvT is negative.
    """

    # Temperature at which the coefficient of `viscous` holds [deg C]. A convention, not a shape to
    # be found: another one adds a multiple of ``dq``, which `viscous` takes up.
    reference: float = 25.0

    name = 'temperature_viscous'
    coefficients = (
        Coefficient('fvT', 'N m s/(rad K)', 'velocity', (1.0,), per_kelvin=True),
    )
    limits = MappingProxyType({'reference': (-100.0, 250.0)})  # no room temperature in kelvin
    signed = ('fvT',)
    needs_temperature = True


@dataclass(frozen=True)
class StrainWaveFriction(FrictionLaw):
    """
    Stribeck, load and temperature effects in one law for joints with strain-wave gears.

    With ``s = tanh(dq / width)``, ``e = exp(-abs(dq / velocity)^exponent)``, ``L =
    abs(tau_rigid)`` and ``D = temperature - reference``::

        (fcw + fclw L + (fsw + fslw L + fsTw D) e) s
            + (fvw + fvTw D) abs(dq)^viscous_exponent sign(dq)

    fsw, fslw and fsTw are what static friction adds to the kinetic one.

    Reconstructed: Madsen et al. 2020 compensate friction by an estimate that was found beforehand
    and depends on velocity, load and temperature, but its formula is in other papers. This is
    Stribeck friction with parts that grow with the load and are linear in temperature.
    Fit it to sweeps at constant velocities in both directions, with two or more loads and two or
    more temperatures, and keep it; one excitation trajectory does not determine them all.
    """

    velocity: float = 0.1  # Stribeck velocity [rad/s]
    exponent: float = 2.0  # of the Stribeck curve, from 0.5 to 2
    width: float = 0.01  # of the passage through zero [rad/s]
    # Above 0, up to 1; the viscous coefficients are torques at 1 rad/s.
    viscous_exponent: float = 1.0
    reference: float = 25.0  # temperature at which fsw and fvw hold [deg C], a convention

    name = 'strain_wave'
    coefficients = (
        Coefficient('fcw', 'N m', 'smooth_sign', ('width',)),
        Coefficient('fclw', '1', 'smooth_sign', ('width',), per_load=True),
        Coefficient('fsw', 'N m', 'static_sign', _STRIBECK),
        Coefficient('fslw', '1', 'static_sign', _STRIBECK, per_load=True),
        Coefficient('fsTw', 'N m/K', 'static_sign', _STRIBECK, per_kelvin=True),
        Coefficient('fvw', 'N m', 'power', ('viscous_exponent',)),
        Coefficient('fvTw', 'N m/K', 'power', ('viscous_exponent',), per_kelvin=True),
    )
    shape = ('velocity', 'exponent', 'width', 'viscous_exponent')
    limits = MappingProxyType({
        'exponent': (0.5, 2.0), 'viscous_exponent': (0.0, 1.0), 'reference': (-100.0, 250.0),
    })
    ranges = MappingProxyType({'exponent': (0.5, 2.0), 'viscous_exponent': (0.05, 1.0)})
    signed = ('fsTw', 'fvTw')
    needs_temperature = True
    needs_rigid_torque = True
    excludes = (
        'coulomb', 'coulomb_sign', 'viscous', 'asymmetric', 'stribeck', 'load',
        'temperature_viscous',
    )


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
            # With the default width of the other laws [rad/s].
            return BasisTerm('static_sign', (0.01, constant, 2.0))
        case _:
            return BasisTerm('velocity', (constant,))


@dataclass(frozen=True)
class DictionaryFriction(FrictionLaw):
    """
    Many simple terms, of which a fit with coefficients that are not negative keeps few.

    With the stop operator ``s(q; r)`` of `run_stops` and the torque ``l`` that the joint
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

    @cached_property
    def basis(self) -> tuple[BasisTerm, ...]:
        return tuple(
            _basis_term(kind, constant, self.position_step) for kind, constant in self.terms
        )


FRICTION_LAWS: dict[str, type[FrictionLaw]] = {
    'coulomb': CoulombFriction,
    'coulomb_sign': CoulombSignFriction,
    'viscous': ViscousFriction,
    'offset': FrictionOffset,
    'asymmetric': AsymmetricFriction,
    'stribeck': StribeckFriction,
    'power_viscous': PowerViscousFriction,
    'cubic_viscous': CubicViscousFriction,
    'load': LoadFriction,
    'temperature_viscous': TemperatureViscousFriction,
    'strain_wave': StrainWaveFriction,
    'dictionary': DictionaryFriction,
}

# What is fitted where nothing else is asked for, as --friction states it.
PLAIN_FRICTION = 'coulomb,viscous,offset'
# Terms that are chosen from the data.
AUTOMATIC_FRICTION = 'dictionary,offset'


def parse_friction(text: str) -> tuple[FrictionLaw, ...]:
    """
    Return the laws named in a comma-separated list; `none` is no friction.

    Raises UsageError if a law is unknown or named twice, or two laws exclude each other.
    """
    names = [name.strip() for name in text.split(',') if name.strip()]
    if names == ['none']:
        return ()
    unknown = [name for name in names if name not in FRICTION_LAWS]
    removed = [name for name in unknown if name in REMOVED]
    if removed:
        raise UsageError(describe_unknown('friction', removed[0], ()))
    if unknown or not names:
        raise UsageError(
            f'unknown friction law {", ".join(unknown) or repr(text)}: '
            f'known are {", ".join(FRICTION_LAWS)} and none'
        )
    if len(set(names)) != len(names):
        raise UsageError(f'a friction law is named twice in {text!r}')
    for first, second in combinations(names, 2):
        if exclude_each_other(first, second):
            raise UsageError(
                f'friction laws {first} and {second} cannot be fitted together: in steady '
                'sliding a sum of columns of one is a sum of columns of the other, so that no '
                'recording distinguishes their coefficients; leave one of them out'
            )
    return tuple(FRICTION_LAWS[name]() for name in names)


def exclude_each_other(first: str, second: str) -> bool:
    """Return whether two laws, by name, cannot be fitted together."""
    return second in FRICTION_LAWS[first].excludes or first in FRICTION_LAWS[second].excludes
