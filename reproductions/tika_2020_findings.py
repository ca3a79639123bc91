# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Agreement with Tika et al. by the numbers, and the paper's misprints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from reproductions import tika_2020_printed as paper
from reproductions.known_motion import statement
from reproductions.reproduction import Claim, compare, Misprint
from reproductions.tika_2020_search import Found
from robot_identification.arrays import FloatArray

# Coulomb and viscous friction in the paper's list of 52, which is by kind after the links.
FRICTION_PLACES = range(37, 49)
# What the best of a search depends on its seed, as a share.
SEEDS_APART = 0.1
# A search turns rounding into another motion. What follows these words was found so.
OTHER_ROUNDING = 'with the rounding of another BLAS kernel the same seed gave'
OTHER_MOTION = 'of another motion than that of the paper'


@dataclass(frozen=True, eq=False)
class Findings:
    """
    The numbers of a reproduction that the paper says something about.

    Attributes
    ----------
    base : int
        Base parameters.
    drives : mapping of str to int
        Friction and rotor parameters among them.
    memetic, random : Found
        Both searches.
    deviations : ndarray, shape (52,)
        Equation 33, inertial parameters first, then friction by kind, then rotors.
    errors : mapping of str to (ndarray of shape (6,), float)
        Normalized errors.
    ordinary_rotors, constrained_rotors : mapping of str to float
        Rotor inertias [kg m^2].
    large_ordinary_rotors : mapping of str to float
        Of the arm with large rotors, by ordinary least squares.
    inertia : mapping of str to int
        Of 1000 poses, those whose mass matrix is not positive definite, by method.
    beyond_errors : int
        Inertial parameters three standard errors and more from their truth.
    rows : int
        Rows of the regression.

    """

    base: int
    drives: dict[str, int]
    memetic: Found
    random: Found
    deviations: FloatArray
    errors: dict[str, tuple[FloatArray, float]]
    ordinary_rotors: dict[str, float]
    constrained_rotors: dict[str, float]
    large_ordinary_rotors: dict[str, float]
    inertia: dict[str, int]
    beyond_errors: int
    rows: int


def find_claims(found: Findings) -> tuple[Claim, ...]:
    """Return what the paper says, with ours and the outcome."""
    return (
        *_structure(found), *_excitation(found), *_deviations(found), *_errors(found),
        *_rotors(found),
    )


def _structure(found: Findings) -> tuple[Claim, ...]:
    inertial = found.base - sum(found.drives.values())
    return (
        compare('base parameters', paper.BASE_SIZE, found.base),
        compare('of these inertial', paper.INERTIAL, inertial),
        compare('of these friction', paper.FRICTION, found.drives['friction']),
        compare('of these rotor inertias', paper.ROTORS, found.drives['rotors']),
        compare(
            'rows of the regression', paper.ROWS, found.rows, relative=0.002,
            why='samples at rest before the first motion and after the last one are not fitted',
        ),
    )


def _excitation(found: Findings) -> tuple[Claim, ...]:
    memetic, random = found.memetic, found.random
    return (
        compare(
            'condition number, memetic', paper.MEMETIC_CONDITION, memetic.condition,
            relative=SEEDS_APART, better='less',
            why='at the 20 samples that are optimized, '
            f'{memetic.dense:.3g} at 125 Hz; a tenth is what other seeds change '
            '(docs/benchmarks.md), and the paper does not state its number of harmonics; '
            f'{OTHER_ROUNDING} 42.6',
        ),
        compare(
            'condition number, random starts only', paper.RANDOM_CONDITION, random.condition,
            better='less',
            why='local searches with exact gradients get further from the same kind of starts',
        ),
        Claim(
            'memetic is better than random only with the same evaluations', 'yes: 41 and 67',
            f'{memetic.condition:.4g} and {random.condition:.4g}', 'not comparable',
            'one search each, and the paper does not say how many evaluations its random search '
            f'had; {OTHER_ROUNDING} 42.6 and 46.8: one search does not tell the two apart',
        ),
        statement(
            'most local searches end outside the limits', 'a great proportion',
            f'{infeasible_share(memetic):.0%} of those with random starts',
            infeasible_share(memetic) > 0.5,
            'searches that stall are not repaired in either',
        ),
    )


def infeasible_share(found: Found) -> float:
    """Return the share of local searches from random starts that end outside the limits."""
    random = [one for one in found.generations if one.is_random]
    kept = sum(one.feasible for one in random)
    searches = sum(len(one.solutions) for one in random)
    return 1.0 - kept / max(searches, 1)


def _deviations(found: Findings) -> tuple[Claim, ...]:
    friction = found.deviations[FRICTION_PLACES.start - 1: FRICTION_PLACES.stop - 1]
    printed = list(paper.DEVIATIONS.values())
    return (
        compare(
            'largest standard deviation, unit noise', max(printed), float(found.deviations.max()),
            better='less', why=OTHER_MOTION,
        ),
        compare(
            'smallest standard deviation, unit noise', min(printed),
            float(found.deviations.min()), better='less', why=OTHER_MOTION,
        ),
        statement(
            'the largest standard deviation is one of friction', 'Fc6',
            f'number {int(np.argmax(found.deviations)) + 1} in the list',
            float(friction.max()) == float(found.deviations.max()),
            'numbers 37 to 48 are friction',
        ),
        Claim(
            'small standard deviations show good parameters', 'sufficiently small',
            f'{found.beyond_errors} of {paper.INERTIAL} inertial parameters are three standard '
            'errors and more from their true values', 'not comparable',
            'only here is the truth known. Friction near zero speed, where joints stick and the '
            'sign is a step, is in none of the columns, and no deviation that is calculated from '
            'the columns shows what that does',
        ),
    )


def _errors(found: Findings) -> tuple[Claim, ...]:
    claims = [
        compare(
            f'printed total, {name}, from its joints',
            paper.TOTALS[name], float(np.sqrt(np.sum(np.square(joints))) / len(joints)),
            absolute=1.5 * paper.ROUNDING, unit='N m',
            why='root of the sum of squares of the joints over six; all are rounded to 0.0001',
        )
        for name, joints in paper.ERRORS.items()
    ]
    claims += [
        Claim(
            f'total normalized error, {name}', f'{printed:.4f} N m',
            f'{found.errors[name][1]:.4f} N m', 'not comparable',
            'noise and friction are those of the simulated arm',
        )
        for name, printed in paper.TOTALS.items()
    ]
    ordinary, constrained = (found.errors[f'estimation, {kind}'][1] for kind in ('OLS', 'CLS'))
    return (
        *claims,
        statement(
            'the constraint costs next to nothing', '0.0040 and 0.0040 N m',
            f'{100.0 * (constrained / ordinary - 1.0):.2g} % more',
            ordinary <= constrained < 1.0125 * ordinary,
            'total of the estimation; two values that are both printed 0.0040 may be 2.5 % apart, '
            'half of which is asked for here',
        ),
        Claim(
            'total error of the unseen motion over that of the estimation, CLS',
            f'{paper.TOTALS["validation, CLS"] / paper.TOTALS["estimation, CLS"]:.4g}',
            f'{found.errors["validation, CLS"][1] / constrained:.4g}', 'not comparable',
            'it hangs on the two motions that the searches find: '
            f'{OTHER_ROUNDING} 0.873',
        ),
    )


def _rotors(found: Findings) -> tuple[Claim, ...]:
    negative = [name for name, value in found.ordinary_rotors.items() if value < 0.0]
    large = [name for name, value in found.large_ordinary_rotors.items() if value < 0.0]
    return (
        Claim(
            'ordinary least squares makes rotor inertias negative', 'yes',
            f'{", ".join(negative) or "none"} of {len(found.ordinary_rotors)}', 'not comparable',
            'what no column of friction shows is put into others, and the motion decides into '
            f'which; {OTHER_ROUNDING} Ia6 of 4; with rotors twenty times as large: '
            f'{", ".join(large) or "none"}',
        ),
        statement(
            'constrained least squares does not', 'yes',
            f'least {min(found.constrained_rotors.values()):.3g} kg m²',
            min(found.constrained_rotors.values()) >= 0.0,
        ),
        statement(
            'the mass matrix of ordinary least squares is not positive definite', 'yes',
            f'not in {found.inertia["OLS"]} of 1000 poses', found.inertia['OLS'] > 0,
        ),
        Claim(
            'the mass matrix of constrained least squares is positive definite', 'not proved',
            f'not in {found.inertia["CLS"]} of 1000 poses', 'not comparable',
            'a bound on four rotor inertias leaves those of the links free; with physically '
            'consistent bodies, from the same recording, '
            f'{found.inertia["physically consistent"]} poses fail',
        ),
    )


MISPRINTS = (
    Misprint(
        'equation 1, element (1, 2)', 'sin(theta)', '-sin(theta)',
        'the printed matrix is no rotation: its first two columns have the product '
        '2 sin(theta) cos(theta) and not 0',
    ),
    Misprint(
        'equation 1, product', 'Rot(z, d) Trans(z, d)', 'Rot(z, theta) Trans(z, d)',
        'the angle of the joint appears nowhere in the product as printed',
    ),
    Misprint(
        'equations 4 and 5', 'V', 'the acceleration, the derivative of V',
        'force is mass times acceleration; with a velocity the units differ',
    ),
    Misprint(
        'equation 13', '(WᵀW)⁻¹ W Y', '(WᵀW)⁻¹ Wᵀ Y', 'the shapes: W is 150000 x 52',
    ),
    Misprint(
        'table II, numbers 43 and 49, as our copy has them', 'Fc6 and Fv6', 'Fv1 and A3',
        'numbers 42 and 48 have these names already; the list must hold all 12 friction '
        'parameters and A3 to A6',
    ),
    Misprint(
        'table II against table I', 'a2, a3', 'a3, a4 of table I',
        'table I has the lengths -0.425 and -0.392 in rows 3 and 4; the derived list',
    ),
    Misprint(
        'equation 28, joint 2', '0 to pi', '-pi to 0',
        'with table I the elbow is 0.425 m below the shoulder at q2 = pi/2, and rule (30) is '
        'centred on q2 + q3 = -pi/2, the upright arm',
    ),
    Misprint(
        'equation 30, second rule', 'sin(q4) |cos(q5)| <= 0.15, one side',
        'open: no lower bound is printed', 'q4 = -pi/2 and q5 = 0 keep the rule with -1',
    ),
    Misprint(
        'text, figure of the motion', 'figure 4', 'figure 3',
        'the captions: figure 3 is the motion, figure 4 the path of the end effector',
    ),
)
