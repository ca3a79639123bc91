# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
G. Porcelli's thesis on a UR5: chapter 4 and what it rests on, on simulated arms.

MuJoCo is the robot, friction is the thesis' own table, and noise is that of its equations 4.8 and
4.9. Three joints do not start at rest by the printed coefficients of its motion, though the thesis
says so: every change of one character of them is tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
import tempfile

import numpy as np
from reproductions.joint_groups import JointGroupLeastSquares
from reproductions.known_motion import (
    known_problem, map_base_parameters, root_mean_square, torque_of_base,
)
from reproductions.paper import Cell, Paper, Pieces, printed_values, Report
from reproductions.seeds import compare_found, found_outcome, interval_of, TEN_SEEDS
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.errors import DescriptionError
from robot_identification.estimation import Estimator, WeightedLeastSquares
from robot_identification.estimation.estimators.least_squares import OrdinaryLeastSquares
from robot_identification.excitation import (
    Budget, design_excitation, Experiment, find_experiment, load_experiment,
)
from robot_identification.excitation.fourier_table import (
    end_residuals, nearest_at_rest, PRINTED_TOLERANCE,
)
from robot_identification.excitation.information import BaseColumns
from robot_identification.files import dump_yaml, read_yaml
from robot_identification.model import (
    BaseReduction, find_symbols, gravity_of_mounting, link_frames, load_robot,
    make_standard_parameters, Motion, parse_friction, prior_inertial_parameters, PUBLISHED_ORDERS,
    published_rows, read_link_table, reduce_to_base, RobotModel, share_directory, to_text,
)
from robot_identification.simulation.ground_truth import prior_truth
from robot_identification.simulation.mujoco_robot import rigid_inverse_dynamics

thesis = printed_values('porcelli_2020')
GROUPS = {'BSE': ('ur5_porcelli_bse', slice(0, 3)), 'W': ('ur5_porcelli_wrist', slice(3, 6))}
LINK_NAMES = ('Base', 'Shoulder', 'Elbow', 'Wrist 1', 'Wrist 2', 'Wrist 3')
BASE_RATE: float = np.pi * thesis.base_rate  # [rad/s]
VELOCITY_LIMIT = np.pi * thesis.velocity_limit  # [rad/s]
ACCELERATION_LIMIT = np.pi * thesis.acceleration_limit  # [rad/s^2]
PERIOD = 2.0 * np.pi / BASE_RATE
EXPERIMENT = 'porcelli_2020_ur5'
TABLE_FILE = Path('config') / 'link_tables' / 'ur5_porcelli.yaml'
# A mounting whose first axis is not vertical: any will do.
TILT = (0.5, 0.2, 0.0)
# Samples of one period: enough for extrema to 1e-4.
DENSE = 4000
# Slower than this is rest [rad/s]: rounding must not have the direction that friction has.
REST = 1.0e-6
# Of each search by gradients: objective evaluations. After 200 there is a hundredth to gain.
EVALUATIONS = 300
DIGITS = '0123456789'
# Of the tables, after the point.
PLACES = 4
# Torques that are equal to rounding [N m]; those of the arm reach 60 N m.
EXACT = 1.0e-9
# What is called accurate, and what is called the same: shares of the torque and of the error;
# and what is called a mistake, as a multiple of the error that noise leaves.
ACCURATE, SAME, MISTAKE = 0.01, 0.02, 2.0
# Of the control of the limits: the square of it exceeds what the motion leaves of them.
FASTER = 1.2
# Whether the robot has friction, and whether currents and torque constants are noisy.
MODELS = {'A': (False, False), 'B': (True, False), 'C': (False, True), 'D': (True, True)}
# One force for each direction, as in table 2.5.
FITTED_FRICTION = 'coulomb_sign,offset'


def reproduce(paper: Paper, report: Report, pieces: Pieces) -> None:
    """Add the thesis' results beside ours."""
    report(0.0, 'bodies and base parameters')
    arm = load_robot('ur5_porcelli')
    groups = {name: load_robot(robot) for name, (robot, _) in GROUPS.items()}
    paper.table('counts', counts_rows(arm, groups))
    for name, robot in groups.items():
        paper.table(f'base_{name.lower()}', base_rows(name, robot))
    paper.table('ends', ends_rows())
    paper.table('corrections', corrections_rows())
    conditions = {}
    for number, name in enumerate(groups):
        report(0.05 + 0.4 * number, f'motions of {name}')
        conditions[name] = find_conditions(name, pieces)
    paper.table('conditions', (
        (group, one.printed, one.corrected, one.as_printed, one.corrected**2,
         *(interval_of(values).words()
           for values in (one.genetic, one.conservative, one.exact)))
        for group, one in conditions.items()
    ))
    report(0.9, 'models A to D')
    simulated = {
        name: SimulatedGroup(robot, GROUPS[name][1]) for name, robot in groups.items()
    }
    fits = {name: fit_models(group) for name, group in simulated.items()}
    whole = identify_whole_arm()
    for table in ('errors', 'validation'):
        paper.table(table, errors_rows(table, fits))
    paper.table('wrist', (
        ('torque of the links of the wrist', *whole.wrist.tolist()),
        *((name, *values.tolist()) for name, values in whole.errors.items()),
    ))
    paper.table('wrist_validation', (
        (name, *values.tolist()) for name, values in whole.validation_errors.items()
    ))
    t = recorded_instants()
    shown = t < PERIOD
    paper.picture('model_d', t[shown], {
        label: np.hstack([getattr(found[model], what)[shown] for found in fits.values()])
        for label, model, what in (
            ('rne (simulated robot)', 'D', 'reference'),
            ('identified with friction', 'D fitted', 'predicted'),
            ('YB (identified, rigid bodies)', 'D', 'predicted'),
        )
    }, [f'Figure 4.{28 + joint}: joint {joint + 1}' for joint in range(thesis.joints)])
    upright, inclined = (
        {name: count_base(robot, samples=thesis.random_points) for name, robot in arms.items()}
        for arms in (groups, tilted(groups))
    )
    add_claims(paper, Findings(
        upright, inclined, conditions, fits,
        {name: exchange_friction(name, robot) for name, robot in groups.items()}, whole,
    ))
    add_misprints(paper)


def exchange_friction(group: str, robot: RobotModel) -> Fit:
    """Identify model B of a group whose joints have the friction of the other group's."""
    other, = (joints for name, (_, joints) in GROUPS.items() if name != group)
    return SimulatedGroup(robot, GROUPS[group][1], other).fit('B')


def fit_models(group: SimulatedGroup) -> dict[str, Fit]:
    """Identify the four models of a group, those with friction with and without it."""
    return {model: group.fit(model) for model in MODELS} | {
        f'{model} fitted': group.fit(model, FITTED_FRICTION) for model in ('B', 'D')
    }


def errors_rows(
    kind: str, fits: Mapping[str, Mapping[str, Fit]]
) -> Iterator[tuple[Cell, ...]]:
    """Yield errors of all models by joint, along the motion of the fit or another one."""
    for model in (*MODELS, 'B fitted', 'D fitted'):
        values = np.concatenate([
            found[model].errors if kind == 'errors' else found[model].validation_errors
            for found in fits.values()
        ])
        label = model.replace(' fitted', ', friction identified')
        yield (label, *(float(one) if one >= EXACT else f'< {EXACT:g}' for one in values))


def dh_parameters(robot: RobotModel) -> FloatArray:
    """Return inertial parameters in the thesis' link frames, Pinocchio's order, shape (10 n,)."""
    change = link_frames(robot, 'dh').to_joint_frames()
    theta: FloatArray = np.asarray(
        np.linalg.solve(change, prior_inertial_parameters(robot)), dtype=float
    )
    return theta


def refusal_of_the_caption() -> str:
    """Return what the loader of link tables says where the caption of table 2.4 is followed."""
    content = read_yaml(share_directory() / TABLE_FILE)
    content['inertia_about'] = 'frame'
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'ur5_porcelli.yaml'
        path.write_text(dump_yaml(content))
        try:
            read_link_table(path)
        except DescriptionError as error:
            return str(error).replace(f'{path}: ', '')
    return ''


def thesis_reduction(robot: RobotModel, samples: int = 200) -> BaseReduction:
    """Return the base parameters of a group in the thesis' frames and order of preference."""
    return reduce_to_base(
        robot, make_standard_parameters(robot.n, (), False), frames=link_frames(robot, 'dh'),
        preference='mass_first', samples=samples,
    )


def base_rows(group: str, robot: RobotModel) -> Iterator[tuple[Cell, ...]]:
    """Yield the list that eq. 4.4 or 4.5 should show, as formulas of the arm's lengths."""
    # What can be read of eq. 4.4; nothing of eq. 4.5.
    legible = {0: 'J1zz + J3yy - J3zz', 1: 'm2', 8: 'm3'} if group == 'BSE' else {}
    reduction = thesis_reduction(robot)
    found = find_symbols(robot, reduction, link_frames(robot, 'dh'))
    values = reduction.K @ dh_parameters(robot)
    for k, row in enumerate(published_rows(reduction, PUBLISHED_ORDERS['porcelli'])):
        # What is rounding is zero.
        value = round(float(values[row]), 12) + 0.0
        yield (k + 1, legible.get(k), to_text(found.expressions[row]), value)


def count_base(robot: RobotModel, *, drives: bool = False, samples: int = 200) -> int:
    """Return how many base parameters an arm has, with friction and rotors or without."""
    laws = parse_friction('coulomb,viscous' if drives else 'none')
    parameters = make_standard_parameters(robot.n, laws, drives)
    return reduce_to_base(robot, parameters, samples=samples).rank


def tilted(groups: Mapping[str, RobotModel]) -> dict[str, RobotModel]:
    """Return robots whose first axis is not vertical."""
    return {
        name: robot.with_gravity(gravity_of_mounting(*TILT)) for name, robot in groups.items()
    }


def counts_rows(
    arm: RobotModel, groups: Mapping[str, RobotModel]
) -> Iterator[tuple[Cell, ...]]:
    """Yield numbers of base parameters, printed and found."""
    leaning = tilted(groups)
    thirteen = make_standard_parameters(6, parse_friction('coulomb,viscous'), True)
    for name, robot in groups.items():
        yield (
            f'{name}, 30 standard parameters, 25 random points', thesis.group_base,
            count_base(robot, samples=thesis.random_points), 'as the thesis does it',
        )
        yield (f'{name}, 200 random points', thesis.group_base, count_base(robot), '')
        yield (
            f'{name}, first axis not vertical', None, count_base(leaning[name]),
            'gravity is not along the first axis: two more',
        )
    yield ('whole arm, rigid', None, count_base(arm), 'eq. 4.2, which MATLAB could not hold')
    yield ('whole arm, columns of eq. 3.45', 78, thirteen.size, '13 for each link')
    yield (
        'whole arm with friction and rotors', None, count_base(arm, drives=True),
        'what the thesis leaves to future work; 52 in Tika 2020 and Raviola 2021',
    )


def conservative_bounds(
    a: FloatArray, b: FloatArray, base_rate: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """
    Return bounds that a motion cannot exceed with any phases (eq. 3.57).

    Of position off the centre [rad], velocity [rad/s] and acceleration [rad/s^2], shape (n,) each.
    """
    rate = base_rate * np.arange(1.0, a.shape[1] + 1.0)
    size = np.hypot(a, b)
    return size.sum(axis=1), size @ rate, size @ rate**2


@dataclass(frozen=True)
class Change:
    """A printed coefficient with one character changed."""

    joint: int  # from zero
    harmonic: int  # from zero
    letter: str  # 'a' or 'b'
    printed: float  # its value [rad]
    changed: float  # and with the character changed
    kind: str  # what happened to the character

    @property
    def name(self) -> str:
        """Return the coefficient in the thesis' words."""
        return f'{self.letter}_{self.joint + 1},{self.harmonic + 1}'

    def apply(self, a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return coefficients with this one changed."""
        a, b = a.copy(), b.copy()
        (a if self.letter == 'a' else b)[self.joint, self.harmonic] = self.changed
        return a, b


def changes_of_text(text: str) -> dict[str, str]:
    """
    Return numbers that differ from a printed one by one character, each with what was changed.

    A sign is set or left out; a digit is another one, left out, put in, or has changed places with
    the character after it.
    """
    sign, body = ('-', text[1:]) if text.startswith('-') else ('', text)
    found = {body if sign else f'-{body}': 'sign'}

    def add(changed: str, kind: str) -> None:
        if changed != body and changed not in ('', '.'):
            found.setdefault(sign + changed, kind)

    for at, character in enumerate(body):
        for digit in DIGITS:
            if character in DIGITS:
                add(body[:at] + digit + body[at + 1:], 'digit')
        for digit in DIGITS:
            add(body[:at] + digit + body[at:], 'digit put in')
        if character in DIGITS:
            add(body[:at] + body[at + 1:], 'digit left out')
        if at + 1 < len(body):
            add(body[:at] + body[at + 1] + character + body[at + 2:], 'characters exchanged')
    for digit in DIGITS:
        add(body + digit, 'digit put in')
    return found


def changes_of_joint(joint: int) -> Iterator[Change]:
    """Return every change of one character of a joint's ten coefficients."""
    for letter, values in (('a', thesis.sines), ('b', thesis.cosines)):
        for harmonic, value in enumerate(values[joint]):
            seen = {float(value)}
            for text, kind in changes_of_text(f'{value:.{PLACES}f}').items():
                changed = float(text)
                if changed not in seen:
                    seen.add(changed)
                    yield Change(joint, harmonic, letter, float(value), changed, kind)


def rests(a: FloatArray, b: FloatArray, tolerance: float = PRINTED_TOLERANCE) -> BoolArray:
    """Return which joints start and end at rest, shape (n,)."""
    velocity, acceleration = end_residuals(a, b)
    at_rest: BoolArray = np.maximum(np.abs(velocity), np.abs(acceleration)) <= tolerance
    return at_rest


def solve_joint(
    joint: int, tolerance: float = PRINTED_TOLERANCE
) -> tuple[int, tuple[Change, ...]]:
    """Return how many changes of one character of a joint there are, and which put it at rest."""
    tried = list(changes_of_joint(joint))
    good = tuple(
        change for change in tried
        if rests(*change.apply(thesis.sines, thesis.cosines), tolerance)[joint]
    )
    return len(tried), good


def moving_joints() -> list[int]:
    """Return the joints that the printed coefficients do not leave at rest, from zero."""
    return [int(joint) for joint in np.flatnonzero(~rests(thesis.sines, thesis.cosines))]


@cache
def corrections() -> tuple[Change, ...]:
    """Return the one change of a character of each joint that puts it at rest."""
    found: list[Change] = []
    for joint in moving_joints():
        _, good = solve_joint(joint)
        if len(good) != 1:
            raise ValueError(f'joint {joint + 1}: {len(good)} changes put it at rest')
        found += good
    return tuple(found)


def corrected() -> tuple[FloatArray, FloatArray]:
    """Return the coefficients of tables 4.1 and 4.2 without their misprints, each (6, 5) [rad]."""
    a, b = thesis.sines, thesis.cosines
    for change in corrections():
        a, b = change.apply(a, b)
    return a, b


def corrections_rows() -> Iterator[tuple[Cell, ...]]:
    """Yield what was tried for each joint, and what puts it at rest."""
    before = conservative_bounds(thesis.sines, thesis.cosines, BASE_RATE)[2]
    after = conservative_bounds(*corrected(), BASE_RATE)[2]
    for joint in moving_joints():
        tried, good = solve_joint(joint)
        _, twice = solve_joint(joint, 2.0 * PRINTED_TOLERANCE)
        change, = good
        yield (
            LINK_NAMES[joint], tried, len(good), change.name, f'{change.printed:.{PLACES}f}',
            f'{change.changed:.{PLACES}f}', change.kind, float(before[joint]),
            float(after[joint]), len(twice),
        )


def series(a: FloatArray, b: FloatArray, t: FloatArray, center: FloatArray) -> Motion:
    """Return the motion of eq. 3.54 with its true derivatives."""
    rate = BASE_RATE * np.arange(1, a.shape[1] + 1)
    s, c = np.sin(np.outer(t, rate)), np.cos(np.outer(t, rate))
    dq = (c * rate) @ a.T + (s * rate) @ b.T
    dq[np.abs(dq) <= REST] = 0.0
    return Motion(center + s @ a.T - c @ b.T, dq, -(s * rate**2) @ a.T + (c * rate**2) @ b.T)


def one_period(samples: int) -> FloatArray:
    """Return even instants of a period without its end, shape (samples,) [s]."""
    instants: FloatArray = PERIOD * np.arange(samples) / samples
    return instants


def recorded_instants() -> FloatArray:
    """Return the instants of three periods at 125 Hz [s]; the thesis prints no number of them."""
    rate: float = thesis.sampling_rate
    return np.arange(float(round(thesis.periods * PERIOD * rate))) / rate


def ends_rows() -> Iterator[tuple[Cell, ...]]:
    """Yield what the printed and the corrected coefficients leave of eq. 3.58."""
    speed, turn = end_residuals(thesis.sines, thesis.cosines)
    right = end_residuals(*corrected())
    at_rest = rests(thesis.sines, thesis.cosines)
    for k, name in enumerate(LINK_NAMES):
        # Without the rounding of sums.
        first, second, *mended = (
            round(float(value), 9) + 0.0 for value in (
                speed[k], turn[k], BASE_RATE * speed[k], BASE_RATE**2 * turn[k], right[0][k],
                right[1][k],
            )
        )
        velocity, acceleration, *mended = mended
        yield (
            name, first, second, velocity, acceleration, 'yes' if at_rest[k] else 'no', *mended,
        )


def reached(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the largest position off the centre, velocity and acceleration, shapes (n,)."""
    motion = series(a, b, one_period(DENSE), np.zeros(len(a)))
    position, velocity, acceleration = (
        np.abs(values).max(axis=0) for values in (motion.q, motion.dq, motion.ddq)
    )
    return position, velocity, acceleration


@dataclass(frozen=True)
class Conditions:
    """Condition numbers of a group's motions."""

    printed: float  # the thesis' cost
    corrected: float  # of Y_B about the positions zero, for the corrected coefficients
    as_printed: float  # the same for the printed ones
    # Of Y_B, for motions found here with ten seeds: by a genetic algorithm of the thesis' size,
    # by gradients within the bounds of eq. 3.57, and within what motions really reach.
    genetic: tuple[float, ...]
    conservative: tuple[float, ...]
    exact: tuple[float, ...]


def find_conditions(group: str, pieces: Pieces) -> Conditions:
    """Judge the motion of a group and search for others within the same limits."""
    name, joints = GROUPS[group]
    experiment = load_experiment(find_experiment(EXPERIMENT))
    columns = BaseColumns(load_robot(name), experiment)
    found = {
        kind: pieces.get(f'{group}_{kind}', partial(_search_seeds, columns, changed, evaluations))
        for kind, changed, evaluations in (
            ('genetic', replace(experiment, optimizer='genetic'),
             thesis.individuals * (1 + thesis.generations)),
            ('conservative', experiment, EVALUATIONS),
            ('exact', replace(experiment, bounds='sampled'), EVALUATIONS),
        )
    }
    about_zero = [
        condition_at_zero(columns, a[joints], b[joints])
        for a, b in (corrected(), (thesis.sines, thesis.cosines))
    ]
    return Conditions(
        thesis.costs[group], about_zero[0], about_zero[1], tuple(found['genetic']),
        tuple(found['conservative']), tuple(found['exact']),
    )


def condition_at_zero(columns: BaseColumns, a: FloatArray, b: FloatArray) -> float:
    """Return cond(Y_B) of a motion about the positions zero, at the thesis' instants."""
    return float(np.linalg.cond(
        columns.matrix(series(a, b, recorded_instants(), np.zeros(len(a))))
    ))


def _search_seeds(
    columns: BaseColumns, experiment: Experiment, evaluations: int
) -> list[float]:
    """Return cond(Y_B) of the best motion of every seed, at the thesis' instants."""
    found = []
    for seed in TEN_SEEDS:
        best = design_excitation(columns.robot, experiment, seed=seed, budget=Budget(evaluations))
        found.append(float(np.linalg.cond(columns.matrix(best.sample(recorded_instants())))))
    return found


@dataclass(frozen=True)
class Fit:
    """Identification of a group with one of the models."""

    true: FloatArray  # base parameters in the thesis' frames [SI], shape (b,)
    found: FloatArray  # the same as identified
    reference: FloatArray  # the torques that were identified from [N m], shape (N, n)
    predicted: FloatArray  # those of eq. 4.6
    errors: FloatArray  # root mean square of their difference, shape (n,)
    validation_errors: FloatArray  # the same along another motion, against torques without noise


class SimulatedGroup:
    """A group of joints as a robot of its own, along the thesis' motion and another one."""

    def __init__(self, robot: RobotModel, joints: slice, rubbing: slice | None = None) -> None:
        self.robot, self.joints, self.rubbing = robot, joints, rubbing or joints
        a, b = (values[joints] for values in corrected())
        self.motion = series(a, b, recorded_instants(), np.zeros(robot.n))
        self.other = another_motion(robot.n, seed=1)
        self.torque, self.other_torque = (
            rigid_inverse_dynamics(robot, prior_truth(robot), one)
            for one in (self.motion, self.other)
        )

    def measured(self, friction: bool, noise: bool, seed: int) -> FloatArray:
        """Return the torques of a model along the motion, shape (N, n) [N m]."""
        tau = self.torque + friction * table_friction(self.motion.dq, self.rubbing)
        return with_noise(tau, self.joints, seed) if noise else tau

    def fit(self, model: str, laws: str = 'none', seed: int = 0) -> Fit:
        """Identify one of MODELS, with friction laws beside the thesis' rigid bodies."""
        friction, noise = MODELS[model]
        tau = self.measured(friction, noise, seed)
        robot = self.robot
        parameters = make_standard_parameters(robot.n, parse_friction(laws), False)
        plain = reduce_to_base(robot, parameters)
        stated = link_frames(robot, 'dh')
        shown = reduce_to_base(robot, parameters, frames=stated, preference='mass_first')
        to_stated: FloatArray = np.asarray(np.linalg.inv(stated.to_joint_frames()), dtype=float)
        change = map_base_parameters(plain, shown, to_stated)
        problem = known_problem(robot, plain, self.motion, tau, thesis.sampling_rate)
        estimate = OrdinaryLeastSquares().estimate(problem)
        predicted = torque_of_base(robot, plain, estimate.theta, self.motion)
        elsewhere = torque_of_base(robot, plain, estimate.theta, self.other)
        truth = self.other_torque + friction * table_friction(self.other.dq, self.rubbing)
        return Fit(
            self._true(shown, friction), change @ estimate.theta, tau, predicted,
            root_mean_square(tau - predicted), root_mean_square(truth - elsewhere),
        )

    def _true(self, shown: BaseReduction, friction: bool) -> FloatArray:
        theta = np.zeros(shown.parameters.size)
        theta[: 10 * self.robot.n] = dh_parameters(self.robot)
        up = thesis.gear_ratio * thesis.friction_up[self.rubbing]
        down = thesis.gear_ratio * thesis.friction_down[self.rubbing]
        drives = np.concatenate([0.5 * (up + down), 0.5 * (up - down)]) * friction
        theta[10 * self.robot.n:] = drives[: len(theta) - 10 * self.robot.n]
        values: FloatArray = shown.K @ theta
        return values


def table_friction(dq: FloatArray, joints: slice) -> FloatArray:
    """
    Return the friction of table 2.5 on the joint's side, shape (N, n) [N m].

    At rest it is the mean of both directions.
    """
    up, down = thesis.friction_up[joints], thesis.friction_down[joints]
    torque: FloatArray = thesis.gear_ratio * (
        0.5 * (up + down) * np.sign(dq) + 0.5 * (up - down)
    )
    return torque


def with_noise(tau: FloatArray, joints: slice, seed: int) -> FloatArray:
    """Return torques after eq. 4.7 to 4.9: noise on currents and on torque constants."""
    rng = np.random.default_rng(seed)
    gain, deviation = thesis.torque_constant[joints], noise_deviation()
    current = tau / (gain * thesis.gear_ratio) + deviation * rng.standard_normal(tau.shape)
    noisy: FloatArray = (
        current * (gain + deviation * rng.standard_normal(tau.shape)) * thesis.gear_ratio
    )
    return noisy


def another_motion(n: int, seed: int) -> Motion:
    """Return a random motion within the limits of eq. 3.57 that is at rest at its ends."""
    rng = np.random.default_rng(seed)
    a, b = nearest_at_rest(*(rng.normal(size=(n, 5)) for _ in range(2)))
    _, velocity, acceleration = conservative_bounds(a, b, BASE_RATE)
    share = np.minimum(
        VELOCITY_LIMIT / velocity, ACCELERATION_LIMIT / acceleration
    )[:, None]
    return series(a * share, b * share, recorded_instants(), rng.uniform(-np.pi, np.pi, n))


@dataclass(frozen=True)
class WholeArm:
    """The six joints at once, the wrist carried by the arm; root mean squares [N m]."""

    wrist: FloatArray  # torque that the links of the wrist need at each joint, shape (6,)
    errors: dict[str, FloatArray]  # by ways to identify, along the thesis' motion
    validation_errors: dict[str, FloatArray]  # along another one


WAYS: dict[str, Estimator] = {
    'two groups, wrist neglected (thesis)': JointGroupLeastSquares(
        sizes=(3, 3), neglect_distal=True, reweightings=0
    ),
    'two groups, wrist first and taken off': JointGroupLeastSquares(sizes=(3, 3)),
    'all joints at once': OrdinaryLeastSquares(),
    'all joints at once, weighted by their noise': WeightedLeastSquares(),
}


def identify_whole_arm() -> WholeArm:
    """Identify the whole arm from torques with noise, without friction, in three ways."""
    robot = load_robot('ur5_porcelli')
    arm = SimulatedGroup(robot, slice(0, thesis.joints))
    tau = arm.measured(False, True, seed=0)
    reduction = reduce_to_base(robot, make_standard_parameters(robot.n, (), False))
    problem = known_problem(robot, reduction, arm.motion, tau, thesis.sampling_rate)
    errors, elsewhere = {}, {}
    for name, estimator in WAYS.items():
        theta = estimator.estimate(problem).theta
        errors[name] = root_mean_square(
            arm.torque - torque_of_base(robot, reduction, theta, arm.motion)
        )
        elsewhere[name] = root_mean_square(
            arm.other_torque - torque_of_base(robot, reduction, theta, arm.other)
        )
    light = load_robot('ur5_porcelli_bse')
    first = Motion(*(part[:, :3] for part in (arm.motion.q, arm.motion.dq, arm.motion.ddq)))
    alone = rigid_inverse_dynamics(light, prior_truth(light), first)
    carried = arm.torque.copy()
    carried[:, :3] -= alone
    return WholeArm(root_mean_square(carried), errors, elsewhere)


def noise_deviation() -> float:
    """Return the standard deviation that awgn(x, 50) adds: it takes signals to be of 0 dBW."""
    return float(10.0 ** (-thesis.noise_decibel / 20.0))


@dataclass(frozen=True)
class Findings:
    """Results that the claims are made of."""

    counts: Mapping[str, int]  # base parameters of each group, by 25 random points
    tilted: Mapping[str, int]  # the same on a tilted base
    conditions: Mapping[str, Conditions]  # of each group
    # By group, then by model; 'B fitted' and 'D fitted' have friction among the parameters.
    fits: Mapping[str, Mapping[str, Fit]]
    exchanged: Mapping[str, Fit]  # model B of each group with the friction of the other group
    whole: WholeArm  # six joints at once

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


def add_claims(paper: Paper, found: Findings) -> None:
    """Add every claim in the order of the thesis."""
    for group, count in found.counts.items():
        paper.compare('base', count, found.tilted[group], group=group)
    _claim_motion(paper)
    for group, one in found.conditions.items():
        _claim_costs(paper, group, one)
    exact, rubbing = (float(found.errors(model).max()) for model in ('A', 'B'))
    paper.statement(
        'model_a_torques', exact < EXACT, rubbing >= EXACT, exact=_below(exact, 'N m'),
        rubbing=_below(rubbing, 'N m'),
    )
    exact, rubbing = (
        max(float(np.abs(fits[model].found - fits[model].true).max())
            for fits in found.fits.values())
        for model in ('A', 'B')
    )
    paper.statement(
        'model_a_parameters', exact < EXACT, rubbing >= EXACT, exact=_below(exact, '(SI)'),
        rubbing=_below(rubbing, '(SI)'),
    )
    _claim_friction(paper, found)
    _claim_noise(paper, found)
    _claim_wrist(paper, found.whole)


def _below(value: float, unit: str) -> str:
    return f'below {EXACT:g} {unit}' if value < EXACT else f'{value:.3g} {unit}'


def _claim_motion(paper: Paper) -> None:
    _, speeds, accelerations = reached(*corrected())
    faster = FASTER**2 * accelerations.max()
    paper.statement(
        'limits',
        speeds.max() <= VELOCITY_LIMIT and accelerations.max() <= ACCELERATION_LIMIT,
        faster > ACCELERATION_LIMIT, speed=speeds.max(), acceleration=accelerations.max(),
        times=FASTER, faster=faster,
    )
    moving = 'not joints ' + ', '.join(str(joint + 1) for joint in moving_joints())
    at_rest = bool(rests(*corrected()).all())
    paper.statement(
        'rest', at_rest, bool(moving_joints()), joints='all joints' if at_rest else moving,
        moving=moving,
        corrections=', '.join(f'{one.name} = {one.changed:.4f}' for one in corrections()),
    )


def _claim_costs(paper: Paper, group: str, one: Conditions) -> None:
    paper.compare('cost', one.corrected, one.as_printed, printed=one.printed, group=group)
    paper.compare('cost_squared', one.corrected**2, printed=one.printed, group=group)
    for key, values in (('same_limits', one.conservative), ('exact_limits', one.exact)):
        compare_found(
            paper, key, one.printed, values,
            found_outcome(one.printed, one.genetic) == 'differs', group=group,
            hours=thesis.hours[group], genetic=interval_of(one.genetic).words(),
        )


def _claim_friction(paper: Paper, found: Findings) -> None:
    first, last = slice(0, 3), slice(3, 6)
    friction = found.errors('B')
    exchanged = np.concatenate([fit.errors for fit in found.exchanged.values()])
    paper.statement(
        'model_b', friction[first].min() > friction[last].max(),
        exchanged[first].min() <= exchanged[last].max(), first=friction[first].min(),
        last=friction[last].max(), first_other=exchanged[first].min(),
        last_other=exchanged[last].max(),
    )
    both = np.maximum(thesis.friction_up, thesis.friction_down)
    ratios = both[first][:, None] / both[last]
    paper.statement(
        'friction_ratio', ratios.min() >= 3.0 and ratios.max() <= 4.0, least=ratios.min(),
        most=ratios.max(),
    )


def _claim_noise(paper: Paper, found: Findings) -> None:
    torque = np.linalg.norm(found.torques('A'))
    share, rubbing = (
        float(np.linalg.norm(found.elsewhere(model)) / torque) for model in ('C', 'B')
    )
    paper.statement(
        'model_c', share < ACCURATE, rubbing >= ACCURATE, percent=100.0 * share,
        rubbing=100.0 * rubbing,
    )
    change, without = (
        float(np.abs(found.errors(model) / found.errors('B') - 1.0).max())
        for model in ('D', 'D fitted')
    )
    paper.statement(
        'model_d', change < SAME, without >= SAME, apart=100.0 * change, fitted=100.0 * without
    )
    fitted, poor = found.elsewhere('D fitted').max(), found.elsewhere('D').min()
    paper.judge(
        'model_d_fitted', 'better' if fitted < poor else 'differs', poor > fitted,
        fitted=fitted, poor=poor,
    )


def _claim_wrist(paper: Paper, whole: WholeArm) -> None:
    first = slice(0, 3)
    together = whole.errors['all joints at once'][first]
    neglected, first_off = (
        whole.errors[name][first] / together
        for name in ('two groups, wrist neglected (thesis)',
                     'two groups, wrist first and taken off')
    )
    paper.statement(
        'wrist', bool((neglected > MISTAKE).all()), bool((first_off <= MISTAKE).all()),
        least=neglected.min(), most=neglected.max(), wrist=whole.wrist[first].max(),
        first_least=first_off.min(), first_most=first_off.max(),
    )


def add_misprints(paper: Paper) -> None:
    """Add the thesis' misprints."""
    paper.misprints(
        refusal=refusal_of_the_caption(), period=PERIOD, corrections=[
            {
                'table': '4.1' if one.joint < 3 else '4.2', 'name': one.name,
                'before': f'{one.printed:.4f}', 'after': f'{one.changed:.4f}',
                'joint': one.joint + 1,
            }
            for one in corrections()
        ],
    )
