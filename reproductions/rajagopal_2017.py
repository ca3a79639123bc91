# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""J. Rajagopal's report on a KUKA youBot: what it found and what it could not, simulated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from reproductions import rajagopal_2017_data as printed
from reproductions.known_motion import root_mean_square
from reproductions.pieces import Pieces
from reproductions.rajagopal_2017_break_away import (
    run_all, run_test, SCATTER, step_responses, tested_constants, TestedJoint,
)
from reproductions.rajagopal_2017_estimate import (
    Identified, POSITION_NOISE, POSSIBLE, printed_inertial, REPORT, Ridge, RIGID, SECONDS,
    SimulatedYoubot, TORQUE_NOISE_SHARE,
)
from reproductions.rajagopal_2017_figures import (
    draw_break_away, draw_step_responses, draw_validation,
)
from reproductions.rajagopal_2017_findings import (
    all_claims, all_misprints, CONTROL_SHARE, Controls, Findings,
)
from reproductions.rajagopal_2017_tools import forward_dynamics
from reproductions.reproduction import Cell, Report, Reproduction, Table
from robot_identification.arrays import FloatArray
from robot_identification.model.base_parameters import (
    BaseReduction, random_motion, reduce_to_base, upper_bound,
)
from robot_identification.model.consistency import (
    find_implausibilities, Implausibility, pseudo_inertia,
)
from robot_identification.model.friction import parse_friction
from robot_identification.model.parameters import make_standard_parameters
from robot_identification.model.registry import load_robot
from robot_identification.model.regressor import prior_inertial_parameters
from robot_identification.model.robot_model import gravity_of_mounting, RobotModel
from robot_identification.simulation.ground_truth import prior_truth
from robot_identification.simulation.mujoco_robot import rigid_inverse_dynamics

TITLE = 'Rajagopal 2017: identification and break-away friction of a KUKA youBot'
REFERENCE = (
    'J. Rajagopal, "Dynamic robot model parameter identification via domain specific '
    'optimization", R&D report, Hochschule Bonn-Rhein-Sieg, 2017'
)
LINKS = range(1, printed.JOINTS + 1)
JOINT_COLUMNS = tuple(f'joint {joint} [N m]' for joint in LINKS)
# Shares of the time at which the search for a motion and the break-away tests are done.
SEARCHED, TESTED = 0.6, 0.95
# Of the controls: a mounting whose first axis is not vertical [rad], and a heavier last link.
TILT, HEAVIER = (0.5, 0.2, 0.0), 1.1
# Random states that forward dynamics are compared in.
STATES = 200


def reproduce(report: Report, pieces: Pieces) -> Reproduction:
    """Return the report's results beside ours; see `reproduction`."""
    report(0.0, 'a D-optimal motion')
    robot = load_robot('youbot')
    arm = SimulatedYoubot(robot)
    report(SEARCHED, 'identification')
    ways, ridge = arm.ways(), arm.judge_ridge()
    joints = []
    for joint in run_all():
        joints.append(joint)
        share = len(joints) / (printed.JOINTS + len(printed.WHEELS))
        report(SEARCHED + (TESTED - SEARCHED) * share, f'break-away tests: {joint.name}')
    responses = step_responses()
    rigid = rigid_reduction(robot)
    estimate = printed_inertial()
    found = Findings(
        rigid.parameters.size, seen_parameters(rigid, 1), range_error(robot, model_positions()),
        negative_links(estimate), links_beyond(robot, estimate),
        ridge, find_controls(robot), forward_error(robot, 1.0), ways, arm.makers_errors(), joints,
        responses,
    )
    tables = (
        ranges_table(robot), counts_table(robot, rigid), plausibility_table(robot),
        ridge_table(ridge), masses_table(arm, ways), validation_table(arm, ways),
        break_away_table(joints),
    )
    pictures = (
        draw_step_responses(responses), draw_break_away(joints), draw_validation(arm, ways),
    )
    return Reproduction(
        'rajagopal_2017', tables, pictures, all_claims(found), all_misprints(responses)
    )


def rigid_reduction(robot: RobotModel) -> BaseReduction:
    """Return the base parameters of the five links without friction and rotors."""
    return reduce_to_base(robot, make_standard_parameters(robot.n, (), False))


def negative_links(inertial: FloatArray) -> tuple[int, ...]:
    """Return the links of negative mass, from 1."""
    return tuple(link for link in LINKS if inertial[10 * link - 10] < 0.0)


def links_beyond(robot: RobotModel, inertial: FloatArray) -> tuple[int, ...]:
    """Return the links whose mass is more than 0.1 kg from the maker's, from 1."""
    return tuple(
        int(one.link.split()[1]) for one in _implausible(robot, inertial) if one.rule == 'maker'
    )


def forward_error(robot: RobotModel, factor: float) -> float:
    """
    Return how far accelerations by the forward dynamics of the maker's bodies are off [rad/s^2].

    Torques of random states are MuJoCo's; `factor` multiplies the mass of the last link.
    """
    motion = random_motion(robot, STATES, np.random.default_rng(0))
    tau = rigid_inverse_dynamics(robot, prior_truth(robot), motion, with_rotors=False)
    theta = prior_inertial_parameters(robot).copy()
    theta[-10:] *= factor
    return float(np.abs(forward_dynamics(robot, theta, motion, tau) - motion.ddq).max())


def find_controls(robot: RobotModel) -> Controls:
    """Return what the computations of the claims give where the answers are others."""
    maker = prior_inertial_parameters(robot)
    tilted = robot.with_gravity(gravity_of_mounting(*TILT))
    as_printed = np.array(printed.POSITIONS)
    return Controls(
        range_error(robot, as_printed),
        rigid_reduction(load_robot('ur5')).parameters.size,
        seen_parameters(rigid_reduction(tilted), 1), negative_links(maker),
        links_beyond(robot, maker), forward_error(robot, HEAVIER),
        {
            name: run_test(name, replace(
                one, static=(1.0 + CONTROL_SHARE) * one.static,
                coulomb=(1.0 + CONTROL_SHARE) * one.coulomb,
            ), seed).corrected.torque
            for seed, (name, one) in enumerate(tested_constants().items())
        },
    )


def seen_parameters(reduction: BaseReduction, link: int) -> tuple[str, ...]:
    """Return the inertial parameters of a link, counted from 1, that move any torque."""
    own = range(10 * (link - 1), 10 * link)
    return tuple(
        reduction.parameters.names[k] for k in own if np.any(reduction.significant[:, k])
    )


def model_positions() -> FloatArray:
    """Return what table 3.1 should print of the model: reading less that straight up [deg]."""
    readings = np.array(printed.READINGS)
    positions: FloatArray = readings - readings[:, 1:2]
    return positions


def range_error(robot: RobotModel, positions: FloatArray) -> float:
    """Return the largest difference of the shipped robot from positions of table 3.1 [deg]."""
    limits = np.degrees(np.column_stack([robot.limits.lower, robot.limits.upper]))
    straight = np.degrees(robot.encoders.to_reading(np.zeros(robot.n)))
    ends = np.sort(positions[:, [0, 2]], axis=1)
    return float(max(
        np.abs(limits - ends).max(), np.abs(straight - np.array(printed.READINGS)[:, 1]).max()
    ))


def ranges_table(robot: RobotModel) -> Table:
    """Return table 3.1 beside the shipped robot."""
    lower, upper = np.degrees(robot.limits.lower), np.degrees(robot.limits.upper)
    straight = np.degrees(robot.encoders.to_reading(np.zeros(robot.n)))
    mended = model_positions()
    return Table(
        'ranges', 'Ranges of the joints (report table 3.1) [deg]',
        ('joint', 'reading straight up, printed', 'here', 'first end, printed', 'second end, '
         'printed', 'first end by the readings', 'least position here', 'largest here'),
        tuple(
            (f'joint {k + 1}', printed.READINGS[k][1], _clean(straight[k]),
             printed.POSITIONS[k][0], printed.POSITIONS[k][2], _clean(mended[k, 0]),
             _clean(lower[k]), _clean(upper[k]))
            for k in range(robot.n)
        ),
        'The readings of joint 3 run downwards, from 0 to -297 deg: its first end is its largest '
        'position.',
    )


def _clean(value: float) -> float:
    """Return a number of degrees without the rounding of radians."""
    return round(float(value), 9) + 0.0


def counts_table(robot: RobotModel, rigid: BaseReduction) -> Table:
    """Return how many parameters there are, and how many can be found."""
    full = make_standard_parameters(robot.n, parse_friction('coulomb,viscous'), True)
    zero = sum(10 - len(seen_parameters(rigid, link)) for link in LINKS)
    return Table(
        'counts', 'Numbers of parameters',
        ('which', 'printed', 'here'),
        (
            ('inertial parameters of five links', printed.UNKNOWNS, rigid.parameters.size),
            ('of these without any effect', None, zero),
            ('base parameters', None, rigid.rank),
            ('upper bound of these by counting joints', None, upper_bound(robot)),
            ('base parameters with friction and rotors', None,
             reduce_to_base(robot, full).rank),
        ),
        'The report estimates all of them; it does not reduce them to base parameters.',
    )


def _implausible(robot: RobotModel, inertial: FloatArray) -> tuple[Implausibility, ...]:
    return find_implausibilities(
        robot, inertial, maker=prior_inertial_parameters(robot),
        mass_tolerance=printed.MASS_TOLERANCE,
    )


def plausibility_table(robot: RobotModel) -> Table:
    """Return what is wrong with table 4.1, link by link."""
    broken: dict[int, list[str]] = {link: [] for link in LINKS}
    for one in _implausible(robot, printed_inertial()):
        if one.link.startswith('link'):
            broken[int(one.link.split()[1])].append(one.rule)
    maker, estimate = prior_inertial_parameters(robot), printed_inertial()
    return Table(
        'plausibility', 'Table 4.1 judged: masses, and rules that its links break',
        ('link', 'mass printed [kg]', "maker's mass [kg]", 'Izz printed [kg m²]',
         'least pseudo-inertia eigenvalue', 'rules broken'),
        tuple(
            (f'link {link}', float(estimate[10 * link - 10]), float(maker[10 * link - 10]),
             float(estimate[10 * link - 1]),
             float(np.linalg.eigvalsh(pseudo_inertia(estimate[10 * link - 10:10 * link]))[0]),
             ', '.join(dict.fromkeys(broken[link])))
            for link in LINKS
        ),
        f"Rule maker: more than {printed.MASS_TOLERANCE:g} kg from the maker's mass, as in the "
        'report.',
    )


def ridge_table(ridge: Ridge) -> Table:
    """Return the penalty of eq. 3.73 in numbers."""
    return Table(
        'ridge', 'The ridge of eq. 3.73 on torques without noise and friction',
        ('what', 'value'),
        (
            ("eigenvalues of K'K that are not zero, of 50", ridge.eigenvalues),
            ('the smallest of them: the penalty', ridge.penalty),
            ('share of the truth left along the weakest direction', ridge.weakest_share),
        ),
    )


def masses_table(arm: SimulatedYoubot, ways: Mapping[str, Identified]) -> Table:
    """Return masses of links, printed and by ways to identify a simulated arm."""
    true = arm.true_masses()
    rows: list[tuple[Cell, ...]] = []
    for k in range(printed.JOINTS):
        masses = (float(ways[name].inertial[10 * k]) for name in (RIGID, REPORT, POSSIBLE))
        rows.append((
            f'link {k + 1}', float(printed.ESTIMATE[0, k]), float(arm.maker[10 * k]),
            float(true[k]), *(round(mass, 9) + 0.0 for mass in masses),
        ))
    return Table(
        'masses', 'Masses [kg] (report table 4.1)',
        ('link', 'printed', 'maker', 'simulated arm, true', f'{RIGID} (of the maker)',
         REPORT, 'last row of the next table'),
        tuple(rows),
        'No motion shows the mass of a link by itself. Of all bodies with the same torques ridge '
        'takes those of least numbers; the last column takes possible bodies near those '
        'of the maker.',
    )


def validation_table(arm: SimulatedYoubot, ways: Mapping[str, Identified]) -> Table:
    """Return errors E and M of figure 4.8."""
    rows: list[tuple[Cell, ...]] = [
        ('torque of the actuators', *root_mean_square(arm.actuator).tolist(), None, None),
        ("M: the maker's bodies", *arm.makers_errors().tolist(), 0, None),
    ]
    rows += [
        (f'E: {name}', *one.validation_errors.tolist(), one.rules,
         None if name == RIGID else float(np.median(one.standard_errors)))
        for name, one in ways.items()
    ]
    return Table(
        'validation', 'Errors of torque along another motion (report figure 4.8, not carried out '
        'there)',
        ('model', *JOINT_COLUMNS, 'rules of plausibility broken',
         'median standard error of base parameters [SI]'),
        tuple(rows),
        f'Root mean square. Each identification has {SECONDS:g} s at '
        f'{arm.rate:g} Hz with noise of {POSITION_NOISE:g} rad on positions and '
        f'{100.0 * TORQUE_NOISE_SHARE:g} % of the largest torque; from the third way on, each '
        'has what the one before it has, and more.',
    )


def break_away_table(joints: Sequence[TestedJoint]) -> Table:
    """Return table 4.2 beside the simulated tests."""
    by_hand = {f'joint {k + 1}': float(value) for k, value in enumerate(printed.BY_HAND)}
    medians = {f'joint {k + 1}': float(value) for k, value in enumerate(printed.MEDIANS)}
    return Table(
        'break_away', 'Break-away torques [N m] (report table 4.2 and section 4.2.1)',
        ('joint', 'printed median', 'printed, by hand', 'median of the simulated joint',
         'at the threshold, one direction (report)', 'its excess [%]',
         'at the onset, both directions', 'from (95 %)', 'to (95 %)', 'its error [%]'),
        tuple(
            (one.name, (medians | printed.WHEELS)[one.name], by_hand.get(one.name),
             one.medians[1], one.published.median, 100.0 * one.excess, one.corrected.torque,
             one.corrected.boxes[1].interval[0], one.corrected.boxes[1].interval[1],
             100.0 * one.remaining)
            for one in joints
        ),
        f'Simulated joints break away at the printed medians, with {100.0 * SCATTER:g} % of '
        f'scatter from test to test; {printed.EXPERIMENTS} tests in a direction. Intervals are of '
        'the positive direction.',
    )
