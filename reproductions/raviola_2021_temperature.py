# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Section 6 of Raviola et al. 2021 on simulated arms: friction and torque, cold against warm."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from reproductions.raviola_2021_arms import (
    COULOMB, identify_run, implied_viscous, load_arm, record, temperatures_at, viscous_at,
)
from reproductions.raviola_2021_motions import Motions
from reproductions.raviola_2021_printed import (
    JOINTS, LARGEST_CHANGE_FIGURE_7, LARGEST_TORQUE_CHANGE, LARGEST_TORQUES, MEAN_TORQUE_CHANGE,
    MEAN_VISCOUS_CHANGE, ROBOTS, SHARE_OF_LARGEST_TORQUE, TITLES, VISCOUS_CHANGE,
)
from reproductions.reproduction import (
    Cell, Claim, compare, Control, Misprint, statement, Table, untested,
)
from robot_identification.arrays import FloatArray
from robot_identification.model.identified_model import IdentifiedModel
from robot_identification.model.registry import load_joint_drives
from robot_identification.studies.comparison.comparison import (
    compare_models, GroupDifference, ModelComparison, p_words,
)
from robot_identification.studies.comparison.sliding import compare_joints_of_size, JointsOfSize
from robot_identification.studies.comparison.torque_change import share_of_limit
from robot_identification.studies.temperature.trend import study_temperature, TemperatureStudy

# Shares of the way from the paper's cold to its warm arm, a run at each.
SHARES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
FIRST_NOISE = 10
# Scatter of runs about a line over their errors, above which it is not one.
MOST_EXCESS = 3.0
# Samples a second of the motion along which torques are compared.
RATE = 125.0
SIZE_OF_BOTH = 'ur_cb3_size_1'
# Half of the last digit of tables 4 [%] and 7 [%], and of "about 20 %".
HALF_PERCENT, HALF_TENTH = 0.5, 0.05


@dataclass(frozen=True, eq=False)
class Warming:
    """
    Arms that warm up.

    Attributes
    ----------
    models : mapping of str to tuple of IdentifiedModel
        By arm, one for each of SHARES.
    studies : mapping of str to TemperatureStudy
        Lines through them.
    tables : tuple of Table
        Tables 4 to 7.
    claims : tuple of Claim
        About them.
    misprints : tuple of Misprint
        In them.

    """

    models: Mapping[str, tuple[IdentifiedModel, ...]]
    studies: Mapping[str, TemperatureStudy]
    tables: tuple[Table, ...]
    claims: tuple[Claim, ...]
    misprints: tuple[Misprint, ...]


def warm_up(name: str, motions: Motions) -> tuple[IdentifiedModel, ...]:
    """Return models of one arm from cold to warm, by the same motion."""
    robot = load_arm(name)
    return tuple(
        identify_run(
            robot, record(robot, motions.excitation[name], share=share, seed=FIRST_NOISE + number)
        ).model
        for number, share in enumerate(SHARES)
    )


def true_slopes(name: str) -> FloatArray:
    """Return how the true viscous friction changes with temperature [N m s/rad/K]."""
    slopes: FloatArray = (viscous_at(name, 1.0) - viscous_at(name, 0.0)) / (
        temperatures_at(1.0) - temperatures_at(0.0)
    )
    return slopes


def printed_shares(name: str) -> dict[float, float]:
    """Return table 7 computed from tables 2 and 6 [%], by size of joint [N m]."""
    return shares_of(LARGEST_TORQUE_CHANGE, name)


def shares_of(changes: Mapping[str, Sequence[float]], name: str) -> dict[float, float]:
    """Return changes of torque as shares of the largest [%], by size of joint [N m]."""
    shares = share_of_limit(np.array(changes[name]), np.array(LARGEST_TORQUES[name]))
    return {size: 100.0 * share for size, share in shares.items()}


def study_warming(motions: Motions, report: Callable[[float, str], None]) -> Warming:
    """Return section 6 on simulated arms; `report` as that of a reproduction."""
    models, studies = {}, {}
    for number, name in enumerate(ROBOTS):
        report(0.5 * number, f'warming the {TITLES[name]} up')
        models[name] = warm_up(name, motions)
        trajectory = motions.excitation[name]
        studies[name] = study_temperature(
            models[name], trajectory.sample(trajectory.times(RATE))
        )
    compared = {name: compare_models(models[name][0], models[name][-1]) for name in ROBOTS}
    sizes = compare_joints_of_size(
        [models[name][0] for name in ROBOTS], [load_joint_drives(name) for name in ROBOTS],
        [load_arm(name).drives.gear_ratio for name in ROBOTS],
    )
    of_both = next(one for one in sizes if one.size == SIZE_OF_BOTH)
    return Warming(
        models, studies,
        (
            _viscous_table(studies), _slope_table(studies), _torque_table(studies),
            _share_table(studies), _group_table(compared), _size_table(of_both),
            _implied_table(),
        ),
        (
            *arithmetic_claims(), *_recovery_claims(studies), *_group_claims(compared),
            *_size_claims(sizes),
        ),
        _misprints(),
    )


def _rows_of_arms(
    rows: Mapping[str, tuple[tuple[str, FloatArray], ...]]
) -> tuple[tuple[Cell, ...], ...]:
    """Return a row for each arm and who says so."""
    return tuple(
        (f'{TITLES[name]}, {who}', *np.asarray(values, dtype=float).tolist())
        for name, pairs in rows.items() for who, values in pairs
    )


def _changes(study: TemperatureStudy) -> FloatArray:
    """Return the change of viscous friction by joint, first to last run [%]."""
    return 100.0 * np.array([joint.viscous_change for joint in study.joints])


def _viscous_table(studies: Mapping[str, TemperatureStudy]) -> Table:
    def with_mean(values: FloatArray) -> FloatArray:
        return np.append(values, values.mean())

    return Table(
        'viscous', 'Change of viscous friction from cold to warm [%] (table 4)',
        ('arm', *JOINTS, 'mean'),
        _rows_of_arms({
            name: (
                ('paper, and truth here', with_mean(np.array(VISCOUS_CHANGE[name]))),
                ('recovered', with_mean(_changes(studies[name]))),
            )
            for name in ROBOTS
        }),
    )


def _slope_table(studies: Mapping[str, TemperatureStudy]) -> Table:
    rows = {}
    for name in ROBOTS:
        lines = [joint.viscous_line for joint in studies[name].joints]
        known = [line for line in lines if line is not None]
        rows[name] = (
            ('true', true_slopes(name)),
            ('recovered', np.array([line.slope for line in known])),
            ('standard error', np.array([line.slope_error for line in known])),
        )
    return Table(
        'slopes', 'Slope of viscous friction over temperature [N m s/rad/K] (figure 8)',
        ('arm', *JOINTS), _rows_of_arms(rows),
        f'{len(SHARES)} runs of each arm. The paper prints temperatures of the UR5 alone; those '
        'of the UR3 are taken to be the same.',
    )


def _torque_table(studies: Mapping[str, TemperatureStudy]) -> Table:
    rows = {}
    for name in ROBOTS:
        torque = studies[name].torque
        rows[name] = (
            ('mean, paper', np.array(MEAN_TORQUE_CHANGE[name])), ('mean, here', torque.mean),
            ('largest, paper', np.array(LARGEST_TORQUE_CHANGE[name])),
            ('largest, here', torque.largest),
        )
    return Table(
        'torques', 'Change of torque from cold to warm along the excitation [N m] (tables 5, 6)',
        ('arm', *JOINTS), _rows_of_arms(rows),
        'Viscous torque grows with speed: figures of different motions do not compare.',
    )


def _share_table(studies: Mapping[str, TemperatureStudy]) -> Table:
    rows = []
    for name in ROBOTS:
        ours = studies[name].share_of_limit
        again = printed_shares(name)
        for size, printed in SHARE_OF_LARGEST_TORQUE[name].items():
            rows.append((
                f'{TITLES[name]}, joints of {size:.0f} N m', printed, again[size],
                100.0 * ours[size],
            ))
    return Table(
        'shares', 'Largest change of torque as a share of what the joint can give [%] (table 7)',
        ('arm', 'paper', 'from tables 2 and 6', 'here'), tuple(rows),
        'Mean of the largest changes over the joints of one size.',
    )


def _group_table(compared: Mapping[str, ModelComparison]) -> Table:
    return Table(
        'groups', 'Cold against warm model by groups of parameters (figure 7)',
        ('arm and group', 'directions tested', 'p, corrected', 'mean change [%]'),
        tuple(
            (
                f'{TITLES[name]}, {group.group}', group.directions, group.p_corrected,
                100.0 * group.change if np.isfinite(group.change) else None,
            )
            for name, comparison in compared.items() for group in comparison.groups
        ),
    )


def _size_table(of_both: JointsOfSize) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for one in of_both.joints:
        robot = load_arm(one.robot)
        joint = robot.joint_names.index(one.joint)
        gear = robot.drives.gear_ratio[joint]
        rows.append((
            f'{TITLES[one.robot]} {JOINTS[joint]}', float(implied_viscous(one.robot)[joint]),
            one.viscous * gear**2, one.viscous_error * gear**2, one.coulomb * gear,
            one.coulomb_error * gear,
        ))
    return Table(
        'sizes', 'Joints of size 1: the elbow of the UR3 and the wrists of the UR5',
        ('joint', 'viscous, from tables 4 and 6', 'viscous, here', 'error', 'Coulomb, here',
         'error of that'),
        tuple(rows),
        'On the side of the joint [N m s/rad], [N m]; all gear ratios are 101. Viscous friction '
        'from the tables is a lower bound, at a speed of pi rad/s. Coulomb friction is not '
        'printed in the paper: true here are '
        f'{", ".join(f"{value:g}" for value in (COULOMB["ur3"][2], *COULOMB["ur5"][3:]))} N m.',
    )


def _implied_table() -> Table:
    return Table(
        'implied', 'Viscous friction that tables 4 and 6 imply, at least [N m s/rad]',
        ('arm', *JOINTS),
        _rows_of_arms({name: (('cold', implied_viscous(name)),) for name in ROBOTS}),
        'Largest change of torque over change of viscous friction and a speed of pi rad/s.',
    )


def arithmetic_claims() -> list[Claim]:
    """Return means of table 4 and shares of table 7, from the tables they follow from."""
    claims = [
        compare(
            f'{TITLES[name]}: mean of table 4', MEAN_VISCOUS_CHANGE[name],
            float(np.mean(VISCOUS_CHANGE[name])), absolute=HALF_PERCENT, unit='%',
            control=(f'the {TITLES[other]}', float(np.mean(VISCOUS_CHANGE[other]))),
            why='"about": rounded to a whole per cent',
        )
        for name, other in zip(ROBOTS, reversed(ROBOTS), strict=True)
    ]
    means = {name: shares_of(MEAN_TORQUE_CHANGE, name) for name in ROBOTS}
    claims += [
        compare(
            f'{TITLES[name]}: table 7 from tables 2 and 6, joints of {size:.0f} N m', printed,
            printed_shares(name)[size], absolute=HALF_TENTH, unit='%',
            control=('from tables 2 and 5', means[name][size]),
        )
        for name in ROBOTS for size, printed in SHARE_OF_LARGEST_TORQUE[name].items()
    ]
    return claims


def _held(study: TemperatureStudy, slopes: FloatArray) -> int:
    """Return how many joints have a slope whose interval of 95 % holds a number."""
    held = 0
    for joint, slope in zip(study.joints, slopes, strict=True):
        line = joint.viscous_line
        low, high = (np.nan, np.nan) if line is None else line.slope_interval()
        held += bool(low <= slope <= high)
    return held


def _recovery_claims(studies: Mapping[str, TemperatureStudy]) -> list[Claim]:
    claims = []
    for name, other in zip(ROBOTS, reversed(ROBOTS), strict=True):
        study = studies[name]
        lines = [joint.viscous_line for joint in study.joints]
        held, exchanged = (_held(study, true_slopes(one)) for one in (name, other))
        straight = sum(line is not None and line.excess < MOST_EXCESS for line in lines)
        claims += [
            statement(
                f'{TITLES[name]}: slopes that table 4 implies as truth, recovered',
                f'{len(JOINTS)} of {len(JOINTS)} joints', f'{held} of {len(JOINTS)} joints',
                held == len(JOINTS), 'intervals of 95 % hold the true slope', control=Control(
                    f'slopes of the {TITLES[other]}: {exchanged} of {len(JOINTS)}',
                    exchanged != len(JOINTS),
                ),
            ),
            untested(
                f'{TITLES[name]}: viscous friction falls along straight lines',
                f'{len(JOINTS)} of {len(JOINTS)} joints', f'{straight} of {len(JOINTS)} joints',
                'lines are the truth here, and no arm whose friction bends was warmed up; counted '
                f'are joints that scatter by less than {MOST_EXCESS:g} times their errors',
            ),
            untested(
                f'{TITLES[name]}: largest changes of torque',
                ', '.join(f'{value:.2f}' for value in LARGEST_TORQUE_CHANGE[name]) + ' N m',
                ', '.join(f'{value:.2f}' for value in study.torque.largest) + ' N m',
                'another motion: viscous torque grows with speed',
            ),
        ]
    return claims


def _group_claims(compared: Mapping[str, ModelComparison]) -> list[Claim]:
    claims = []
    for name, comparison in compared.items():
        groups = {group.group: group for group in comparison.groups}
        for key, words, moves in (
            ('inertial', 'inertial parameters do not depend on temperature', False),
            ('viscous', 'viscous friction does', True),
        ):
            group, other = groups[key], groups['viscous' if key == 'inertial' else 'inertial']
            claims.append(statement(
                f'{TITLES[name]}: {words}', 'yes', _moved_words(group), group.moved == moves,
                'Wald test, cold against warm model', control=Control(
                    f'{other.group} parameters: {_moved_words(other)}', other.moved != moves
                ),
            ))
    return claims


def _moved_words(group: GroupDifference) -> str:
    return f'{"moved" if group.moved else "did not move"} (p{p_words(group.p_corrected)})'


def similar(values: Sequence[float], others: Sequence[float]) -> tuple[bool, str]:
    """
    Return whether some numbers are nearer to each other than to all others, and the factors.

    Similar are numbers whose largest over smallest is below the factor between their mean and the
    nearest of the others.
    """
    ratio, middle = max(values) / min(values), float(np.mean(values))
    apart = min(max(other / middle, middle / other) for other in others)
    return ratio < apart, (
        f'{", ".join(f"{value:.2f}" for value in values)} N m s/rad: largest over smallest '
        f'{ratio:.2f}, the nearest other joint is {apart:.2f} times away'
    )


def _size_claims(sizes: Sequence[JointsOfSize]) -> list[Claim]:
    implied = {name: implied_viscous(name) for name in ROBOTS}
    gear = {name: load_arm(name).drives.gear_ratio[0] for name in ROBOTS}
    known = {
        one.size: [joint.viscous * gear[joint.robot] ** 2 for joint in one.joints]
        for one in sizes
    }
    of_both = next(one for one in sizes if one.size == SIZE_OF_BOTH)
    printed, words = similar(
        [implied['ur3'][2], *implied['ur5'][3:]],
        [*implied['ur3'][[0, 1, 3, 4, 5]], *implied['ur5'][:3]],
    )
    found, our_words = similar(
        known[SIZE_OF_BOTH],
        [value for size, values in known.items() if size != SIZE_OF_BOTH for value in values],
    )
    # Joints of two sizes must not be similar.
    elbows, elbow_words = similar(
        [implied['ur3'][2], implied['ur5'][2]],
        [*implied['ur3'][[0, 1, 3, 4, 5]], *implied['ur5'][[0, 1, 3, 4, 5]]],
    )
    others = [(size, values) for size, values in known.items() if size != SIZE_OF_BOTH]
    mixed, mixed_words = similar(
        [*known[SIZE_OF_BOTH], *others[0][1]],
        [value for _, values in others[1:] for value in values],
    )
    return [
        statement(
            'UR3 elbow and UR5 wrists, the same joint: viscous friction is similar', 'similar',
            words, printed,
            'from tables 4 and 6 at the same speed; the paper shows it in figure 3 only',
            control=Control(f'elbows of both arms: {elbow_words}', not elbows),
        ),
        statement(
            'the same, identified on our arms', 'similar', our_words, found,
            f'they are apart by more than their errors (p{p_words(of_both.viscous_p)} of equal '
            'friction), as the four trends of figure 8 are',
            control=Control(f'with the joints of {others[0][0]}: {mixed_words}', not mixed),
        ),
    ]


def _misprints() -> tuple[Misprint, ...]:
    largest = {name: -min(VISCOUS_CHANGE[name]) for name in ROBOTS}
    return (
        Misprint(
            'section 6 against table 4',
            f'viscous friction of the UR5 falls by up to {LARGEST_CHANGE_FIGURE_7:.0f} %',
            f'by up to {largest["ur5"]:g} % in table 4 (UR3: {largest["ur3"]:g} %)',
            'two experiments: half an hour of warm-up (figure 7), and repeated motions (table 4)',
        ),
    )
