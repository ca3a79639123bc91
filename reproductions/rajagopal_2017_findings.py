# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Agreement with J. Rajagopal's report, and its misprints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from reproductions import rajagopal_2017_data as printed
from reproductions.rajagopal_2017_break_away import (
    BOUNDED, CYCLE, StepResponse, SUMMED, TestedJoint,
)
from reproductions.rajagopal_2017_estimate import Identified, POSSIBLE, REPORT, Ridge
from reproductions.rajagopal_2017_tools import extrinsic_rotation, intrinsic_rotation, to_intrinsic
from reproductions.reproduction import Claim, compare, Control, judged, Misprint, statement
from robot_identification.arrays import FloatArray

# What a break-away test may be off: share of the torque that was set. Its ramp has steps, and 25
# tests scatter.
BREAK_AWAY_SHARE = 0.02
# Of the outside part of a ridge estimate: rounding.
ROUNDING = 1.0e-9
# What counts as overshooting: a share of the step.
OVERSHOOT = 0.01
# By how much the joints of the controls break away later, as a share.
CONTROL_SHARE = 0.05
# An error below this share of the maker's is less.
LESS = 0.5
# Of accelerations by two engines: torques of rounding over the least inertia [rad/s^2].
FORWARD = 1.0e-6
# Of positions that are printed with one decimal [deg].
PRINTED_DEGREES = 0.05


@dataclass(frozen=True)
class Controls:
    """
    What the computations of the claims give in cases whose answer is another one.

    Attributes
    ----------
    range_error : float
        With table 3.1 as printed [deg].
    unknowns : int
        Of an arm of six joints.
    seen_of_first : tuple of str
        With the first axis tilted.
    negative, beyond : tuple of int
        Of the maker's bodies.
    forward : float
        With the mass of the last link a tenth larger [rad/s^2].
    joints : dict of str to float
        Break-away torques of joints that break away at 5 % more [N m].

    """

    range_error: float
    unknowns: int
    seen_of_first: tuple[str, ...]
    negative: tuple[int, ...]
    beyond: tuple[int, ...]
    forward: float
    joints: Mapping[str, float]


@dataclass(frozen=True)
class Findings:
    """
    Results that the claims are made of.

    Attributes
    ----------
    unknowns : int
        Columns of the regressor of the five links.
    seen_of_first : tuple of str
        Inertial parameters of link 1 that move any torque.
    range_error : float
        Largest difference between table 3.1, its minus sign mended, and the shipped robot [deg].
    negative : tuple of int
        Links of table 4.1 of negative mass.
    beyond : tuple of int
        Links of table 4.1 whose mass is more than 0.1 kg from the maker's.
    ridge : Ridge
        Of eq. 3.73.
    controls : Controls
        The same computations where the answers are others.
    forward : float
        Largest error of accelerations by the forward dynamics of the maker's bodies [rad/s^2].
    ways : dict of str to Identified
        Identifications of the simulated arm.
    maker : ndarray, shape (5,)
        Errors M [N m].
    joints : tuple of TestedJoint
        Break-away tests.
    responses : dict of str to StepResponse
        Of the controllers.

    """

    unknowns: int
    seen_of_first: tuple[str, ...]
    range_error: float
    negative: tuple[int, ...]
    beyond: tuple[int, ...]
    ridge: Ridge
    controls: Controls
    forward: float
    ways: Mapping[str, Identified]
    maker: FloatArray
    joints: Sequence[TestedJoint]
    responses: Mapping[str, StepResponse]


def all_claims(found: Findings) -> tuple[Claim, ...]:
    """Return every claim in the order of the report."""
    return (
        *_model_claims(found), *_table_claims(found), _rotation_claim(), *_friction_claims(found),
        *_validation_claims(found),
    )


def _numbers(links: Sequence[int]) -> str:
    return ', '.join(map(str, links)) or 'none'


def _model_claims(found: Findings) -> list[Claim]:
    first, tilted = (', '.join(one) for one in (found.seen_of_first, found.controls.seen_of_first))
    printed_error = found.controls.range_error
    return [
        statement(
            'ranges of the joints and readings straight up (table 3.1)', 'table 3.1',
            f'at most {found.range_error:.2g} deg apart', found.range_error <= PRINTED_DEGREES,
            'with the minus sign that is missing in its last row', control=Control(
                f'without that sign {printed_error:.4g} deg', printed_error > PRINTED_DEGREES
            ),
        ),
        compare(
            'unknown parameters', printed.UNKNOWNS, found.unknowns,
            control=('arm of six joints', found.controls.unknowns),
        ),
        statement(
            'what can be found of link 1', 'Izz1 alone', first, first == 'Izz1',
            'with its axis upright; nine of its columns are zero',
            control=Control(f'base tilted: {tilted}', tilted != 'Izz1'),
        ),
    ]


def _table_claims(found: Findings) -> list[Claim]:
    controls = found.controls
    return [
        statement(
            'links of table 4.1 with negative mass', '3, 4', _numbers(found.negative),
            found.negative == (3, 4), 'found by the check of plausibility', control=Control(
                f"maker's bodies: {_numbers(controls.negative)}", controls.negative != (3, 4)
            ),
        ),
        statement(
            'table 4.1 is not plausible (more than 0.1 kg from the maker)', 'not plausible',
            f'links {_numbers(found.beyond)} are beyond', bool(found.beyond), control=Control(
                f"maker's bodies: {_numbers(controls.beyond)}", not controls.beyond
            ),
        ),
        statement(
            'the penalty of eq. 3.73 resolves the rank deficiency', 'yes',
            f'no part of the estimate in the null space (below {ROUNDING:g} of it), and '
            f'{found.ridge.weakest_share:.4g} of the truth is left along the weakest direction',
            found.ridge.outside < ROUNDING,
            'at the price of a bias: with the smallest eigenvalue as penalty that part is '
            'one half by definition', control=Control(
                f'without it {found.ridge.eigenvalues} of {found.unknowns} eigenvalues are not '
                'zero', found.ridge.eigenvalues < found.unknowns,
            ),
        ),
    ]


def _rotation_claim() -> Claim:
    angles = [np.radians(angle) for angle in printed.EXAMPLE_ANGLES]
    extrinsic = extrinsic_rotation('zyx', angles)
    same, other = (
        float(np.abs(R - printed.EXAMPLE_ROTATION).max())
        for R in (intrinsic_rotation(*to_intrinsic('zyx', angles)),
                  intrinsic_rotation('zyx', angles))
    )
    return statement(
        'extrinsic z, y, x is intrinsic x, y, z (eq. 3.6 to 3.8)', 'the same matrix',
        f'the printed matrix, elements within {ROUNDING:g}',
        same < ROUNDING and float(np.abs(extrinsic - printed.EXAMPLE_ROTATION).max()) < ROUNDING,
        control=Control(f'intrinsic z, y, x: {other:.2g} off', other > ROUNDING),
    )


def _friction_claims(found: Findings) -> list[Claim]:
    overshoot, bounded = (found.responses[name].overshoot for name in (SUMMED, BOUNDED))
    excess = [joint.excess for joint in found.joints]
    values = {
        f'joint {k + 1}': float(value) for k, value in enumerate(printed.MEDIANS)
    } | printed.WHEELS
    claims = [
        statement(
            'the integral winds up, and the joint overshoots', 'yes (figure 4.2)',
            f'{100.0 * overshoot:.0f} % of the step', overshoot > OVERSHOOT, control=Control(
                f'bounded, and summed with the time of a cycle: {100.0 * bounded:.2f} %',
                bounded <= OVERSHOOT,
            ),
        ),
    ]
    claims += [
        compare(
            f'break-away torque of {joint.name}, onset of motion', values[joint.name],
            joint.corrected.torque, relative=BREAK_AWAY_SHARE, unit='N m',
            control=(
                f'joint that breaks away at {100 * CONTROL_SHARE:.0f} % more',
                found.controls.joints[joint.name],
            ),
            why='the printed median is what the simulated joint was given; '
            f'{100 * BREAK_AWAY_SHARE:.0f} % for the scatter of 25 tests',
        )
        for joint in found.joints
    ]
    claims.append(statement(
        'the torque at the threshold of 0.13 rad/s is the break-away torque', 'yes',
        f'{100.0 * min(excess):.1f} to {100.0 * max(excess):.1f} % above it',
        max(map(abs, excess)) <= 0.01,
        'the joint needs torque to be accelerated to the threshold while the ramp goes on; at the '
        'onset of motion, less what the ramp grew, '
        f'{100.0 * max(abs(joint.remaining) for joint in found.joints):.2f} % are left at most',
    ))
    return claims


def _validation_claims(found: Findings) -> list[Claim]:
    report = found.ways[REPORT].validation_errors.max()
    here, maker = found.ways[POSSIBLE].validation_errors.max(), found.maker.max()
    return [
        judged(
            Claim(
                "errors E of the identified and M of the maker's bodies (figure 4.8)",
                'not carried out', f'E here {here:.3f}, M {maker:.2f} N m (largest joint)',
                'differs', 'friction is most of the error, and neither the model of the report '
                'nor that of the maker has any',
            ),
            'better' if here < LESS * maker else 'differs',
            Control(f'E as the report {report:.2f} N m', bool(report >= LESS * maker)),
        ),
        judged(
            Claim(
                'forward dynamics of the bodies (figure 4.1)', 'not completed',
                f'accelerations within {FORWARD:g} rad/s² of those whose torques MuJoCo returns',
                'differs', 'the bodies of the maker on 200 random states',
            ),
            'better' if found.forward < FORWARD else 'differs',
            Control(
                f'last link a tenth heavier: {found.controls.forward:.3g} rad/s² off',
                found.controls.forward >= FORWARD,
            ),
        ),
    ]


def all_misprints(responses: Mapping[str, StepResponse]) -> tuple[Misprint, ...]:
    """Return the report's misprints; numbers in them are computed."""
    twist = _twist_error()
    overshoot = responses[SUMMED].overshoot
    return (
        Misprint('table 3.1, last row', 'minimum 167.5 deg', '-167.5 deg',
                 'the reading 0 less 167.5; all other rows do so'),
        Misprint(
            'eq. 3.19 and 3.20', 'R_i transposed, R_i the pose of the body in the world', 'R_i',
            'eq. 3.20 then is the action of a pose on motions as Pinocchio has it; as printed '
            f'it differs by {twist:.2g} for an example pose. Eq. 3.22 maps to the world',
        ),
        Misprint('eq. 3.65', 'S = [0, 0, 0, 0, 1]', '[0, 0, 0, 0, 0, 1]',
                 'a wrench has six components; eq. 3.17 has all of them'),
        Misprint('eq. 3.72 and 3.73', 'm links in one, n links in the other',
                 'one letter', "the penalty is of the size of K'K, ten times the links"),
        Misprint('eq. 3.74', 'sum from n = 0', 'from n = 1',
                 'the term n = 0 is the constant b_0, the same as q_0: the two cannot be '
                 'distinguished'),
        Misprint('eq. 3.74, text', 'ω_f is the sampling frequency', 'the base frequency',
                 'the harmonics are its multiples'),
        Misprint('section 3.5.2, derivative', 'j 2π f_s / P', 'j 2π k f_s / P of bin k',
                 'as printed every harmonic is multiplied as the first'),
        Misprint(
            'eq. 4.1 and 4.3', 'k_I times the sum of errors', 'the sum times the cycle',
            f'the printed gain is {1.0 / CYCLE:.0f} times as large at a cycle of {CYCLE:g} s, and '
            f'the joint overshoots by {100.0 * overshoot:.0f} %',
        ),
        Misprint('figure numbers in the text', '3.4 and 3.5 (section 3.5.2), 4.2 (section 4.2.1), '
                 '4.7 (set-up)', '3.6 and 3.7, 4.5, 4.6', 'captions of the figures'),
    )


def _twist_error() -> float:
    """Return how far eq. 3.20 is off the action of a pose on motions, its own order."""
    pose = pin.SE3(pin.rpy.rpyToMatrix(0.3, -0.4, 0.5), np.array([0.1, 0.2, 0.3]))
    R = pose.rotation.T
    printed_matrix = np.block([
        [R, pin.skew(pose.translation) @ R], [np.zeros((3, 3)), R],
    ])
    return float(np.abs(printed_matrix - pose.action).max())
