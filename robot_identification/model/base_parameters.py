# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Base parameters: the combinations of standard parameters that motion can show.

The structure is decided on random samples of the model, never on measured data. Columns are taken
greedily in a stated order of preference; the default makes the result the set of Gautier and
Khalil for arms in modified Denavit-Hartenberg frames. Singular values cross-check the number.

References
----------
.. [Gau91] M. Gautier, "Numerical calculation of the base inertial parameters of robots",
   J. Robotic Systems 8(4), 1991.

"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from robot_identification.arrays import FloatArray, IntArray
from robot_identification.errors import DescriptionError, UsageError
from robot_identification.model.denavit_hartenberg import joint_axes
from robot_identification.model.frames import LinkFrames
from robot_identification.model.parameters import (
    INERTIAL_SYMBOLS, parameter_units, StandardParameters,
)
from robot_identification.model.regressor import Motion, observation_matrix
from robot_identification.model.robot_model import RobotModel
from robot_identification.texts import short_repr

# Which parameters lead the combinations, inside a link; links go from base to tip.
PREFERENCES = {
    # Inertias first: the set of Gautier and Khalil, and of Tika et al. 2020.
    'gautier_khalil': ('Izz', 'Ixx', 'Ixy', 'Ixz', 'Iyz', 'mx', 'my', 'Iyy', 'mz', 'm'),
    # Masses first: the set of Raviola et al. 2021 and Porcelli 2020.
    'mass_first': ('m', 'mx', 'my', 'mz', 'Ixx', 'Ixy', 'Iyy', 'Ixz', 'Iyz', 'Izz'),
}
DEFAULT_PREFERENCE = 'gautier_khalil'
# Part of a unit column that the ones before it leave unexplained. On arms whose axes are exactly
# parallel, perpendicular or neither it is over 0.2 or rounding (1e-15). In between lie angles
# rounded in a file (1.5708) and calibrated ones: such a column is no parameter a motor can show.
INDEPENDENCE_TOLERANCE = 1.0e-2
# Columns are taken in order of preference where much of them is new, then where less is: so that
# none leads that is nearly a combination of others.
INDEPENDENCE_LEVELS = (0.1, INDEPENDENCE_TOLERANCE)
# An independent column smaller than this part of the largest one of its unit is as little seen.
WEAK_TOLERANCE = 1.0e-3
# Smaller parts are rounding.
ROUNDING = 1.0e-8
# Least accepted part of a column over the largest rejected one.
SMALLEST_GAP = 10.0
COEFFICIENT_TOLERANCE = 1.0e-9  # a coefficient below this is rounding


@dataclass(frozen=True)
class BaseReduction:
    """Reduction of the standard parameters to base parameters."""

    parameters: StandardParameters  #: the standard parameters, size p
    K: FloatArray  #: (b, p): ``theta_base = K @ theta_standard``
    #: (b,): columns of the observation matrix that stay, ``W_base = W[:, independent]``.
    independent: np.ndarray
    #: Smallest accepted over largest rejected part of a column: how clear the rank is.
    gap: float
    frames: str = 'joint'  #: link frames of the standard parameters: 'joint', 'dh' or 'mdh'
    preference: str = DEFAULT_PREFERENCE  #: key of PREFERENCES
    #: (c,): of the observation matrix with unit columns, null ones left out, descending.
    singular_values: FloatArray = field(default_factory=lambda: np.zeros(0))
    #: Parameters that only a geometry a little off the parallel or perpendicular shows, by less
    #: than INDEPENDENCE_TOLERANCE; counted as dependent.
    neglected: tuple[str, ...] = ()
    #: False if axes, or gravity and the first axis, miss being parallel or perpendicular by a
    #: little, as in files with rounded angles and in calibrated arms.
    exact: bool = True

    __repr__ = short_repr

    @property
    def rank(self) -> int:
        """Return the number of base parameters b."""
        return len(self.independent)

    @property
    def names(self) -> tuple[str, ...]:
        """Leading standard parameter of every base parameter, length b."""
        return tuple(self.parameters.names[index] for index in self.independent)

    def units_of(self, robot: RobotModel) -> tuple[str, ...]:
        """Return the SI units of the base parameters of an arm, length b."""
        units = parameter_units(self.parameters, robot.position_units)
        return tuple(units[index] for index in self.independent)

    @property
    def significant(self) -> np.ndarray:
        """Entries of K beyond rounding and a calibration's deviations, bool, shape (b, p)."""
        # In an arm whose axes are a little off the parallel or perpendicular, one below the second
        # is nothing a motor can show.
        tolerance = COEFFICIENT_TOLERANCE if self.exact else 1.0e-3
        mask: np.ndarray = np.abs(self.K) > tolerance
        return mask

    @property
    def cumulative_energy(self) -> FloatArray:
        """
        Part of the sum of singular values that the largest k hold, k from 1; shape (c,).

        Its knee, where it reaches one, is at the rank (Raviola et al. 2021).
        """
        total = np.cumsum(self.singular_values)
        energy: FloatArray = total / total[-1]
        return energy

    def expression(self, index: int) -> str:
        """Return base parameter `index` as a sum of standard parameters."""
        names = self.parameters.names
        leading = self.independent[index]
        text: str = names[leading]
        for column in np.flatnonzero(self.significant[index]):
            if column != leading:
                value = self.K[index, column]
                # Without rounding noise, so that equal ones are printed equal.
                shown = f'{float(f"{abs(value):.10g}"):.6g} '
                factor = '' if abs(abs(value) - 1.0) < 1e-9 else shown
                text += f' {"-" if value < 0 else "+"} {factor}{names[column]}'
        return text

    def only(self, rows: IntArray) -> BaseReduction:
        """Return the reduction to some of the base parameters, by their numbers (m,)."""
        return replace(self, K=self.K[rows], independent=self.independent[rows])

    def extended(self, parameters: StandardParameters) -> BaseReduction:
        """Return it with more standard parameters, each a base parameter by definition."""
        names = list(parameters.names)
        place = np.array([names.index(name) for name in self.parameters.names])
        added = np.setdiff1d(np.arange(parameters.size), place)
        independent = np.concatenate([place[self.independent], added])
        K = np.zeros((len(independent), parameters.size))
        K[: self.rank, place] = self.K
        K[self.rank + np.arange(len(added)), added] = 1.0
        order = np.argsort(independent)
        return replace(self, parameters=parameters, K=K[order], independent=independent[order])

    def lift(self, theta: FloatArray) -> FloatArray:
        """Return the standard parameters (p,) of base parameters, zero where there is a choice."""
        standard = np.zeros(self.parameters.size)
        standard[self.independent] = theta
        return standard


def random_motion(robot: RobotModel, samples: int, rng: np.random.Generator) -> Motion:
    """
    Return unrelated random samples for structural questions.

    Positions of a whole turn (or a metre) about the middle of the range, velocities up to 3 rad/s,
    accelerations up to 5 rad/s^2, temperatures from 20 to 50 deg C: numbers of one size keep the
    columns comparable. The structure is the geometry's, so limits do not matter; the samples are
    not meant to be executed.
    """
    lower, upper = robot.limits.lower, robot.limits.upper
    limited = np.isfinite(lower) & np.isfinite(upper)
    middle = 0.5 * (np.where(limited, lower, 0.0) + np.where(limited, upper, 0.0))
    _, _, prismatic = joint_axes(robot.pinocchio)
    half = np.where(prismatic, 0.5, np.pi)
    lower, upper = middle - half, middle + half
    shape = (samples, robot.n)
    return Motion(
        rng.uniform(lower, upper, shape),
        rng.uniform(-3.0, 3.0, shape),
        rng.uniform(-5.0, 5.0, shape),
        rng.uniform(20.0, 50.0, shape),
    )


def _preference_order(parameters: StandardParameters, preference: str) -> list[int]:
    """Return the column indices in order of preference: links base to tip, friction, rotors."""
    if preference not in PREFERENCES:
        raise UsageError(
            f'unknown preference {preference!r}: known are {", ".join(PREFERENCES)}'
        )
    inertial = [
        10 * link + INERTIAL_SYMBOLS.index(symbol)
        for link in range(parameters.n)
        for symbol in PREFERENCES[preference]
    ]
    return inertial + list(range(10 * parameters.n, parameters.size))


def describe_compensated_gravity(robot: RobotModel, parameters: StandardParameters) -> str:
    """Return what an effort without gravity does not show of an arm; empty of one with gravity."""
    if robot.compensated_gravity is None:
        return ''
    whole = reduce_to_base(robot.with_gravity(robot.mounting_gravity), parameters)
    shown = set(reduce_to_base(robot, parameters).independent)
    hidden = [
        name for name, column in zip(whole.names, whole.independent, strict=True)
        if column not in shown
    ]
    return (
        f'gravity is not in the effort: {", ".join(hidden) or "nothing"} of the bodies, which '
        'nothing else shows, is not identifiable and rests on the URDF'
    )


def reduce_to_base(
    robot: RobotModel,
    parameters: StandardParameters,
    *,
    frames: LinkFrames | None = None,
    preference: str = DEFAULT_PREFERENCE,
    samples: int = 200,
    seed: int = 0,
) -> BaseReduction:
    """
    Find the base parameters of an arm [Gau91]_.

    Of the arm in its mounting, with the columns of `parameters`. The inertial ones are stated in
    `frames`, by default the joint frames; `preference`, a key of PREFERENCES, says which lead. Of
    random samples 100 are ample for 6 joints. Raises DescriptionError if the rank is not clear
    (accepted and rejected columns less than tenfold apart), or the singular values disagree.
    """
    structural = StandardParameters(
        parameters.n,
        tuple(term for term in parameters.friction if term.law.is_structural),
        parameters.reflected_inertia,
    )
    if structural != parameters:
        return reduce_to_base(
            robot, structural, frames=frames, preference=preference, samples=samples, seed=seed
        ).extended(parameters)
    rng = np.random.default_rng(seed)
    motion = random_motion(robot, samples, rng)
    tau_rigid = rng.normal(size=(samples, robot.n))
    W: FloatArray = observation_matrix(robot, parameters, motion, None, tau_rigid)
    if frames is not None:
        inertial = slice(0, 10 * robot.n)
        W[:, inertial] = W[:, inertial] @ frames.to_joint_frames()
    scale = np.linalg.norm(W, axis=0)
    null = scale <= ROUNDING * scale.max()
    weak = _weak_columns(scale, parameters)
    # Lengths and angles of columns are those of the triangular factor, which is much smaller.
    unit = np.asarray(np.linalg.qr(W / np.where(null, 1.0, scale), mode='r'))
    order = [column for column in _preference_order(parameters, preference) if not null[column]]
    taken = _take_independent(unit, [column for column in order if not weak[column]])
    chosen = np.array(sorted(taken))
    solution = np.asarray(np.linalg.lstsq(unit[:, chosen], unit, rcond=None)[0], dtype=float)
    rest = np.linalg.norm(unit - unit[:, chosen] @ solution, axis=0)
    neglected = [column for column in order if rest[column] > ROUNDING]
    # What is weak and its own has no part in the combinations either.
    solution[:, [column for column in neglected if weak[column]]] = 0.0
    dependent = [rest[column] for column in order if column not in taken and not weak[column]]
    gap = min(taken.values()) / max([*dependent, 1e-16])
    singular = np.asarray(np.linalg.svd(unit[:, ~null], compute_uv=False), dtype=float)
    rank = int(np.sum(singular > ROUNDING * singular[0]))
    if gap < SMALLEST_GAP or rank < len(taken) or (rank > len(taken) and not neglected):
        raise DescriptionError(
            f'{robot.name}: the number of base parameters is not clear '
            f'({len(taken)} by QR, {rank} by singular values, gap {gap:.1e}, at least '
            f'{SMALLEST_GAP:g} is needed); state them in frames with z along the joints '
            '(--frames mdh), or check the URDF for axes that are nearly parallel'
        )
    K = solution * np.where(null, 0.0, scale) / scale[chosen][:, None]
    K[np.abs(K) < COEFFICIENT_TOLERANCE] = 0.0
    K[:, chosen] = np.eye(len(chosen))
    return BaseReduction(
        parameters, K, chosen, gap, 'joint' if frames is None else frames.name, preference,
        singular, tuple(parameters.names[column] for column in sorted(neglected)),
        _is_exact(robot),
    )


def _is_exact(robot: RobotModel) -> bool:
    """Return whether no angle between successive axes, or to gravity, is a little off."""
    _, directions, _ = joint_axes(robot.pinocchio)
    # A first axis a little off the horizontal shows nothing new: only its sine to gravity counts.
    down = robot.gravity / (np.linalg.norm(robot.gravity) or 1.0)
    angles = [float(np.linalg.norm(np.cross(directions[0], down)))]
    for one, other in pairwise(directions):
        angles += [float(np.linalg.norm(np.cross(one, other))), abs(float(one @ other))]
    # Sines that a file rounds away at most, and that a calibration or five digits leave.
    return not any(1.0e-9 < angle < 0.02 for angle in angles)


def _weak_columns(scale: FloatArray, parameters: StandardParameters) -> np.ndarray:
    """Return which columns are small compared to those of the same unit, bool, shape (p,)."""
    units = np.array(parameters.units)
    largest = {unit: scale[units == unit].max() for unit in set(parameters.units)}
    return np.array([
        size <= WEAK_TOLERANCE * largest[unit]
        for size, unit in zip(scale, parameters.units, strict=True)
    ])


def _take_independent(unit: FloatArray, order: list[int]) -> dict[int, float]:
    """
    Take columns in order where those taken before leave enough of them unexplained.

    Return that part of each column taken.
    """
    basis = np.zeros((len(unit), len(order)))
    taken: dict[int, float] = {}
    for level in INDEPENDENCE_LEVELS:
        for column in order:
            if column in taken:
                continue
            found = basis[:, : len(taken)]
            rest = unit[:, column]
            for _ in range(2):  # once more: orthogonal to rounding
                rest = rest - found @ (found.T @ rest)
            size = float(np.linalg.norm(rest))
            if size > level:
                basis[:, len(taken)] = rest / size
                taken[column] = size
    return taken


def upper_bound(robot: RobotModel) -> int:
    """
    Return the most inertial base parameters a serial arm with these joints can have.

    Khalil's ``7 n_r + 4 n_p - 3 - s - 2 g`` with s = 1 for a first joint that turns, g = 1 if
    its axis is along gravity. It is reached where the first two joints turn about axes that are
    not parallel.
    """
    _, directions, prismatic = joint_axes(robot.pinocchio)
    revolute_first = not prismatic[0]
    along = np.linalg.norm(np.cross(directions[0], robot.gravity)) < 1e-9 * (
        1.0 + np.linalg.norm(robot.gravity)
    )
    turning = int(np.sum(~prismatic))
    return int(
        7 * turning + 4 * (robot.n - turning) - 3 - revolute_first
        - 2 * (revolute_first and bool(along))
    )
