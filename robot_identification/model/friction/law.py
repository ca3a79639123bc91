# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Interface of every friction law."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.errors import DescriptionError, UsageError
from robot_identification.files import is_number
from robot_identification.model.friction.basis import BasisTerm, CURVES, SLOPES, STOP
from robot_identification.model.friction.stop_operator import run_stops, steady_positions


def check_positive(value: Any, what: str) -> None:
    """
    Check a shape constant.

    Raises
    ------
    DescriptionError
        If it is not a positive number.

    """
    if not is_number(value) or not 0.0 < value < np.inf:
        raise DescriptionError(f'{what} is {value!r}, it must be a positive number')


def check_between(value: Any, low: float, high: float, what: str) -> None:
    """
    Check a shape constant.

    Raises
    ------
    DescriptionError
        If it is not a number from `low` to `high`.

    """
    if not is_number(value) or not low <= value <= high:
        raise DescriptionError(
            f'{what} is {value!r}, it must be a number from {low:g} to {high:g}'
        )


def check_temperature(value: Any, what: str) -> None:
    """Check that a constant is from -100 to 250 deg C, as no room temperature in kelvin is."""
    check_between(value, -100.0, 250.0, f'{what} [deg C]')


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


@dataclass(frozen=True)
class FrictionLaw(ABC):
    """
    Friction torque of one joint, linear in its coefficients.

    A law is a frozen dataclass whose fields are its shape constants. `basis` declares what its
    coefficients multiply, and `columns` evaluates it; a law with stop operators has a memory and
    returns the state it ends in, a stateless one returns the empty state it was given.

    Attributes
    ----------
    name : str
        Key in FRICTION_LAWS.
    symbols, units : tuple of str, length k
        Of the coefficients. A symbol belongs to one law only and does not end in 1 to 9: the
        joint's number follows it.
    shape : tuple of str, length m
        The fields in which the torque is nonlinear but differentiable; other fields are
        conventions.
    needs_temperature : bool
        Whether temperatures are used. Where one is NaN, so is the torque.
    needs_rigid_torque : bool
        Whether the rigid torque is used; each column is then proportional to its size, or does
        not depend on it.
    is_structural : bool
        Whether random samples distinguish its columns, so that they are among the base parameters
        by that test; if not, they are by definition.
    signed : tuple of str
        Symbols whose coefficients may be negative; friction takes energy by all others.
    excludes : tuple of str
        Laws that cannot be fitted together with this one: with the default shape constants,
        columns of both are linearly dependent in steady sliding. One of the two laws says so for
        both.
    plain : tuple of float, optional
        Coulomb and viscous friction in steady sliding per unit of the only coefficient, of a law
        that is one of both, or neither; None of others, which depend on speed, load or memory.
    is_offset : bool
        Whether the torque is constant: it gives back in one direction what it takes in the other.
    is_sparse : bool
        Whether it has many terms, each with a constant of its own, of which a fit is to keep few.
    ranges : mapping of str to (float, float)
        Fields in `shape` that are searched as they are, between these values; at either end the
        law turns into another one. All others are velocities, searched by their logarithm.
    searched_first, searched_next : tuple of str
        Fields in `shape` that are fitted to a few speeds of steady sliding: those of the first
        together, then one after the other while the speeds determine them.

    """

    name: ClassVar[str]
    shape: ClassVar[tuple[str, ...]] = ()
    needs_temperature: ClassVar[bool] = False
    needs_rigid_torque: ClassVar[bool] = False
    is_structural: ClassVar[bool] = True
    signed: ClassVar[tuple[str, ...]] = ()
    excludes: ClassVar[tuple[str, ...]] = ()
    plain: ClassVar[tuple[float, float] | None] = None
    is_offset: ClassVar[bool] = False
    is_sparse: ClassVar[bool] = False
    ranges: ClassVar[Mapping[str, tuple[float, float]]] = MappingProxyType({})
    searched_first: ClassVar[tuple[str, ...]] = ()
    searched_next: ClassVar[tuple[str, ...]] = ()

    # Of most laws these are constants of the class.
    @property
    @abstractmethod
    def symbols(self) -> tuple[str, ...]:
        """Symbols of the coefficients, length k."""

    @property
    @abstractmethod
    def units(self) -> tuple[str, ...]:
        """Units of the coefficients, length k."""

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

    @property
    @abstractmethod
    def basis(self) -> tuple[BasisTerm, ...]:
        """Functions that the coefficients multiply, length k."""

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
        Return the columns and the state after the last sample.

        Parameters
        ----------
        motion : JointMotion
            N consecutive samples of the joint.
        state : ndarray, shape (s,)
            State before the first of them.

        Returns
        -------
        columns : ndarray, shape (N, k)
            Friction torque is ``columns @ coefficients`` [N m].
        state : ndarray, shape (s,)
            State after the last sample.

        """
        basis = self.basis
        columns = np.empty((motion.dq.size, len(basis)))
        if not motion.dq.size:
            return columns, state
        load = np.abs(motion.tau_rigid) if self.needs_rigid_torque else None
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
            value = values[key]
            if term.reference is not None:
                value = (motion.temperature - term.reference) * value
            columns[:, index] = load * value if term.per_load and load is not None else value
        return columns, state

    def evaluate(
        self, motion: JointMotion, coefficients: FloatArray, state: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """
        Return the friction torque and the state after the last sample.

        Parameters
        ----------
        motion, state
            As in `columns`.
        coefficients : ndarray, shape (k,)
            In the order of `symbols`.

        Returns
        -------
        torque : ndarray, shape (N,)
            With the sign of the motor's torque [N m].
        state : ndarray, shape (s,)
            State after the last sample.

        """
        columns, state = self.columns(motion, state)
        return columns @ coefficients, state

    def jacobian(
        self, motion: JointMotion, coefficients: FloatArray, state: FloatArray
    ) -> FloatArray:
        """
        Return the derivative of the torque by coefficients, then by shape constants.

        Parameters
        ----------
        motion, coefficients, state
            As in `evaluate`.

        Returns
        -------
        ndarray, shape (N, k + m)
            In the order of `symbols` and `shape`.

        """
        columns, _ = self.columns(motion, state)
        return np.hstack([columns, self.shape_jacobian(motion, coefficients, state)])

    def shape_jacobian(
        self, motion: JointMotion, coefficients: FloatArray, state: FloatArray
    ) -> FloatArray:
        """
        Return the derivative of the torque by the constants in `shape`, shape (N, m).

        A law that has such constants overrides this.
        """
        return np.zeros((motion.dq.size, 0))

    def velocity_derivative(self, dq: FloatArray) -> FloatArray:
        """
        Return the derivative of the columns by the velocity, by which motions are designed.

        Parameters
        ----------
        dq : ndarray, shape (N,)
            Velocity [rad/s].

        Returns
        -------
        ndarray, shape (N, k)
            In the order of `symbols`; zero where a column jumps.

        Raises
        ------
        UsageError
            If the law depends on more than the velocity.

        """
        if self.needs_temperature or self.needs_rigid_torque or self._radii.size:
            raise UsageError(
                f'motions are not designed for friction law {self.name}, which depends on more '
                'than the velocity: leave it out of the experiment; it can be identified all the '
                'same'
            )
        return np.column_stack([SLOPES[term.kind](dq, *term.constants) for term in self.basis])

    def without_zeros(self, coefficients: FloatArray) -> tuple[FrictionLaw, BoolArray]:
        """Return the law without the terms a sparse fit left at zero, and which stay (k,)."""
        return self, np.ones(len(self.symbols), dtype=bool)

    def with_position_step(self, step: float) -> FrictionLaw:
        """Return the law for positions read in steps of at least `step` [rad]; most ignore it."""
        return self

    def alternatives(self) -> tuple[FrictionLaw, ...]:
        """Return the law with every shape constant worth trying, itself if there is no choice."""
        return (self,)

    def temperature_at(self, measured: float | None) -> float:
        """Return a measured temperature [deg C], or without one that which the law refers to."""
        if measured is not None and np.isfinite(measured):
            return float(measured)
        return float(self.constants().get('reference', np.nan))

    def constants(self) -> dict[str, Any]:
        """Return the shape constants by name."""
        return asdict(self)
