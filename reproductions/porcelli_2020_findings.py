# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Agreement with G. Porcelli's thesis, and its misprints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from reproductions import porcelli_2020_data as thesis
from reproductions.known_motion import root_mean_square
from reproductions.porcelli_2020_corrections import corrected, corrections, moving_joints, rests
from reproductions.porcelli_2020_energy import LagrangianCheck
from reproductions.porcelli_2020_models import Fit, WholeArm
from reproductions.porcelli_2020_motion import Conditions, derivative_errors, PERIOD, reached
from reproductions.porcelli_2020_structure import dh_matrix, printed_dh_matrix
from reproductions.reproduction import Claim, compare, Control, judged, Misprint, statement
from reproductions.seeds import compare_found, found_outcome, interval_of
from robot_identification.arrays import FloatArray

# Torques that are equal to rounding [N m]; those of the arm reach 60 N m.
EXACT = 1.0e-9
# What is called accurate, and what is called the same: shares of the torque and of the error;
# and what is called a mistake, as a multiple of the error that noise leaves.
ACCURATE, SAME, MISTAKE = 0.01, 0.02, 2.0
# One unit of the last digit of the printed costs, which are rounded or cut off.
LAST_DIGIT = 0.1
# Of the control of the limits: the square of it exceeds what the motion leaves of them.
FASTER = 1.2
GRAVITY = 9.81


@dataclass(frozen=True)
class Findings:
    """
    Results that the claims are made of.

    Attributes
    ----------
    counts, tilted : dict of str to int
        Base parameters of each group, by 25 random points, on an upright and on a tilted base.
    conditions : dict of str to Conditions
        Of each group.
    fits : dict of str to dict of str to Fit
        By group, then by model; 'B fitted' and 'D fitted' have friction among the parameters.
    exchanged : dict of str to Fit
        Model B of each group with the friction of the other group.
    whole : WholeArm
        Six joints at once.

    """

    counts: Mapping[str, int]
    tilted: Mapping[str, int]
    conditions: Mapping[str, Conditions]
    fits: Mapping[str, Mapping[str, Fit]]
    exchanged: Mapping[str, Fit]
    whole: WholeArm

    def errors(self, model: str) -> FloatArray:
        """Return the errors of all six joints along the thesis' motion [N m]."""
        return np.concatenate([fits[model].errors for fits in self.fits.values()])

    def elsewhere(self, model: str) -> FloatArray:
        """Return the errors of all six joints along another motion [N m]."""
        return np.concatenate([fits[model].validation_errors for fits in self.fits.values()])

    def torques(self, model: str) -> FloatArray:
        """Return the root mean square torque of all six joints [N m]."""
        return np.concatenate([
            root_mean_square(fits[model].reference) for fits in self.fits.values()
        ])


def all_claims(found: Findings) -> tuple[Claim, ...]:
    """Return every claim in the order of the thesis."""
    return (
        *_structure_claims(found), *_motion_claims(),
        *(claim for group, one in found.conditions.items() for claim in _cost_claims(group, one)),
        *_exact_claims(found), *_friction_claims(found), *_noise_claims(found),
        _wrist_claim(found),
    )


def _structure_claims(found: Findings) -> list[Claim]:
    return [
        compare(
            f'base parameters of {group}', thesis.GROUP_BASE, count,
            control=('base tilted', found.tilted[group]),
        )
        for group, count in found.counts.items()
    ]


def _motion_claims() -> list[Claim]:
    _, speeds, accelerations = reached(*corrected())
    moving = [joint + 1 for joint in moving_joints()]
    faster = FASTER**2 * accelerations.max()
    words = 'not joints ' + ', '.join(map(str, moving))
    return [
        statement(
            'joints within their limits of velocity and acceleration', 'all',
            f'at most {speeds.max():.3f} rad/s and {accelerations.max():.3f} rad/s²',
            bool(speeds.max() <= thesis.VELOCITY_LIMIT
                 and accelerations.max() <= thesis.ACCELERATION_LIMIT),
            'of the corrected motion', control=Control(
                f'the same motion {FASTER:g} times as fast reaches {faster:.3f} rad/s²',
                bool(faster > thesis.ACCELERATION_LIMIT),
            ),
        ),
        statement(
            'for t = 0 the robot is stationary', 'all joints',
            'all joints' if rests(*corrected()).all() else words, bool(rests(*corrected()).all()),
            'after one character of each of three joints is corrected: '
            + ', '.join(f'{one.name} = {one.changed:.4f}' for one in corrections()),
            control=Control(f'coefficients as printed: {words}', bool(moving)),
        ),
    ]


def _cost_claims(group: str, one: Conditions) -> list[Claim]:
    hours = f'{thesis.HOURS[group]:.0f} h'
    genetic = Control(
        f"genetic, of the thesis' size: {interval_of(one.genetic).words()}",
        found_outcome(one.printed, one.genetic) == 'differs',
    )
    return [
        compare(
            f'cost f of {group}, taken as cond(Y_B), q0 = 0', one.printed, one.corrected,
            absolute=LAST_DIGIT, control=('coefficients as printed', one.as_printed),
            why='the corrected motion about zero; one unit of the last printed digit',
        ),
        compare(
            f"cost f of {group} as eq. 3.59 says, cond(Y_B' Y_B)", one.printed, one.corrected**2,
            absolute=LAST_DIGIT, why='the square of cond(Y_B): the printed costs are those of Y_B',
        ),
        compare_found(
            f'cond(Y_B) of {group}, same limits', one.printed, one.conservative, control=genetic,
            why=f'gradient search with the centre free, in a second instead of {hours}',
        ),
        compare_found(
            f'cond(Y_B) of {group}, limits taken exactly', one.printed, one.exact,
            control=genetic, why='eq. 3.57 adds up amplitudes that never meet',
        ),
    ]


def _exact_claims(found: Findings) -> list[Claim]:
    def off(model: str) -> float:
        return max(
            float(np.abs(fits[model].found - fits[model].true).max())
            for fits in found.fits.values()
        )

    exact, rubbing = (float(found.errors(model).max()) for model in ('A', 'B'))
    return [
        statement(
            'model A: torques exactly overlapping', 'no difference', _below(exact, 'N m'),
            exact < EXACT,
            control=Control(f'model B: {_below(rubbing, "N m")}', rubbing >= EXACT),
        ),
        statement(
            'model A: base parameters correctly evaluated', 'no difference',
            _below(off('A'), '(SI)'), off('A') < EXACT,
            control=Control(f'model B: {_below(off("B"), "(SI)")}', off('B') >= EXACT),
        ),
    ]


def _friction_claims(found: Findings) -> list[Claim]:
    first, last = slice(0, 3), slice(3, 6)
    friction = found.errors('B')
    exchanged = np.concatenate([fit.errors for fit in found.exchanged.values()])
    both = np.maximum(thesis.FRICTION_UP, thesis.FRICTION_DOWN)
    ratios = both[first][:, None] / both[last]
    return [
        statement(
            'model B: errors larger in joints 1 to 3', 'larger',
            f'{friction[first].min():.2f} N m at least against {friction[last].max():.2f} N m '
            'at most', bool(friction[first].min() > friction[last].max()),
            control=Control(
                'friction of the groups exchanged: '
                f'{exchanged[first].min():.2f} against {exchanged[last].max():.2f} N m',
                bool(exchanged[first].min() <= exchanged[last].max()),
            ),
        ),
        statement(
            'friction of joints 1 to 3 over that of joints 4 to 6', '3 to 4 times',
            f'{ratios.min():.1f} to {ratios.max():.1f} times',
            bool(ratios.min() >= 3.0 and ratios.max() <= 4.0), 'table 2.5 itself says so',
        ),
    ]


def _noise_claims(found: Findings) -> list[Claim]:
    torque = np.linalg.norm(found.torques('A'))
    share, rubbing = (
        float(np.linalg.norm(found.elsewhere(model)) / torque) for model in ('C', 'B')
    )
    change, without = (
        float(np.abs(found.errors(model) / found.errors('B') - 1.0).max())
        for model in ('D', 'D fitted')
    )
    fitted, poor = found.elsewhere('D fitted').max(), found.elsewhere('D').min()
    return [
        statement(
            'model C: good accuracy', 'good',
            f'errors of {100.0 * share:.2f} % of the torque, all joints along another motion',
            share < ACCURATE,
            control=Control(f'model B: {100.0 * rubbing:.0f} %', rubbing >= ACCURATE),
        ),
        statement(
            'model D: as poor as model B', 'poor', f'errors {100.0 * change:.1f} % apart at most',
            change < SAME, control=Control(
                f'friction among the parameters: {100.0 * without:.0f} % apart', without >= SAME
            ),
        ),
        judged(
            Claim(
                'model D with friction among the parameters', 'left to future work',
                f'errors of {fitted:.3f} N m at most along another motion', 'differs',
                'eq. 3.45 with one force for each direction',
            ),
            'better' if fitted < poor else 'differs',
            Control(f'without: {poor:.2f} N m at least', bool(poor > fitted)),
        ),
    ]


def _wrist_claim(found: Findings) -> Claim:
    first = slice(0, 3)
    errors = found.whole.errors
    together = errors['all joints at once'][first]
    neglected, first_off = (
        errors[name][first] / together
        for name in ('two groups, wrist neglected (thesis)',
                     'two groups, wrist first and taken off')
    )
    return statement(
        'neglecting the wrist leads to estimation mistakes', 'yes',
        f'errors of joints 1 to 3 {neglected.min():.0f} to {neglected.max():.0f} times those of '
        'all joints at once', bool((neglected > MISTAKE).all()),
        f'links of the wrist need up to {found.whole.wrist[first].max():.1f} N m (root mean '
        'square) at joints 1 to 3', control=Control(
            f'wrist first and taken off: {first_off.min():.2f} to {first_off.max():.2f} times',
            bool((first_off <= MISTAKE).all()),
        ),
    )


def _below(value: float, unit: str) -> str:
    return f'below {EXACT:g} {unit}' if value < EXACT else f'{value:.3g} {unit}'


def all_misprints(check: LagrangianCheck, refusal: str) -> tuple[Misprint, ...]:
    """Return the thesis' misprints; numbers in them are computed."""
    velocity, acceleration = derivative_errors()
    turned = printed_dh_matrix(0.5, 0.1, 0.2, 0.7) - dh_matrix(0.5, 0.1, 0.2, 0.7)
    big, small = (
        thesis.GEAR_RATIO**2 * thesis.ROTOR_INERTIA[joint] for joint in (0, 3)
    )
    turn = 2.0 * thesis.MASSES[5] * thesis.CENTRES[5, 2] * GRAVITY
    return (
        Misprint(
            'table 2.4, caption', 'inertia referred to the link frame',
            'about the centre of mass, axes along the link frame',
            f'the loader refuses the other reading: {refusal}',
        ),
        Misprint('table 2.3, link 6', 'z of the centre 0.001159 m', '-0.001159 m, probably',
                 "the maker's page of the UR5e has the minus sign; it changes torques by "
                 f'{turn:.3f} N m at most'),
        Misprint(
            'table 2.5, rotor inertia of joints 1 to 3', '1.87e-8 kg m²', 'unknown',
            f'on the side of the joint {big:.2g} kg m² against {small:.2g} kg m² of the far '
            'smaller wrist joints',
        ),
        Misprint('table 2.7', 'Δd of 1.7e3, -1.7e3 and -26.9 m', 'another unit, or mm',
                 'the axes are parallel, so the offsets must add up to nearly nothing: they add '
                 'up to -26.9 m by the printed digits. The thesis rightly keeps them out of its '
                 'dynamics'),
        Misprint(
            'eq. 2.2, element (1, 2)', 'sin θ cos alpha', '-sin θ cos alpha',
            'the product of eq. 2.3 differs there alone, by '
            f'{np.abs(turned).max():.3f} for θ = 0.5 and alpha = 0.7',
        ),
        Misprint('eq. 3.1, text', 'q, its derivatives and τ of n by n and n by 1',
                 'all of n by 1', 'eq. 3.1 itself'),
        Misprint(
            'eq. 3.18, second term', '⁰R₀', '⁰R_i',
            'the momentum of the arm is then off by '
            f'{check.printed_momentum:.2g} kg m²/s at an example state; with ⁰R_i it is that of '
            'Pinocchio',
        ),
        Misprint('eq. 3.26, second term', 'J_ωᵀ (J_v q̇) ⁰R_i', 'J_ωᵀ S(J_v q̇) ⁰R_i',
                 'n by 3, 3 by 1 and 3 by 3 cannot be multiplied; eq. 3.30 has the operator S'),
        Misprint(
            'eq. 3.31', '½ q̇ [∂(..)/∂q_k]', '½ q̇ᵀ [∂(..)/∂q_k] q̇',
            'only then an element is a number; with it in all three terms the gradient of the '
            'kinetic energy is that of Pinocchio',
        ),
        Misprint('eq. 3.38', 'Z₂', 'Z₁', 'eq. 3.35 and 3.36 have Z₀ and Z₁ alone'),
        Misprint('eq. 3.45', 'columns Y_v, Y_c against p_c, p_v (and p_v twice)',
                 'columns and parameters in one order',
                 'velocity times Coulomb torque is no torque'),
        Misprint('QR rule, section 3', '|R_ii| < 0 for a dependent column',
                 '|R_ii| below a tolerance above rounding',
                 'no absolute value is below zero: the rule keeps every column'),
        Misprint('eq. 3.51', 'Q₁ = Y₁ R₁⁻¹ Y₂ = Q₁ R₂', 'Q₁ = Y₁ R₁⁻¹, Y₂ = Q₁ R₂',
                 'eq. 3.50; two equations ran together'),
        Misprint(
            'eq. 3.55 and 3.56', 'minus before b in both', 'plus',
            f'they are off the derivatives of eq. 3.54 by {velocity:.2f} rad/s and '
            f'{acceleration:.2f} rad/s² along the corrected motion; Raviola 2021, eq. 5, has plus',
        ),
        Misprint('eq. 3.59 and 3.60', "cost cond(Y_B' Y_B)", 'cond(Y_B)',
                 'the printed costs are those of Y_B, see the claims; the minimum is the same'),
        Misprint('section 4, base frequency', 'ω_f = 0.3π Hz, T = .67 s', '0.3π rad/s, '
                 f'{PERIOD:.3f} s', 'with it three periods take 20 s, and the bounds of eq. 3.57 '
                 'meet the limits of table 2.6'),
        Misprint('table 4.2, labels', 'a_42,3 and a_42,4', 'a_4,3 and a_4,4',
                 'joint 4 has no others'),
        *(
            Misprint(
                f'table {"4.1" if one.joint < 3 else "4.2"}, {one.name}', f'{one.printed:.4f}',
                f'{one.changed:.4f}',
                f'of all changes of one character in joint {one.joint + 1} the only one with '
                'which the joint starts at rest; with all of these the printed costs come out',
            )
            for one in corrections()
        ),
        Misprint('eq. 4.4 and 4.5', 'lists cut off after a few entries', 'as restored above',
                 'the beginning of eq. 4.4 has J1zz where the frames give I1yy, and lacks the '
                 'terms of link 2'),
        Misprint('eq. 4.8', 'noise-to-signal ratio of 50', 'signal-to-noise ratio of 50 dB for a '
                 'signal of 0 dBW', "what the second argument of MATLAB's awgn means: noise of a "
                 'fixed size, whatever the current'),
    )
