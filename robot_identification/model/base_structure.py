# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Structure of base parameters: in symbols, in the order of papers, and which are identifiable.

Names alone do not say what a number is: the same tensor is stated in frames at either end of a
link, and six inertias come in four orders. Two conventions of identifiability are in use. The
linear one asks for the parameters the torque is linear in (first moments ``m c``). The physical
one asks for masses and centres of mass themselves; a centre is then never known alone. The counts
of Raviola et al. 2021 are those of the second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement, islice
from typing import Any

import numpy as np
import pinocchio as pin
from robot_identification.arrays import FloatArray
from robot_identification.errors import UsageError
from robot_identification.model.base_parameters import (
    BaseReduction, COEFFICIENT_TOLERANCE, random_motion, ROUNDING, WEAK_TOLERANCE,
)
from robot_identification.model.denavit_hartenberg import joint_axes, MEETING
from robot_identification.model.frames import joint_frames, LinkFrames, table_of
from robot_identification.model.parameters import INERTIAL_SYMBOLS, split_name
from robot_identification.model.regressor import inertial_regressor, observation_matrix
from robot_identification.model.robot_model import RobotModel

# A fitted factor this near to a whole number is one.
WHOLE = 1.0e-6
HELD_OUT = 4  # draws of random lengths that a law is judged by

_Build = Callable[[dict[str, float]], tuple[pin.Model, tuple[pin.SE3, ...]]]


@dataclass(frozen=True)
class Monomial:
    """A number times powers of lengths: `powers` is ((name, exponent), ...), by name."""

    factor: float
    powers: tuple[tuple[str, int], ...]

    def evaluate(self, constants: dict[str, float]) -> float:
        """Return the value for given lengths [m]."""
        value = self.factor
        for name, exponent in self.powers:
            value *= constants[name] ** exponent
        return value


@dataclass(frozen=True)
class Term:
    """A standard parameter and what multiplies it."""

    parameter: str  # name of the standard parameter
    value: float  # the coefficient as a number
    # The same as a sum; empty where no law in the lengths was found.
    coefficient: tuple[Monomial, ...]


@dataclass(frozen=True)
class SymbolicBase:
    """Base parameters as expressions."""

    constants: dict[str, float]  # the arm's lengths by symbol [m]
    # One for each base parameter; the leading parameter comes first, with coefficient 1.
    expressions: tuple[tuple[Term, ...], ...]
    error: float  # largest error on held-out lengths, relative to the coefficient or one
    numeric: int  # coefficients that no law in the lengths was found for, given as numbers


def find_symbols(
    robot: RobotModel, reduction: BaseReduction, frames: LinkFrames
) -> SymbolicBase:
    """
    Explain the coefficients of base parameters by the arm's lengths.

    No computer algebra and no matching of decimals: every length is redrawn at random many times,
    the reduction is calculated each time, and monomials of the lengths are fitted to what comes
    out. The coefficients must then be whole numbers (or sines and cosines of the arm's twists),
    and draws that were held out must be predicted to rounding.

    `robot` is the arm in its mounting, `frames` those of `reduction`. In joint frames the lengths
    are x, y and z of a joint's origin in the joint frame before; in Denavit-Hartenberg frames the
    table's a and d.
    """
    constants, build = _geometry(robot, frames)
    names = sorted(constants, key=lambda name: split_name(name)[::-1])
    rows, columns = np.nonzero(reduction.significant)
    actual = reduction.K[rows, columns]
    draws = _draw(robot, reduction, build, names)
    drawn: list[tuple[FloatArray, FloatArray]] = []
    found: dict[int, tuple[Monomial, ...]] = {}
    error = 0.0
    for reciprocal in (False, True):
        missing = np.array([entry for entry in range(rows.size) if entry not in found], dtype=int)
        exponents = _exponents(len(names), reciprocal)
        # Each monomial takes a calculation of the arm: beyond so many, coefficients stay numbers.
        if not missing.size or len(exponents) > 400:
            break
        # Four draws beyond the unknowns, and those held out.
        drawn += islice(draws, len(exponents) + 4 + HELD_OUT - len(drawn))
        lengths, values = (np.array(part) for part in zip(*drawn, strict=True))
        factors, errors = _fit(exponents, lengths, values[:, missing])
        for position, entry in enumerate(missing):
            coefficient = _monomials(factors[:, position], exponents, names)
            fitted = sum(part.evaluate(constants) for part in coefficient)
            # In units of the coefficient; exact laws reach 1e-12.
            if max(errors[position], abs(fitted - actual[entry])) < ROUNDING:
                found[int(entry)] = coefficient
                error = max(error, float(errors[position]))
    terms: list[list[Term]] = [[] for _ in range(reduction.rank)]
    for entry, (row, column) in enumerate(zip(rows, columns, strict=True)):
        term = Term(
            reduction.parameters.names[column], float(actual[entry]), found.get(entry, ())
        )
        leads = column == reduction.independent[row]
        terms[row].insert(0 if leads else len(terms[row]), term)
    return SymbolicBase(
        {name: constants[name] for name in names}, tuple(tuple(row) for row in terms), error,
        rows.size - len(found),
    )


def _geometry(robot: RobotModel, frames: LinkFrames) -> tuple[dict[str, float], _Build]:
    """Return the arm's lengths, and what builds it with others."""
    if frames.name != 'joint':
        table = table_of(robot)

        def of_table(lengths: dict[str, float]) -> tuple[pin.Model, tuple[pin.SE3, ...]]:
            model, placements = table.with_constants(lengths).build(frames.name)
            return model, tuple(placements)

        return table.constants(), of_table
    placements = list(robot.pinocchio.jointPlacements)[1:]
    constants = {
        f'{axis}{joint}': float(placements[joint - 1].translation[index])
        for joint in range(2, robot.n + 1)
        for index, axis in enumerate('xyz')
        if abs(placements[joint - 1].translation[index]) > MEETING
    }

    def build(lengths: dict[str, float]) -> tuple[pin.Model, tuple[pin.SE3, ...]]:
        model = robot.pinocchio.copy()
        for name, value in lengths.items():
            axis, joint = split_name(name)
            placement = model.jointPlacements[joint].copy()
            translation = placement.translation.copy()
            translation['xyz'.index(axis)] = value
            model.jointPlacements[joint] = pin.SE3(placement.rotation, translation)
        return model, frames.placements

    return constants, build


def _draw(
    robot: RobotModel, reduction: BaseReduction, build: _Build, names: list[str]
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield random lengths (c,) and the significant coefficients for them, without an end."""
    rng, n = np.random.default_rng(0), robot.n
    samples = 2 * reduction.parameters.size // n + 20
    motion = random_motion(robot, samples, rng)
    tau_rigid = rng.normal(size=(samples, n))
    while True:
        lengths = rng.choice([-1.0, 1.0], len(names)) * rng.uniform(0.5, 1.5, len(names))
        model, placements = build(dict(zip(names, lengths, strict=True)))
        model.gravity.linear = robot.gravity
        W = observation_matrix(
            replace(robot, pinocchio=model), reduction.parameters, motion, None, tau_rigid
        )
        frames = LinkFrames(reduction.frames, placements)
        W[:, : 10 * n] = W[:, : 10 * n] @ frames.to_joint_frames()
        K = np.linalg.lstsq(W[:, reduction.independent], W, rcond=None)[0]
        yield lengths, K[reduction.significant]


def _exponents(count: int, reciprocal: bool) -> list[tuple[int, ...]]:
    """Return the exponents of all monomials of degree 0 to 2, with reciprocals on request."""
    letters = np.vstack([np.zeros((1, count), dtype=int), np.eye(count, dtype=int)])
    if reciprocal:
        letters = np.vstack([letters, -letters[1:]])
    pairs = combinations_with_replacement(letters, 2)
    return sorted({tuple((first + second).tolist()) for first, second in pairs})


def _fit(
    exponents: list[tuple[int, ...]], lengths: FloatArray, values: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """
    Fit monomials to coefficients; the last draws are held out.

    Return factors (monomials, entries), whole numbers where they are nearly so, and the largest
    error (entries,) on the draws held out, relative to the value or one.
    """
    powers = np.array(exponents, dtype=float)
    basis = np.prod(lengths[:, None, :] ** powers[None], axis=2)
    factors = np.linalg.lstsq(basis[:-HELD_OUT], values[:-HELD_OUT], rcond=None)[0]
    whole = np.round(factors)
    factors = np.where(np.abs(factors - whole) < WHOLE, whole, factors)
    held = values[-HELD_OUT:]
    errors = np.abs(basis[-HELD_OUT:] @ factors - held) / np.maximum(np.abs(held), 1.0)
    return factors, errors.max(axis=0)


def _monomials(
    factors: FloatArray, exponents: list[tuple[int, ...]], names: list[str]
) -> tuple[Monomial, ...]:
    parts = [
        Monomial(
            # Rounding must not make two coefficients of one.
            float(f'{factor:.12g}'),
            tuple((name, power) for name, power in zip(names, powers, strict=True) if power),
        )
        for factor, powers in zip(factors, exponents, strict=True)
        if abs(factor) > WHOLE
    ]
    # As people write them: squares first, then by name.
    return tuple(sorted(
        parts, key=lambda part: (-sum(abs(power) for _, power in part.powers), part.powers)
    ))


def to_text(expression: tuple[Term, ...]) -> str:
    """Return an expression as text, such as ``Izz2 + Ia2 + a3^2 (m3 + m4 + m5 + m6)``."""
    return _sum(_grouped(expression, is_latex=False))


def to_latex(expression: tuple[Term, ...]) -> str:
    """Return an expression as LaTeX for a formula."""
    return _sum(_grouped(expression, is_latex=True))


def to_plain(expression: tuple[Term, ...]) -> list[dict[str, Any]]:
    """Return an expression for JSON: parameter, value, and monomials where they are known."""
    return [
        {
            'parameter': term.parameter,
            'value': term.value,
            'coefficient': [
                {'factor': part.factor, 'powers': dict(part.powers)} for part in term.coefficient
            ],
        }
        for term in expression
    ]


def latex_symbol(name: str) -> str:
    r"""Return a parameter or length as LaTeX: ``Ixx3`` is ``I_{xx,3}``, ``d4`` is ``d_{4}``."""
    symbol, number = split_name(name)
    if symbol in ('mx', 'my', 'mz'):
        return f'm{symbol[1]}_{{{number}}}'
    inside = f'{symbol[1:]},{number}' if len(symbol) > 1 else str(number)
    return f'{symbol[0]}_{{{inside}}}'


def _grouped(expression: tuple[Term, ...], *, is_latex: bool) -> Iterator[tuple[bool, str]]:
    """Yield the terms, negative or not, those with one coefficient together."""
    groups: dict[Any, list[str]] = {}
    symbol = latex_symbol if is_latex else str
    for position, term in enumerate(expression):
        single = term.coefficient in ((Monomial(1.0, ()),), (Monomial(-1.0, ()),))
        key = (term.coefficient or term.value, position if single else -1)
        groups.setdefault(key, []).append(symbol(term.parameter))
    for (coefficient, _), names in groups.items():
        together = names[0] if len(names) == 1 else f'({" + ".join(names)})'
        if isinstance(coefficient, float):
            yield coefficient < 0.0, f'{abs(coefficient):.10g} {together}'
            continue
        if len(coefficient) > 1:
            inside = _sum(
                (part.factor < 0.0, _monomial_text(part, is_latex)) for part in coefficient
            )
            yield False, f'({inside}) {together}'
            continue
        part = coefficient[0]
        factor = _monomial_text(part, is_latex)
        yield part.factor < 0.0, together if factor == '1' else f'{factor} {together}'


def _sum(parts: Iterator[tuple[bool, str]]) -> str:
    text = ''.join(f' {"-" if negative else "+"} {part}' for negative, part in parts)
    return text.removeprefix(' + ') if text.startswith(' + ') else text.replace(' - ', '-', 1)


def _monomial_text(part: Monomial, is_latex: bool) -> str:
    """Return a monomial without its sign."""

    def power(name: str, exponent: int) -> str:
        symbol = latex_symbol(name) if is_latex else name
        if exponent == 1:
            return symbol
        return f'{symbol}^{{{exponent}}}' if is_latex else f'{symbol}^{exponent}'

    number = f'{abs(part.factor):.6g}'
    above = [power(name, exponent) for name, exponent in part.powers if exponent > 0]
    below = [power(name, -exponent) for name, exponent in part.powers if exponent < 0]
    top = ' '.join(([] if number == '1' and above else [number]) + above)
    if not below:
        return top
    if is_latex:
        return f'\\frac{{{top}}}{{{" ".join(below)}}}'
    return f'{top}/{below[0]}' if len(below) == 1 else f'{top}/({" ".join(below)})'


# --- orders of publications ------------------------------------------------------------------


_UPPER_ROWS = ('Ixx', 'Ixy', 'Ixz', 'Iyy', 'Iyz', 'Izz')
_MOMENTS = ('mx', 'my', 'mz')


@dataclass(frozen=True)
class PublishedOrder:
    """Order in which one work lists base parameters."""

    source: str
    frames: str  # its link frames: 'joint', 'dh' or 'mdh'
    preference: str  # key of PREFERENCES that gives its base parameters
    # Our symbols in the order of its link vector, inertias about the link frame's origin.
    inertial: tuple[str, ...]
    drive: tuple[str, ...]  # our symbols of friction and reflected inertia in its order


PUBLISHED_ORDERS = {
    'porcelli': PublishedOrder(
        'G. Porcelli, master thesis, Politecnico di Torino 2020, eq. 3.20 ff.',
        'dh', 'mass_first', ('m', *_MOMENTS, *_UPPER_ROWS), ('fv', 'fc', 'Ia'),
    ),
    'rajagopal': PublishedOrder(
        'J. Rajagopal, R&D report, Bonn-Rhein-Sieg 2017, section 3.3',
        'joint', 'mass_first', ('m', *_MOMENTS, *_UPPER_ROWS), (),
    ),
    'tika': PublishedOrder(
        'A. Tika, J. Ulmen, N. Bajcinca 2020, eq. 11 and table II',
        'mdh', 'gautier_khalil', (*_UPPER_ROWS, *_MOMENTS, 'm'), ('fc', 'fv', 'Ia'),
    ),
    'raviola': PublishedOrder(
        'A. Raviola et al., Robotics 10(3), 83, 2021, appendix A',
        'dh', 'mass_first',
        ('m', *_MOMENTS, 'Ixx', 'Iyy', 'Izz', 'Iyz', 'Ixz', 'Ixy'), ('fc', 'fv', 'Ia'),
    ),
    'madsen': PublishedOrder(
        'E. Madsen et al. 2020; its equations are lost, the order is that of its reference Khalil',
        'mdh', 'gautier_khalil', (*_UPPER_ROWS, *_MOMENTS, 'm'), (),
    ),
}


def published_rows(reduction: BaseReduction, order: PublishedOrder) -> list[int]:
    """
    Return base parameters in the order of a work's table: links, then drives by kind.

    Raises UsageError if the set is not the work's: other frames, or other parameters lead.
    """
    if (reduction.frames, reduction.preference) != (order.frames, order.preference):
        raise UsageError(
            f'{order.source} lists base parameters in {order.frames} frames, '
            f'{order.preference}; these are in {reduction.frames} frames, {reduction.preference}'
        )
    parts = [split_name(name) for name in reduction.names]

    def place(row: int) -> tuple[int, int, int]:
        symbol, number = parts[row]
        if symbol in INERTIAL_SYMBOLS:
            return 0, number, order.inertial.index(symbol)
        # What the work does not have stays behind, in our order.
        kinds = (*order.drive, *dict.fromkeys(other for other, _ in parts))
        return 1, kinds.index(symbol), number

    return sorted(range(reduction.rank), key=place)


IDENTIFIABLE, COMBINED, UNIDENTIFIABLE = 'identifiable', 'combined', 'unidentifiable'
CLASSES = (IDENTIFIABLE, COMBINED, UNIDENTIFIABLE)
FIRST_MOMENTS = ('mx', 'my', 'mz')


def linear_classes(reduction: BaseReduction) -> dict[str, tuple[str, ...]]:
    """
    Return the standard parameters by identifiability, first moments as they are.

    Keys: 'identifiable', alone; 'combined', only in a combination; 'unidentifiable', no motion
    shows them.
    """
    return _by_class(_linear_class(reduction))


def physical_classes(reduction: BaseReduction) -> dict[str, tuple[str, ...]]:
    """
    Return masses, centres of mass, inertias and drive parameters by identifiability.

    A centre of mass (cx for mx) is known alone only if its mass is too; a mass is seen wherever
    one of its first moments is.
    """
    linear = _linear_class(reduction)
    kinds = {}
    for name, kind in linear.items():
        symbol, link = split_name(name)
        if symbol in FIRST_MOMENTS:
            alone = kind == linear[f'm{link}'] == IDENTIFIABLE
            kinds[f'c{symbol[1]}{link}'] = (
                COMBINED if kind == IDENTIFIABLE and not alone else kind
            )
        elif symbol == 'm' and kind == UNIDENTIFIABLE:
            moments = {linear[f'{moment}{link}'] for moment in FIRST_MOMENTS}
            kinds[name] = UNIDENTIFIABLE if moments == {UNIDENTIFIABLE} else COMBINED
        else:
            kinds[name] = kind
    return _by_class(kinds)


def _linear_class(reduction: BaseReduction) -> dict[str, str]:
    used = reduction.significant
    alone = set(reduction.independent[used.sum(axis=1) == 1].tolist())
    return {
        name: IDENTIFIABLE if column in alone
        else COMBINED if used[:, column].any() else UNIDENTIFIABLE
        for column, name in enumerate(reduction.parameters.names)
    }


def _by_class(kinds: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    return {
        wanted: tuple(name for name, kind in kinds.items() if kind == wanted)
        for wanted in CLASSES
    }


def unidentifiable_reasons(
    robot: RobotModel, reduction: BaseReduction, frames: LinkFrames | None = None
) -> dict[str, str]:
    """
    Return in words, by name of the unidentifiable parameter, why no motion shows it.

    `robot` is the arm in its mounting, `frames` those of `reduction`, by default joint frames.
    Reasons of gravity are tested on the model, with gravity across joint 1's axis; the rest
    follows from the axes that turn the link.
    """
    names = linear_classes(reduction)[UNIDENTIFIABLE]
    frames = joint_frames(robot.n) if frames is None else frames
    motion = random_motion(robot, 60, np.random.default_rng(1))
    tilted = robot.with_gravity([5.7, 4.1, -6.8])
    W = inertial_regressor(tilted, motion) @ frames.to_joint_frames()
    scale = np.linalg.norm(W, axis=0)
    seen_tilted = scale > WEAK_TOLERANCE * scale.max()
    spin = _axes_of_rotation(robot)
    _, _, prismatic = joint_axes(robot.pinocchio)
    reasons = {}
    for name in names:
        symbol, number = split_name(name)
        if symbol not in INERTIAL_SYMBOLS:
            reasons[name] = 'its column is zero in every motion'
            continue
        link = number - 1
        column = 10 * link + INERTIAL_SYMBOLS.index(symbol)
        if name in reduction.neglected or np.any(
            np.abs(reduction.K[:, column]) > COEFFICIENT_TOLERANCE
        ):
            reasons[name] = (
                f'link {number} shows it only by how little axes and gravity miss being parallel '
                'or perpendicular'
            )
            continue
        reasons[name] = _reason(
            symbol, link, robot, (spin[link], prismatic), bool(seen_tilted[column])
        )
    return reasons


def _axes_of_rotation(robot: RobotModel) -> list[FloatArray]:
    """Return the different directions about which each link can turn at zero, root frame."""
    axes: list[FloatArray] = []
    found = np.zeros((0, 3))
    _, directions, prismatic = joint_axes(robot.pinocchio)
    for direction, slides in zip(directions, prismatic, strict=True):
        parallel = [np.linalg.norm(np.cross(direction, other)) < 1.0e-9 for other in found]
        if not slides and not any(parallel):
            found = np.vstack([found, direction])
        axes.append(found)
    return axes


def _reason(
    symbol: str, link: int, robot: RobotModel, turns: tuple[FloatArray, np.ndarray],
    seen_tilted: bool,
) -> str:
    axes, prismatic = turns
    body = f'link {link + 1}'
    turning = [str(i + 1) for i, slides in enumerate(prismatic[:link + 1]) if not slides]
    axis = (
        f"joint {turning[0]}'s axis" if len(turning) == 1
        else f'the direction of joints {", ".join(turning)}'
    )
    if seen_tilted:
        weight = "joint 1's axis is parallel to gravity"
        if not np.any(robot.mounting_gravity):
            weight = 'there is no gravity'
        elif not np.any(robot.gravity):
            weight = 'gravity is not in the effort'
        return f'{weight}: the weight of {body} makes no torque that depends on it'
    if not len(axes):
        return f'{body} only slides: it never turns, so nothing but its mass works'
    if symbol == 'm':
        return (f"the origin of {body}'s frame never moves: a mass there is neither lifted nor "
                'accelerated')
    if len(axes) > 1:
        return 'its forces reach no joint in any motion'
    if symbol in FIRST_MOMENTS:
        return f'it lies along {axis}, the only one {body} turns about: it has no lever'
    return f'{body} turns about {axis} only: inertia about other directions never works'
