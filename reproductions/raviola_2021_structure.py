# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Structure according to Raviola et al. 2021: number, classes and names of parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from reproductions.raviola_2021_arms import load_arm
from reproductions.raviola_2021_printed import (
    BASE_PARAMETERS, CLASSES, COEFFICIENTS, RANDOM_POINTS, ROBOTS, ROWS, SECOND_ROW,
    STANDARD_PARAMETERS, TITLES,
)
from reproductions.reproduction import Claim, Control, Misprint, statement, Table
from robot_identification.arrays import FloatArray
from robot_identification.model.base_parameters import BaseReduction, random_motion, reduce_to_base
from robot_identification.model.base_structure import (
    find_symbols, linear_classes, physical_classes, PUBLISHED_ORDERS, published_rows,
    SymbolicBase, to_text,
)
from robot_identification.model.frames import link_frames
from robot_identification.model.friction import parse_friction
from robot_identification.model.parameters import make_standard_parameters, StandardParameters
from robot_identification.model.regressor import Motion, observation_matrix
from robot_identification.model.robot_model import RobotModel

# Section 3 lists inertias as xx, yy, zz, yz, xz, xy, appendix A as here; its rows count.
ORDER = replace(
    PUBLISHED_ORDERS['raviola'], inertial=PUBLISHED_ORDERS['porcelli'].inertial
)
MOUNTINGS = ('ground', 'ceiling', 'wall')
# Half of the last printed digit and a rounding beyond it, of numbers of four digits: 0.11235 is
# printed as 0.1123 and as 0.2247.
PRINT_ROUNDING = 5.1e-4
POINTS_SEED = 25
# Too few for a control: 30 rows for 52 parameters.
FEW_POINTS = 5


@dataclass(frozen=True, eq=False)
class Structure:
    """
    Base parameters of one arm in one mounting, in the frames and order of the paper.

    Attributes
    ----------
    robot : RobotModel
        The arm.
    reduction : BaseReduction
        With Coulomb and viscous friction and rotor inertias.
    rows : list of int
        Its base parameters in the order of appendix A.

    """

    robot: RobotModel
    reduction: BaseReduction
    rows: list[int]

    @property
    def inertial(self) -> int:
        """Return the number of base parameters that are led by one of a body."""
        return int(np.sum(self.reduction.independent < 10 * self.robot.n))


def find_structure(
    name: str, mounting: str = 'ground', parameters: StandardParameters | None = None
) -> Structure:
    """Return the base parameters of an arm as the paper lists them."""
    robot = load_arm(name, mounting)
    if parameters is None:
        parameters = make_standard_parameters(robot.n, parse_friction('coulomb,viscous'), True)
    reduction = reduce_to_base(
        robot, parameters, frames=link_frames(robot, ORDER.frames), preference=ORDER.preference
    )
    return Structure(robot, reduction, published_rows(reduction, ORDER))


def counts(reduction: BaseReduction, *, physical: bool) -> tuple[int, ...]:
    """Return how many parameters are identifiable alone, in combinations, and not at all."""
    classes = physical_classes(reduction) if physical else linear_classes(reduction)
    return tuple(len(names) for names in classes.values())


def published_observations(structure: Structure, motion: Motion) -> FloatArray:
    """Return the observation matrix of all parameters in the frames of the paper, (N n, 78)."""
    robot = structure.robot
    W = observation_matrix(robot, structure.reduction.parameters, motion)
    inertial = slice(0, 10 * robot.n)
    W[:, inertial] = W[:, inertial] @ link_frames(robot, ORDER.frames).to_joint_frames()
    return W


def random_singular_values(structure: Structure, samples: int = RANDOM_POINTS) -> FloatArray:
    """Return the singular values of the observation matrix of random points, shape (78,)."""
    rng = np.random.default_rng(POINTS_SEED)
    W = published_observations(structure, random_motion(structure.robot, samples, rng))
    return np.asarray(np.linalg.svd(W, compute_uv=False), dtype=float)


def rank_of(singular_values: FloatArray) -> int:
    """Return how many singular values stand before the first gap of a factor of a million."""
    steps = singular_values[:-1] / np.maximum(singular_values[1:], np.finfo(float).tiny)
    gaps = np.flatnonzero(steps > 1.0e6)
    return int(gaps[0]) + 1 if len(gaps) else len(singular_values)


def parse_row(row: str, numbers: Mapping[str, float]) -> dict[str, float]:
    """
    Return a printed row as coefficients by parameter.

    Parameters
    ----------
    row : str
        Of ROWS, such as ``mx3 - 1/a3 Izz3``.
    numbers : mapping of str to float
        Coefficients by the lengths they are of.

    """
    terms = {}
    sign = 1.0
    part: list[str] = []
    for word in [*row.split(), '+']:
        if word not in ('+', '-'):
            part.append(word)
            continue
        factor = numbers[' '.join(part[:-1])] if len(part) > 1 else 1.0
        terms[part[-1]] = sign * factor
        sign, part = (1.0 if word == '+' else -1.0), []
    return terms


def deviation_of_lists(structure: Structure, numbers: Mapping[str, float]) -> float:
    """
    Return how far the combinations of an arm are from the printed ones.

    Returns
    -------
    float
        Largest relative difference of a coefficient; infinite where other parameters are in a
        combination, or others lead.

    """
    reduction = structure.reduction
    names = reduction.parameters.names
    printed = {next(iter(terms)): terms for terms in (parse_row(row, numbers) for row in ROWS)}
    worst = 0.0
    for row in structure.rows:
        leading = reduction.names[row]
        wanted = printed.pop(leading, {leading: 1.0})
        found = {
            names[column]: float(reduction.K[row, column])
            for column in np.flatnonzero(reduction.significant[row])
        }
        if set(found) != set(wanted):
            return float('inf')
        worst = max(worst, *(abs(found[key] / wanted[key] - 1.0) for key in wanted))
    return worst if not printed else float('inf')


def length_values(symbols: SymbolicBase) -> dict[str, float]:
    """Return the coefficients of COEFFICIENTS from the lengths of an arm, their magnitudes."""
    lengths = {name: abs(value) for name, value in symbols.constants.items()}
    values: dict[str, float] = {}
    for name in ('a2', 'a3'):
        values |= {f'1/{name}': 1.0 / lengths[name], f'1/{name}^2': lengths[name] ** -2.0}
    for name in ('d4', 'd5', 'd6'):
        values |= {
            name: lengths[name], f'2 {name}': 2.0 * lengths[name], f'{name}^2': lengths[name] ** 2,
        }
    return values


def second_row(structure: Structure) -> float:
    """Return the coefficient of Ixz2 beside mz1, which only tilted arms show."""
    reduction = structure.reduction
    row = reduction.names.index('mz1')
    return abs(float(reduction.K[row, reduction.parameters.names.index('Ixz2')]))


@dataclass(frozen=True, eq=False)
class Findings:
    """Tables, claims and misprints of the structure, and the singular values of figure 1."""

    tables: tuple[Table, ...]
    claims: tuple[Claim, ...]
    misprints: tuple[Misprint, ...]
    singular_values: dict[str, FloatArray]


def study_structure() -> Findings:
    """Return what section 3.1 and appendix A say beside what this package finds."""
    found = {
        (name, mounting): find_structure(name, mounting)
        for name in ROBOTS for mounting in MOUNTINGS
    }
    symbols = {
        name: find_symbols(
            found[name, 'ground'].robot, found[name, 'ground'].reduction,
            link_frames(found[name, 'ground'].robot, ORDER.frames),
        )
        for name in ROBOTS
    }
    singular = {
        mounting: random_singular_values(found['ur5', mounting]) for mounting in ('ground', 'wall')
    }
    return Findings(
        (_count_table(found), _coefficient_table(symbols), _list_table(found, symbols)),
        (
            *_count_claims(found, singular), *_list_claims(found),
        ),
        _misprints(found, singular),
        singular,
    )


def _printed_case(mounting: str) -> str:
    return 'wall' if mounting == 'wall' else 'ground'


def _slashes(numbers: tuple[int, ...]) -> str:
    return ' / '.join(str(number) for number in numbers)


def _count_table(found: Mapping[tuple[str, str], Structure]) -> Table:
    rows = []
    for (name, mounting), structure in found.items():
        case = _printed_case(mounting)
        reduction = structure.reduction
        rows.append((
            f'{TITLES[name]}, {mounting}', BASE_PARAMETERS[case], reduction.rank,
            structure.inertial, _slashes(CLASSES[case]),
            _slashes(counts(reduction, physical=True)),
            _slashes(counts(reduction, physical=False)),
        ))
    return Table(
        'counts',
        f'Base parameters and classes of the {STANDARD_PARAMETERS} standard parameters '
        '(section 3.1)',
        ('arm', 'base parameters, paper', 'here', 'of bodies', 'classes, paper',
         'here, masses and centres', 'here, first moments'),
        tuple(rows),
        'Classes: identifiable alone / in combinations / not at all. Link frames are those of '
        'standard Denavit-Hartenberg tables.',
    )


def _coefficient_table(symbols: Mapping[str, SymbolicBase]) -> Table:
    values = {name: length_values(symbols[name]) for name in ROBOTS}
    return Table(
        'coefficients', 'The numbers of (A1) and (A2), from the lengths of the arms',
        ('coefficient', 'UR3, paper', 'UR3, here', 'UR5, paper', 'UR5, here'),
        tuple(
            (key, COEFFICIENTS['ur3'][key], values['ur3'][key], COEFFICIENTS['ur5'][key],
             values['ur5'][key])
            for key in COEFFICIENTS['ur5']
        ),
        'Lengths in metres, magnitudes: a2 and a3 are negative in the tables of the arms. The d4 '
        'of both, 0.11235 and 0.10915, lie half way between two numbers of four digits.',
    )


def _list_table(
    found: Mapping[tuple[str, str], Structure], symbols: Mapping[str, SymbolicBase]
) -> Table:
    structure = found['ur5', 'ground']
    expressions = symbols['ur5'].expressions
    combined = [row for row in structure.rows if len(expressions[row]) > 1]
    numbers = {row: number for number, row in enumerate(structure.rows, start=3)}
    return Table(
        'list', 'The combinations of (A2) for the UR5, with the signs that our copy has lost',
        ('row', 'paper, signs restored', 'here, from the model'),
        tuple(
            (str(numbers[row]), printed, to_text(expressions[row]))
            for row, printed in zip(combined, ROWS, strict=True)
        ),
        'The other rows are single parameters. Ia are rotor inertias times the squared gear '
        'ratio. Here a2 and a3 are negative, as in the table of the arm; the paper has their '
        'magnitudes.',
    )


def _count_claims(
    found: Mapping[tuple[str, str], Structure], singular: Mapping[str, FloatArray]
) -> list[Claim]:
    claims = []
    for mounting in MOUNTINGS:
        case = _printed_case(mounting)
        other = 'ground' if case == 'wall' else 'wall'
        ranks, classes = _counted(found, mounting)
        other_ranks, other_classes = _counted(found, other)
        claims += [
            statement(
                f'base parameters, {mounting}', str(BASE_PARAMETERS[case]),
                ', '.join(str(rank) for rank in ranks), ranks == [BASE_PARAMETERS[case]],
                'UR3 and UR5 alike', control=Control(
                    f'{other}: {", ".join(str(rank) for rank in other_ranks)}',
                    other_ranks != [BASE_PARAMETERS[case]],
                ),
            ),
            statement(
                f'classes of parameters, {mounting}', _slashes(CLASSES[case]),
                ', '.join(_slashes(one) for one in classes), classes == [CLASSES[case]],
                'counted by masses and centres of mass; by first moments they are others',
                control=Control(
                    f'{other}: {", ".join(_slashes(one) for one in other_classes)}',
                    other_classes != [CLASSES[case]],
                ),
            ),
        ]
    ranks_seen = tuple(rank_of(singular[case]) for case in ('ground', 'wall'))
    wanted = (BASE_PARAMETERS['ground'], BASE_PARAMETERS['wall'])
    few = rank_of(random_singular_values(found['ur5', 'ground'], FEW_POINTS))
    claims.append(statement(
        f'singular values of {RANDOM_POINTS} random points, ground / wall (figure 1)',
        _slashes(wanted), _slashes(ranks_seen), ranks_seen == wanted,
        'the number before the step to rounding errors', control=Control(
            f'{FEW_POINTS} random points on the ground: {few}', few != wanted[0]
        ),
    ))
    return claims


def _counted(
    found: Mapping[tuple[str, str], Structure], mounting: str
) -> tuple[list[int], list[tuple[int, ...]]]:
    """Return the different ranks and class counts of both arms in a mounting."""
    reductions = [found[name, mounting].reduction for name in ROBOTS]
    return (
        sorted({reduction.rank for reduction in reductions}),
        sorted({counts(reduction, physical=True) for reduction in reductions}),
    )


def _list_claims(found: Mapping[tuple[str, str], Structure]) -> list[Claim]:
    claims = []
    rows = {name: second_row(found[name, 'wall']) for name in ROBOTS}
    for (name, equation), other in zip((('ur3', '(A1)'), ('ur5', '(A2)')), ('ur5', 'ur3'),
                                       strict=True):
        structure = found[name, 'ground']
        worst, exchanged = (
            deviation_of_lists(structure, COEFFICIENTS[one]) for one in (name, other)
        )
        claims += [
            statement(
                f'{equation}: rows 3 to 54 of the {TITLES[name]}', '52 rows',
                f'{len(structure.rows)} rows, coefficients within {100.0 * worst:.2g} %',
                worst < PRINT_ROUNDING,
                'same parameters; within the rounding of four printed digits, with signs restored',
                control=Control(
                    f'numbers of the {TITLES[other]}: within {100.0 * exchanged:.2g} %',
                    exchanged >= PRINT_ROUNDING,
                ),
            ),
            statement(
                f'{equation}, row 2: coefficient of Jxz2', f'{SECOND_ROW:g}',
                f'{rows[name]:.4g}', abs(rows[name] / SECOND_ROW - 1.0) < PRINT_ROUNDING,
                '' if name == 'ur5' else 'misprint: the number of the UR5', control=Control(
                    f'{TITLES[other]}: {rows[other]:.4g}',
                    abs(rows[other] / SECOND_ROW - 1.0) >= PRINT_ROUNDING,
                ),
            ),
        ]
    return claims


def _misprints(
    found: Mapping[tuple[str, str], Structure], singular: Mapping[str, FloatArray]
) -> tuple[Misprint, ...]:
    values = singular['ground']
    rank = BASE_PARAMETERS['ground']
    return (
        Misprint(
            'section 3', 'inertias of a body in the order xx, yy, zz, yz, xz, xy',
            'xx, xy, xz, yy, yz, zz', 'rows 20 to 24 of (A1) and (A2)',
        ),
        Misprint(
            '(A1), row 2', f'{SECOND_ROW:g} Jxz2', f'{second_row(found["ur3", "wall"]):.4g} Jxz2',
            'the coefficient is 1/|a2|; the printed one is that of the UR5, and rows 5 and 7 of '
            '(A1) have the right one',
        ),
        Misprint(
            'section 3.1', 'with more than 52 parameters the condition number would drop',
            'it would rise',
            f'of {RANDOM_POINTS} random points it is {values[0] / values[rank - 1]:.0f} with '
            f'{rank} singular values and above 1e{int(np.log10(values[0] / values[rank]))} '
            'with one more',
        ),
    )
