# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Tables 3 and 8 of Raviola et al. 2021 beside those of simulated arms, and what to think."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from reproductions.negative_rotors import rotor_claim
from reproductions.raviola_2021_accuracy import (
    Accuracy, Arm, error_of, Mountings, rotor_inertias, ROTORS, RotorTrials, SAMPLE,
)
from reproductions.raviola_2021_arms import REFLECTED_INERTIA, ROTOR_SHARES
from reproductions.raviola_2021_printed import (
    JOINTS, LARGEST_DEVIATION, NORMALIZED_ERRORS, REDUCTION, SIMULATED_ERRORS, SOLVING_TIMES,
    TITLES,
)
from reproductions.reproduction import Cell, Claim, compare, Control, statement, Table, untested
from robot_identification.arrays import FloatArray

# Half a digit of "about 90 %", which is printed without a decimal.
ABOUT_REDUCTION = 0.05
WRONG_MOUNTING = 50.0
# Errors below this are rounding [N m], other on every machine.
ROUNDING = 1.0e-9


def accuracy_tables(found: Accuracy) -> tuple[Table, ...]:
    """Return tables 3 and 8, rotor inertias and the largest d_i."""
    return (
        _error_table(found.arms), _rotor_table(found.arms), _small_table(found.rotors),
        _delay_table(found.delayed),
        _deviation_table(found.arms), _mounting_table(found.mountings),
    )


def accuracy_claims(found: Accuracy) -> tuple[Claim, ...]:
    """Return what the paper says of them beside what is found."""
    return (
        *_error_claims(found.arms), *_rotor_claims(found),
        *_deviation_claims(found.arms), *_mounting_claims(found.mountings),
    )


def _error_table(arms: Mapping[str, Arm]) -> Table:
    rows = []
    for name, arm in arms.items():
        for who, errors in (
            ('paper', NORMALIZED_ERRORS[name]), ('here', arm.normalized_errors)
        ):
            before, after, weighted = errors
            rows.append((
                f'{TITLES[name]}, {who}', before, after, weighted, 100.0 * (1.0 - after / before),
                100.0 * (weighted / after - 1.0),
            ))
    return Table(
        'errors', 'Normalized errors of a motion that was not fitted (table 3)',
        ('arm', 'before [N m]', 'LS [N m]', 'WLS [N m]', 'less by LS [%]',
         'WLS above LS [%]'),
        tuple(rows),
        f'e_N is the root of the sum of squared errors of all joints over the number of points, '
        f'{len(next(iter(arms.values())).score.times)} here. It falls with the root of that '
        'number, which the paper does not print.',
    )


def _rotor_table(arms: Mapping[str, Arm]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, arm in arms.items():
        true = [REFLECTED_INERTIA[name][joint] for joint in ROTORS]
        rows += [
            (f'{TITLES[name]}, paper', *('negative' for _ in ROTORS)),
            (f'{TITLES[name]}, true', *true),
            (f'{TITLES[name]}, identified', *rotor_inertias(arm.found.model).tolist()),
            (f'{TITLES[name]}, standard error', *arm.errors[-len(ROTORS):].tolist()),
        ]
    return Table(
        'rotors', 'Rotor inertias on the joint side [kg m^2], least squares',
        ('arm', *(JOINTS[joint] for joint in ROTORS)),
        tuple(rows),
    )


def _small_table(tried: Mapping[str, RotorTrials]) -> Table:
    return Table(
        'small', 'Rotor inertias by least squares, small and large rotors, ten motions [kg m^2]',
        ('arm, rotors and joint', 'true', 'least', 'median', 'largest', 'motions with a negative'),
        tuple(
            (
                f'{TITLES[name]}, {size}, {JOINTS[joint]}',
                ROTOR_SHARES[size] * REFLECTED_INERTIA[name][joint],
                *(float(value) for value in np.quantile(values[:, place], (0.0, 0.5, 1.0))),
                int(np.sum(values[:, place] < 0.0)),
            )
            for name, by_size in tried.items() for size, rows in by_size.items()
            for values in (np.array(rows),) for place, joint in enumerate(ROTORS)
        ),
        'Motions of the genetic search with ten seeds, one period each. Small rotors have a '
        'twentieth of the inertia, as in the reproduction of Tika et al.',
    )


def _delay_table(delayed: Mapping[str, Mapping[int, FloatArray]]) -> Table:
    return Table(
        'delays', 'Identified rotor inertias where the currents come late [kg m^2]',
        ('arm and delay', *(JOINTS[joint] for joint in ROTORS)),
        tuple(
            (f'{TITLES[name]}, {1000.0 * SAMPLE * samples:.0f} ms', *inertias.tolist())
            for name, by_delay in delayed.items() for samples, inertias in by_delay.items()
        ),
    )


def _deviation_table(arms: Mapping[str, Arm]) -> Table:
    rows = []
    for name, arm in arms.items():
        largest = int(np.argmax(arm.unit_errors))
        leading = arm.structure.reduction.names[arm.structure.rows[largest]]
        rows.append((
            TITLES[name], LARGEST_DEVIATION[name], float(arm.unit_errors[largest]),
            float(arm.unit_errors[largest] ** 2), leading,
        ))
    return Table(
        'deviations', 'Largest standard deviation d_i of unit noise (section 4)',
        ('arm', 'paper', 'here', 'here, without the root', 'of the parameter'),
        tuple(rows),
    )


def _mounting_table(mountings: Mountings) -> Table:
    def row(who: str, errors: tuple[float, ...]) -> tuple[Cell, ...]:
        if errors[1] < ROUNDING:
            return who, *(f'< {ROUNDING:g}' for _ in errors[:2]), errors[2], None
        return who, *errors, errors[2] / errors[1]

    return Table(
        'mountings', 'Normalized errors of the simulated UR5 [N m] (table 8)',
        ('simulator', 'ground', 'ceiling', 'regressor of the ground under the ceiling',
         'wrong over right'),
        (
            row('URSim, paper', SIMULATED_ERRORS), row('MuJoCo, recorded', mountings.errors),
            row('MuJoCo, motion known exactly', mountings.exact),
        ),
        'Neither simulator has friction or noise here. What is left of the recorded motion is '
        'what 125 samples a second and a filter do to accelerations.',
    )


def _error_claims(arms: Mapping[str, Arm]) -> list[Claim]:
    claims = []
    for name, arm in arms.items():
        before, after, weighted = arm.normalized_errors
        printed = NORMALIZED_ERRORS[name]
        # The right torques at the wrong time.
        late = error_of(
            arm.score.measured - np.roll(arm.after, len(arm.after) // 2, axis=0)
        )
        claims += [
            compare(
                f'{TITLES[name]}: error less by identification', 100.0 * REDUCTION,
                100.0 * (1.0 - after / before), absolute=100.0 * ABOUT_REDUCTION, unit='%',
                better='more', control=(
                    'prediction late by half the motion', 100.0 * (1.0 - late / before)
                ),
                why=f'"about 90 %"; table 3 gives {100.0 * (1.0 - printed[1] / printed[0]):.1f} %',
            ),
            untested(
                f'{TITLES[name]}: e_N by LS', f'{printed[1]:.6g} N m', f'{after:.4g} N m',
                'our arm is another one, with noise, friction under load and joints that stick as '
                'we drew them: no more than the order of magnitude can be asked for',
            ),
            untested(
                f'{TITLES[name]}: LS predicts another motion with less error than WLS',
                f'yes, WLS {100.0 * (printed[2] / printed[1] - 1.0):+.1f} %',
                f'WLS {100.0 * (weighted / after - 1.0):+.1f} %',
                'LS is the best by definition on the fitted motion alone; the difference is '
                'small, and its sign changes with motion and noise, of which there is one each',
            ),
        ]
    return [
        *claims,
        untested(
            'time of WLS against LS', f'{SOLVING_TIMES[1]:g} s against {SOLVING_TIMES[0]:g} s',
            'one triangular factorization for both',
            'weights scale rows; a dense matrix of them is never needed. The command prints the '
            'seconds, this file has none',
        ),
    ]


def _rotor_claims(found: Accuracy) -> list[Claim]:
    claims = []
    for name, tried in found.rotors.items():
        late = [
            f'{1000.0 * SAMPLE * samples:.0f} ms: {np.count_nonzero(values < 0.0)}'
            for samples, values in found.delayed[name].items() if samples
        ]
        claims.append(rotor_claim(
            f'{TITLES[name]}: LS', 'yes, those of the last four joints', tried['small'],
            tried['large'],
            'what no column of friction shows is put into others, and the motion decides into '
            f'which. Currents that come late turn large rotors, too ({", ".join(late)} of four)',
        ))
    return claims


def _deviation_claims(arms: Mapping[str, Arm]) -> list[Claim]:
    return [
        compare(
            f'{TITLES[name]}: largest d_i', LARGEST_DEVIATION[name],
            float(arm.unit_errors.max()), better='less',
            why='another motion: a small d_i says that it shows all parameters',
        )
        for name, arm in arms.items()
    ]


def _mounting_claims(mountings: Mountings) -> list[Claim]:
    ground, ceiling, wrong = mountings.errors
    return [
        compare(
            'simulated UR5, e_N on the ground', SIMULATED_ERRORS[0], ground, unit='N m',
            better='less', control=('regressor of the other mounting', wrong),
            why='no noise and no friction',
        ),
        compare(
            'simulated UR5, e_N under the ceiling', SIMULATED_ERRORS[1], ceiling, unit='N m',
            better='less', control=('regressor of the other mounting', wrong),
            why='parameters of the ground, regressor of the ceiling',
        ),
        statement(
            'simulated UR5: the wrong mounting is much worse',
            f'{SIMULATED_ERRORS[2] / SIMULATED_ERRORS[1]:.0f} times the error',
            f'{wrong / ceiling:.0f} times the error', wrong / ceiling > WRONG_MOUNTING,
            f'"much" is more than {WRONG_MOUNTING:.0f} times; how much more depends on what '
            'little the right regressor leaves', control=Control(
                f'the right regressor, ceiling over ground: {ceiling / ground:.2g} times',
                ceiling / ground <= WRONG_MOUNTING,
            ),
        ),
    ]
