# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Interface of every friction law, what it is in steady sliding, and the nearest plain one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.errors import DescriptionError, UsageError
from robot_identification.files import is_number
from robot_identification.model.friction.basis import (
    BasisTerm, CURVES, derivative, run_stops, steady_positions, STOP,
)
import scipy


def check_positive(value: Any, what: str) -> None:
    """Raise DescriptionError if a constant is not a positive number."""
    if not is_number(value) or not 0.0 < value < np.inf:
        raise DescriptionError(f'{what} is {value!r}, it must be a positive number')


def check_between(value: Any, low: float, high: float, what: str) -> None:
    """Raise DescriptionError if a constant is not a number from `low` to `high`."""
    if not is_number(value) or not low <= value <= high:
        raise DescriptionError(
            f'{what} is {value!r}, it must be a number from {low:g} to {high:g}'
        )


@dataclass(frozen=True)
class JointMotion:
    """Consecutive samples of one joint, as a friction law sees them."""

    # (N,): position [rad] and velocity [rad/s].
    q: FloatArray
    dq: FloatArray
    # (N,): torque of the rigid bodies, the URDF's where nothing better is given [N m].
    tau_rigid: FloatArray
    temperature: FloatArray  # (N,): joint temperature [deg C]; NaN where not recorded

    def part(self, rows: slice) -> JointMotion:
        """Return some of the samples."""
        return JointMotion(
            self.q[rows], self.dq[rows], self.tau_rigid[rows], self.temperature[rows]
        )


class Coefficient(NamedTuple):
    """A coefficient of a law, and the function of motion that it multiplies."""

    symbol: str
    unit: str
    curve: str  # key of CURVES
    constants: tuple[str | float, ...] = ()  # of the curve: numbers, or fields of the law
    per_load: bool = False  # times the absolute torque that the joint transmits [N m]
    per_kelvin: bool = False  # times the temperature above the law's `reference`


@dataclass(frozen=True)
class FrictionLaw:
    """
    Friction torque of one joint, linear in its coefficients.

    A law is a frozen dataclass whose fields are its shape constants. `coefficients` declares what
    they multiply, and `columns` evaluates it; a law with stop operators has a memory and returns
    the state it ends in, a stateless one returns the empty state it was given.
    """

    name: ClassVar[str]  # key in FRICTION_LAWS
    # (k,): a symbol belongs to one law only and does not end in 1 to 9: the joint's number follows
    # it.
    coefficients: ClassVar[tuple[Coefficient, ...]] = ()
    # (m,): the fields in which the torque is nonlinear but differentiable; others are conventions.
    shape: ClassVar[tuple[str, ...]] = ()
    # Lowest and highest value of fields; all others are positive.
    limits: ClassVar[Mapping[str, tuple[float, float]]] = MappingProxyType({})
    # Whether temperatures are used. Where one is NaN, so is the torque.
    needs_temperature: ClassVar[bool] = False
    # Whether the rigid torque is used; each column is then proportional to its size, or does not
    # depend on it.
    needs_rigid_torque: ClassVar[bool] = False
    # Whether random samples distinguish its columns, so that they are among the base parameters by
    # that test; if not, they are by definition.
    is_structural: ClassVar[bool] = True
    # Symbols whose coefficients may be negative; friction takes energy by all others.
    signed: ClassVar[tuple[str, ...]] = ()
    # Laws that cannot be fitted together with this one: with the default shape constants, columns
    # of both are linearly dependent in steady sliding. One of the two laws says so for both.
    excludes: ClassVar[tuple[str, ...]] = ()
    # Coulomb and viscous friction in steady sliding per unit of the only coefficient, of a law
    # that is one of both, or neither; None of others, which depend on speed, load or memory.
    plain: ClassVar[tuple[float, float] | None] = None
    # Whether the torque is constant: it gives back in one direction what it takes in the other.
    is_offset: ClassVar[bool] = False
    # Whether it has many terms, each with a constant of its own, of which a fit is to keep few.
    is_sparse: ClassVar[bool] = False
    # Fields in `shape` that are searched as they are, between these values; at either end the law
    # turns into another one. All others are velocities, searched by their logarithm.
    ranges: ClassVar[Mapping[str, tuple[float, float]]] = MappingProxyType({})
    # Fields in `shape` that are fitted to a few speeds of steady sliding: those of the first
    # together, then one after the other while the speeds determine them.
    searched_first: ClassVar[tuple[str, ...]] = ()
    searched_next: ClassVar[tuple[str, ...]] = ()
    # A field and values of it that are worth trying, where there is a choice.
    tried: ClassVar[tuple[str, tuple[float, ...]]] = ('', ())

    def __post_init__(self) -> None:
        for name in (one.name for one in fields(self)):
            low, high = self.limits.get(name, (0.0, np.inf))
            what = f'{name} of {self.name} friction'
            if low == 0.0:
                check_positive(getattr(self, name), what)
            if high < np.inf:
                what += ' [deg C]' if name == 'reference' else ''
                check_between(getattr(self, name), low, high, what)

    @property
    def symbols(self) -> tuple[str, ...]:
        """Symbols of the coefficients, length k."""
        return tuple(one.symbol for one in self.coefficients)

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the coefficients, length k."""
        return tuple(one.unit for one in self.coefficients)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Effect that each coefficient describes, in words, length k."""
        return (self.name.replace('_', ' '),) * len(self.symbols)

    @property
    def smoothing_velocity(self) -> float | None:
        """Width of the passage through zero of `plain` friction [rad/s]; None without one."""
        return None

    def softened(self, width: float) -> FrictionLaw:
        """Return a law of as many columns that reverses within `width` [rad/s] at least."""
        own = getattr(self, 'width', None)
        return self if own is None else replace(self, **{'width': max(own, width)})

    def label(self, k: int) -> tuple[str, str]:
        """Return the name of coefficient k in a table, and the constant that only it has."""
        return f'{self.name} {self.symbols[k]}', ''

    @cached_property
    def basis(self) -> tuple[BasisTerm, ...]:
        """Functions that the coefficients multiply, length k."""
        return tuple(
            BasisTerm(
                one.curve,
                tuple(
                    getattr(self, constant) if isinstance(constant, str) else constant
                    for constant in one.constants
                ),
                one.per_load,
                self.constants()['reference'] if one.per_kelvin else None,
            )
            for one in self.coefficients
        )

    @cached_property
    def _radii(self) -> FloatArray:
        return np.array(sorted({term.constants[0] for term in self.basis if term.kind == STOP}))

    @cached_property
    def _position_step(self) -> float:
        """Step in which positions are read, the same for all stop operators [rad]."""
        return max((term.constants[1] for term in self.basis if term.kind == STOP), default=0.0)

    def initial_state(self) -> FloatArray:
        """
        Return the state before the first sample, shape (s,).

        The deflections of the stop operators at rest, and NaN for positions that are not known,
        those of the play and of the stops; empty without stop operators.
        """
        count = len(self._radii)
        return np.append(np.zeros(count), [np.nan, np.nan]) if count else np.zeros(0)

    def columns(self, motion: JointMotion, state: FloatArray) -> tuple[FloatArray, FloatArray]:
        """
        Return what coefficients multiply (N, k), and the state (s,) after the last sample.

        `motion` has N consecutive samples of the joint, `state` is that before the first of them.
        Friction torque is ``columns @ coefficients`` [N m].
        """
        basis = self.basis
        columns = np.empty((motion.dq.size, len(basis)))
        if not motion.dq.size:
            return columns, state
        values: dict[tuple[str, tuple[float, ...]], FloatArray] = {}
        if self._radii.size:
            z, (played, q_before) = state[:-2], state[-2:].tolist()
            if np.isnan(q_before):
                played = q_before = float(motion.q[0])
            q, played_after = motion.q, motion.q[-1]
            if self._position_step:
                q, played_after = steady_positions(q, self._position_step, played, q_before)
            deflections = run_stops(q, self._radii, z, q_before)
            state = np.append(deflections[-1], [played_after, q[-1]])
            for radius, share in zip(
                self._radii.tolist(), (deflections / self._radii).T, strict=True
            ):
                values[STOP, (radius, self._position_step)] = share
        for index, term in enumerate(basis):
            key = term.kind, term.constants
            if key not in values:
                values[key] = CURVES[term.kind](motion.dq, *term.constants)
            columns[:, index] = _weighted(values[key], term, motion)
        return columns, state

    def shape_jacobian(
        self, motion: JointMotion, coefficients: FloatArray, state: FloatArray
    ) -> FloatArray:
        """Return the derivative of the torque by the constants in `shape`, shape (N, m)."""
        jacobian = np.zeros((motion.dq.size, len(self.shape)))
        if not self.shape:
            return jacobian
        for one, term, value in zip(self.coefficients, self.basis, coefficients, strict=True):
            for place, constant in enumerate(one.constants):
                if constant in self.shape:
                    slope = derivative(term.kind, motion.dq, term.constants, place)
                    at = self.shape.index(str(constant))
                    jacobian[:, at] += value * _weighted(slope, term, motion)
        return jacobian

    def velocity_derivative(self, dq: FloatArray) -> FloatArray:
        """
        Return the derivative (N, k) of the columns by the velocity (N,) [rad/s].

        Motions are designed by it; it is zero where a column jumps. Raises UsageError if the law
        depends on more than the velocity.
        """
        if self.needs_temperature or self.needs_rigid_torque or self._radii.size:
            raise UsageError(
                f'motions are not designed for friction law {self.name}, which depends on more '
                'than the velocity: leave it out of the experiment; it can be identified all the '
                'same'
            )
        return np.column_stack([
            derivative(term.kind, dq, term.constants) for term in self.basis
        ])

    def without_zeros(self, coefficients: FloatArray) -> tuple[FrictionLaw, BoolArray]:
        """Return the law without the terms a sparse fit left at zero, and which stay (k,)."""
        return self, np.ones(len(self.symbols), dtype=bool)

    def with_position_step(self, step: float) -> FrictionLaw:
        """Return the law for positions read in steps of at least `step` [rad]; most ignore it."""
        return self

    def alternatives(self) -> tuple[FrictionLaw, ...]:
        """Return the law with every shape constant worth trying, itself if there is no choice."""
        name, values = self.tried
        return tuple(replace(self, **{name: value}) for value in values) or (self,)

    def temperature_at(self, measured: float | None) -> float:
        """Return a measured temperature [deg C], or without one that which the law refers to."""
        if measured is not None and np.isfinite(measured):
            return float(measured)
        return float(self.constants().get('reference', np.nan))

    def constants(self) -> dict[str, Any]:
        """Return the shape constants by name."""
        return asdict(self)


def _weighted(values: FloatArray, term: BasisTerm, motion: JointMotion) -> FloatArray:
    """Return the values (N,) of a curve times what the term has beside it."""
    if term.reference is not None:
        values = (motion.temperature - term.reference) * values
    return np.abs(motion.tau_rigid) * values if term.per_load else values


def sliding_speeds(fastest: float) -> FloatArray:
    """
    Return 100 evenly spaced speeds [rad/s] from slow sliding up to `fastest`.

    `fastest`, up to which friction is known, is positive [rad/s]; where it is slower than sliding,
    the slowest is a tenth of it.
    """
    # Slower, friction depends on displacement, and on the width of the passage through rest.
    slowest = 0.05 if fastest > 0.05 else 0.1 * fastest
    return np.linspace(slowest, fastest, 100)


def sliding_columns(
    law: FrictionLaw, speeds: FloatArray, load: float, temperature: float
) -> FloatArray:
    """
    Return the columns (m, k) of a law in steady sliding, the mean of both directions.

    At positive ascending `speeds` (m,) [rad/s], with the load that the joint transmits [N m] and
    its temperature [deg C].
    """
    forth, back = (
        sign * steady_columns(law, sign * speeds, load, temperature) for sign in (1.0, -1.0)
    )
    mean: FloatArray = 0.5 * (forth + back)
    return mean


def sliding_torque(
    law: FrictionLaw, coefficients: FloatArray, speeds: FloatArray, load: float
) -> FloatArray:
    """Return what `sliding_columns` give (m,) [N m] at the temperature that the law refers to."""
    torque: FloatArray = (
        sliding_columns(law, speeds, load, law.temperature_at(None)) @ coefficients
    )
    return torque


def steady_columns(
    law: FrictionLaw, velocities: FloatArray, load: float | FloatArray,
    temperature: float | FloatArray,
) -> FloatArray:
    """
    Return the columns (m, k) of a law in steady sliding, as in `steady_torque`.

    Load [N m] and temperature [deg C] are one number or (m,).
    """
    motion = JointMotion(velocities, velocities, *(
        np.broadcast_to(one, velocities.shape) for one in (load, temperature)
    ))
    # In steady sliding every stop is bent as far as it goes.
    values: dict[tuple[str, tuple[float, ...]], FloatArray] = {}
    columns = np.empty((velocities.size, len(law.basis)), order='F')
    for index, term in enumerate(law.basis):
        key = term.kind, () if term.kind == STOP else term.constants
        if key not in values:
            values[key] = (
                np.copysign(1.0, velocities) if term.kind == STOP
                else CURVES[term.kind](velocities, *term.constants)
            )
        columns[:, index] = _weighted(values[key], term, motion)
    return columns


def steady_torque(
    law: FrictionLaw, coefficients: FloatArray, velocities: FloatArray, load: float,
    temperature: float,
) -> FloatArray:
    """
    Return the torque (m,) [N m] of a law in steady sliding in one direction.

    It has the sign of the motor's torque. `velocities` (m,) [rad/s] are of one sign, which a zero
    has, too; `coefficients` (k,) are in the order of the law's symbols. `load` is the torque that
    the joint transmits [N m], the temperature that of the joint [deg C].
    """
    torque: FloatArray = steady_columns(law, velocities, load, temperature) @ coefficients
    return torque


def nearest_plain_friction(
    law: FrictionLaw, coefficients: FloatArray, speeds: FloatArray, load: float
) -> tuple[float, float]:
    """
    Return the Coulomb and viscous friction nearest to a law in steady sliding.

    The result is [N m] and [N m s/rad], neither negative. `coefficients` (k,) and the `load` [N m]
    are as in `steady_torque`, at the temperature that the law refers to; `speeds` (m,) are
    positive [rad/s].
    """
    torque = sliding_torque(law, coefficients, speeds, load)
    columns = np.column_stack([np.ones_like(speeds), speeds])
    (coulomb, viscous), _ = scipy.optimize.nnls(columns, torque)
    return float(coulomb), float(viscous)
