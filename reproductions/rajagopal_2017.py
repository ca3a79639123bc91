# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
J. Rajagopal's report on a KUKA youBot: what it found and what it could not, simulated.

Its identification is put on a simulated arm as it was done (random motions, positions
differentiated twice, ridge regression on fifty parameters without friction, section 3.5.1) and as
it was proposed (periodic D-optimal motions, differentiation by harmonics, section 3.5.2). Its
break-away tests and its controller are put on joints that break away at its medians, with a
scatter from test to test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
import math

import numpy as np
import pinocchio as pin
from reproductions.known_motion import known_problem, root_mean_square
from reproductions.paper import Cell, Paper, Pieces, printed_values, Report
from robot_identification.arrays import FloatArray
from robot_identification.estimation import Estimator, IdentificationProblem
from robot_identification.estimation.estimators.consistent import ConsistentLeastSquares
from robot_identification.estimation.estimators.least_squares import OrdinaryLeastSquares
from robot_identification.estimation.estimators.ridge import RidgeRegression
from robot_identification.excitation import (
    Budget, design_excitation, find_experiment, load_experiment, Trajectory,
)
from robot_identification.model import (
    BaseReduction, find_implausibilities, gravity_of_mounting, inertial_regressor, load_robot,
    make_standard_parameters, Motion, parse_friction, prior_inertial_parameters, random_motion,
    reduce_to_base, rigid_torque, RobotModel, standard_torque, StandardParameters, upper_bound,
)
from robot_identification.processing import fit_fourier
from robot_identification.processing.filters import central_difference
from robot_identification.simulation import (
    draw_truth, EffortJoint, EffortJointConstants, GroundTruth,
)
from robot_identification.simulation.ground_truth import prior_truth
from robot_identification.simulation.mujoco_robot import inverse_dynamics, rigid_inverse_dynamics
from robot_identification.studies.break_away import (
    BreakAway, BreakAwayRun, BreakAwaySettings, BreakAwayTest, estimate_break_away,
)
from robot_identification.studies.break_away.estimate import BoxStatistics
from robot_identification.studies.break_away.procedure import BoundedPI

printed = printed_values('rajagopal_2017')
LINKS = range(1, printed.joints + 1)
# Ours: the report prints none of these. A joint's break-away torque differs by this share from
# test to test; kinetic friction is this share of it.
SCATTER, KINETIC = 0.05, 0.8
# Of joints 1 to 5, link and rotor, and of a wheel [kg m^2]; viscous friction [N m s/rad].
INERTIAS = (0.40, 0.40, 0.16, 0.08, 0.07)
WHEEL_INERTIA = 0.009
VISCOUS_SHARE = 0.1
VELOCITY_NOISE = 0.005
PERIOD = 0.01
# The test ends by itself long before [s].
LONGEST = 4000.0
# Of the step response [rad], [rad/s], [s]; the report's figures have no numbers.
STEP, SPEED_LIMIT, CYCLE, RESPONSE = 1.0, 0.2, 0.01, 60.0
SUMMED, BOUNDED = 'PI, errors summed (eq. 4.1 and 4.3)', 'PI, summed with the cycle, bounded'
EXPERIMENT = 'rajagopal_2017_youbot'
TRUTH_SEED, MOTION_SEED, VALIDATION_SEED = 3, 1, 2
# Ours: the report prints neither. Positions [rad], torques as a share of the limit.
POSITION_NOISE, TORQUE_NOISE_SHARE = 1.0e-4, 0.01
PERIODS, SECONDS = 3, 60.0
# Of the search for a D-optimal motion.
EVALUATIONS = 200
FRICTION = 'coulomb,viscous'
# Ways to identify: the first on a robot of the maker's bodies, the others on one with friction.
RIGID = 'no friction and no noise, ridge'
REPORT = 'random motion, differences, ridge (report)'
POSSIBLE = 'and physically consistent bodies'
# Of the controls: a mounting whose first axis is not vertical [rad], and a heavier last link.
TILT, HEAVIER = (0.5, 0.2, 0.0), 1.1
# Random states that forward dynamics are compared in.
STATES = 200
# Table 4.1 has xz before yy.
OUR_ROWS = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]
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
    """What the computations of the claims give in cases whose answer is another one."""

    range_error: float  # with table 3.1 as printed [deg]
    unknowns: int  # of an arm of six joints
    seen_of_first: tuple[str, ...]  # with the first axis tilted
    negative: tuple[int, ...]  # of the maker's bodies
    beyond: tuple[int, ...]  # of the maker's bodies
    forward: float  # with the mass of the last link a tenth larger [rad/s^2]
    joints: Mapping[str, float]  # break-away torques of joints that break away at 5 % more [N m]


@dataclass(frozen=True)
class Findings:
    """Results that the claims are made of."""

    unknowns: int  # columns of the regressor of the five links
    seen_of_first: tuple[str, ...]  # inertial parameters of link 1 that move any torque
    # Largest difference between table 3.1, its minus sign mended, and the shipped robot [deg].
    range_error: float
    negative: tuple[int, ...]  # links of table 4.1 of negative mass
    beyond: tuple[int, ...]  # links of table 4.1 whose mass is more than 0.1 kg from the maker's
    ridge: Ridge  # of eq. 3.73
    controls: Controls  # the same computations where the answers are others
    # Largest error of accelerations by the forward dynamics of the maker's bodies [rad/s^2].
    forward: float
    ways: Mapping[str, Identified]  # identifications of the simulated arm
    maker: FloatArray  # errors M [N m], shape (5,)
    joints: Sequence[TestedJoint]  # break-away tests
    responses: Mapping[str, FloatArray]  # of the controllers


def reproduce(paper: Paper, report: Report, pieces: Pieces) -> None:
    """Add the report's results beside ours."""
    report(0.0, 'a D-optimal motion')
    robot = load_robot('youbot')
    arm = SimulatedYoubot(robot)
    report(0.6, 'identification')
    ways, ridge = arm.ways(), arm.judge_ridge()
    joints = []
    for seed, (name, constants) in enumerate(tested_constants().items()):
        report(0.6 + 0.05 * seed, f'break-away tests: {name}')
        joints.append(run_test(name, constants, seed))
    responses = step_responses()
    estimate = printed_inertial()
    rigid = rigid_reduction(robot)
    add_claims(paper, Findings(
        rigid.parameters.size, seen_parameters(rigid, 1), range_error(robot, model_positions()),
        negative_links(estimate), links_beyond(robot, estimate),
        ridge, find_controls(robot), forward_error(robot, 1.0), ways, arm.makers_errors(), joints,
        responses,
    ))
    paper.table('counts', counts_rows(robot, rigid))
    paper.table('validation', validation_rows(arm, ways))
    paper.table('break_away', break_away_rows(joints))
    shown = slice(0, round(25.0 * arm.rate))
    paper.picture(
        'validation', np.arange(len(arm.validation))[shown] / arm.rate, {
            'actuator': arm.actuator[shown], 'identified here': ways[POSSIBLE].predicted[shown],
            'identified as in the report': ways[REPORT].predicted[shown],
        }, [f'joint {link}' for link in LINKS],
    )
    paper.misprints(
        twist=twist_error(), rate=1.0 / CYCLE, cycle=CYCLE,
        overshoot=100.0 * overshoot(responses[SUMMED]),
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
        int(one.link.split()[1]) for one in find_implausibilities(
            robot, inertial, maker=prior_inertial_parameters(robot),
            mass_tolerance=printed.mass_tolerance,
        ) if one.rule == 'maker'
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
    as_printed = np.array(printed.positions)
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
    readings = np.array(printed.readings)
    positions: FloatArray = readings - readings[:, 1:2]
    return positions


def range_error(robot: RobotModel, positions: FloatArray) -> float:
    """Return the largest difference of the shipped robot from positions of table 3.1 [deg]."""
    limits = np.degrees(np.column_stack([robot.limits.lower, robot.limits.upper]))
    straight = np.degrees(robot.encoders.to_reading(np.zeros(robot.n)))
    ends = np.sort(positions[:, [0, 2]], axis=1)
    return float(max(
        np.abs(limits - ends).max(), np.abs(straight - np.array(printed.readings)[:, 1]).max()
    ))


def counts_rows(robot: RobotModel, rigid: BaseReduction) -> tuple[tuple[Cell, ...], ...]:
    """Return how many parameters there are, and how many can be found."""
    full = make_standard_parameters(robot.n, parse_friction('coulomb,viscous'), True)
    zero = sum(10 - len(seen_parameters(rigid, link)) for link in LINKS)
    return (
        ('inertial parameters of five links', printed.unknowns, rigid.parameters.size),
        ('of these without any effect', None, zero),
        ('base parameters', None, rigid.rank),
        ('upper bound of these by counting joints', None, upper_bound(robot)),
        ('base parameters with friction and rotors', None, reduce_to_base(robot, full).rank),
    )


def validation_rows(
    arm: SimulatedYoubot, ways: Mapping[str, Identified]
) -> Iterator[tuple[Cell, ...]]:
    """Yield errors E and M of figure 4.8."""
    yield ('torque of the actuators', *root_mean_square(arm.actuator).tolist(), None, None)
    yield ("M: the maker's bodies", *arm.makers_errors().tolist(), 0, None)
    for name, one in ways.items():
        yield (
            f'E: {name}', *one.validation_errors.tolist(), one.rules,
            None if name == RIGID else float(np.median(one.standard_errors)),
        )


def break_away_rows(joints: Sequence[TestedJoint]) -> Iterator[tuple[Cell, ...]]:
    """Yield table 4.2 beside the simulated tests."""
    by_hand = {f'joint {k + 1}': float(value) for k, value in enumerate(printed.by_hand)}
    for one in joints:
        low, high = one.corrected.boxes[1].interval
        yield (
            one.name, printed_medians()[one.name], by_hand.get(one.name), one.medians[1],
            one.published.median, 100.0 * one.excess, one.corrected.torque, low, high,
            100.0 * one.remaining,
        )


def printed_medians() -> dict[str, float]:
    """Return the printed break-away torques of joints and wheels by name [N m]."""
    joints = {f'joint {k + 1}': float(value) for k, value in enumerate(printed.medians)}
    return joints | dict(printed.wheels)


def add_claims(paper: Paper, found: Findings) -> None:
    """Add every claim in the order of the report."""
    controls = found.controls
    paper.statement(
        'ranges', found.range_error <= PRINTED_DEGREES, controls.range_error > PRINTED_DEGREES,
        apart=found.range_error, without=controls.range_error,
    )
    paper.compare('unknowns', found.unknowns, controls.unknowns)
    seen, tilted = (', '.join(one) for one in (found.seen_of_first, controls.seen_of_first))
    paper.statement('first_link', seen == 'Izz1', tilted != 'Izz1', seen=seen, tilted=tilted)
    paper.statement(
        'negative_masses', found.negative == (3, 4), controls.negative != (3, 4),
        links=_numbers(found.negative), maker=_numbers(controls.negative),
    )
    paper.statement(
        'implausible', bool(found.beyond), not controls.beyond,
        links=_numbers(found.beyond), maker=_numbers(controls.beyond),
    )
    ridge = found.ridge
    paper.statement(
        'ridge', ridge.outside < ROUNDING, ridge.eigenvalues < found.unknowns,
        rounding=ROUNDING, share=ridge.weakest_share, eigenvalues=ridge.eigenvalues,
        unknowns=found.unknowns,
    )
    _claim_rotations(paper)
    _claim_friction(paper, found)
    report = found.ways[REPORT].validation_errors.max()
    here, maker = found.ways[POSSIBLE].validation_errors.max(), found.maker.max()
    paper.judge(
        'validation', 'better' if here < LESS * maker else 'differs', report >= LESS * maker,
        here=here, maker=maker, report=report,
    )
    paper.judge(
        'forward_dynamics', 'better' if found.forward < FORWARD else 'differs',
        controls.forward >= FORWARD, limit=FORWARD, heavier=controls.forward,
    )


def _numbers(links: Sequence[int]) -> str:
    return ', '.join(map(str, links)) or 'none'


def _claim_rotations(paper: Paper) -> None:
    angles = np.radians(printed.example_angles).tolist()
    extrinsic, same, other = (
        float(np.abs(R - printed.example_rotation).max())
        for R in (extrinsic_rotation('zyx', angles),
                  intrinsic_rotation(*to_intrinsic('zyx', angles)),
                  intrinsic_rotation('zyx', angles))
    )
    paper.statement(
        'rotations', max(same, extrinsic) < ROUNDING, other > ROUNDING, rounding=ROUNDING,
        other=other,
    )


def _claim_friction(paper: Paper, found: Findings) -> None:
    beyond, bounded = (overshoot(found.responses[name]) for name in (SUMMED, BOUNDED))
    paper.statement(
        'wind_up', beyond > OVERSHOOT, bounded <= OVERSHOOT, percent=100.0 * beyond,
        bounded=100.0 * bounded,
    )
    for joint in found.joints:
        paper.compare(
            'break_away', joint.corrected.torque, found.controls.joints[joint.name],
            printed=printed_medians()[joint.name], joint=joint.name,
        )
    excess = [100.0 * joint.excess for joint in found.joints]
    paper.statement(
        'threshold', max(map(abs, excess)) <= 1.0, least=min(excess), most=max(excess),
        left=100.0 * max(abs(joint.remaining) for joint in found.joints),
    )


def twist_error() -> float:
    """Return how far eq. 3.20 is off the action of a pose on motions, its own order."""
    pose = pin.SE3(pin.rpy.rpyToMatrix(0.3, -0.4, 0.5), np.array([0.1, 0.2, 0.3]))
    R = pose.rotation.T
    printed_matrix = np.block([
        [R, pin.skew(pose.translation) @ R], [np.zeros((3, 3)), R],
    ])
    return float(np.abs(printed_matrix - pose.action).max())


@dataclass(frozen=True)
class TestedJoint:
    """A joint, what it was, and what both methods say of it."""

    name: str  # of the joint
    medians: dict[int, float]  # of the break-away torques that it really had, by direction [N m]
    published: BoxStatistics  # torques at the threshold in one direction, as in the report [N m]
    corrected: BreakAway  # torques at the onset of motion, in both directions

    @property
    def excess(self) -> float:
        """By how much the published median is off that of the joint, as a share."""
        return self.published.median / self.medians[1] - 1.0

    @property
    def remaining(self) -> float:
        """By how much the corrected torque is off, mean of both directions, as a share."""
        return self.corrected.torque / float(np.mean(list(self.medians.values()))) - 1.0


def tested_constants() -> dict[str, EffortJointConstants]:
    """Return the joints and wheels of the report by name."""
    torques = printed_medians()
    inertias = {f'joint {k + 1}': value for k, value in enumerate(INERTIAS)}
    return {
        name: EffortJointConstants(
            inertia=inertias.get(name, WHEEL_INERTIA), static=static, coulomb=KINETIC * static,
            viscous=VISCOUS_SHARE * static,
        )
        for name, static in torques.items()
    }


def run_test(name: str, constants: EffortJointConstants, seed: int) -> TestedJoint:
    """Test a joint 25 times in each direction, without gravity, and evaluate it twice."""
    cap = 1.5 * constants.static
    settings = BreakAwaySettings(
        torque_cap=cap, torque_limit=3.0 * cap, inertia=constants.inertia,
        threshold=printed.threshold, repeats=printed.experiments,
        position_gain=printed.proportional, integral_gain=printed.integral,
    )
    rng = np.random.default_rng(seed)
    factors = 1.0 + SCATTER * rng.standard_normal(2 * printed.experiments)
    # Where teeth and seals meet differs from one test to the next.
    states = [
        replace(constants, static=constants.static * factor, coulomb=constants.coulomb * factor)
        for factor in factors.tolist()
    ]
    joint = EffortJoint(states[0], velocity_noise=VELOCITY_NOISE, seed=seed)
    test = BreakAwayTest(settings, 0.0)
    for t in np.arange(0.0, LONGEST, PERIOD):
        if test.has_ended:
            break
        joint.constants = states[min(len(test.repeats), len(states) - 1)]
        q, dq = joint.measure()
        joint.advance(test.step(float(t), q, dq), PERIOD)
    run = BreakAwayRun(name, 'free', settings, test.repeats)
    corrected = estimate_break_away(run)
    truth = constants.static * factors
    return TestedJoint(
        name, {1: float(np.median(truth[0::2])), -1: float(np.median(truth[1::2]))},
        estimate_break_away(run, correction='none').boxes[1], corrected,
    )


def overshoot(q: FloatArray) -> float:
    """Return how far positions go beyond the set-point, as a share of the step."""
    return float(max(q.max() - STEP, 0.0) / STEP)


def step_responses() -> dict[str, FloatArray]:
    """Return positions after a step by eq. 4.1 to 4.3, and by what this package does [rad]."""
    bounded = BoundedPI(printed.proportional, printed.integral, SPEED_LIMIT)
    rules: dict[str, Callable[[float], float]] = {
        SUMMED: _Summed(printed.proportional, printed.integral),
        BOUNDED: partial(bounded.step, dt=CYCLE),
    }
    t = np.arange(0.0, RESPONSE, CYCLE)
    responses = {}
    for name, rule in rules.items():
        q = np.zeros(len(t))
        for k in range(1, len(t)):
            speed = float(np.clip(rule(STEP - q[k - 1]), -SPEED_LIMIT, SPEED_LIMIT))
            q[k] = q[k - 1] + CYCLE * speed
        responses[name] = q
    return responses


class _Summed:
    """Equation 4.1 with the sum of eq. 4.3 as printed: without the time of a cycle."""

    def __init__(self, gain: float, integral_gain: float) -> None:
        self._gain, self._integral_gain, self._sum = gain, integral_gain, 0.0

    def __call__(self, error: float) -> float:
        self._sum += error
        return self._gain * error + self._integral_gain * self._sum


@dataclass(frozen=True)
class Identified:
    """Result of one way of identification."""

    inertial: FloatArray  # inertial parameters of the links, Pinocchio's order, shape (50,)
    # Root mean square errors of torque along another motion [N m], shape (5,).
    validation_errors: FloatArray
    predicted: FloatArray  # torques along it [N m], shape (N, 5)
    rules: int  # how many rules of plausibility its links break
    standard_errors: FloatArray  # of the base parameters of the links, shape (b,)


@dataclass(frozen=True)
class Ridge:
    """The penalty of eq. 3.73 on torques without noise, in numbers."""

    penalty: float  # the smallest eigenvalue of K'K that is not zero
    eigenvalues: int  # how many are not zero
    outside: float  # part of the estimate in the null space of K, over its length
    # Part of the true value that is left along the direction that K shows least.
    weakest_share: float


class SimulatedYoubot:
    """A youBot with friction, along the motions of the report and along the one it proposes."""

    def __init__(self, robot: RobotModel) -> None:
        self.robot = robot
        drawn = draw_truth(robot, TRUTH_SEED)
        self.truth = replace(
            drawn, coulomb=KINETIC * printed.medians, drive_gain=robot.drives.drive_gain,
        )
        self.maker = prior_inertial_parameters(robot)
        self.rate = robot.sampling_rate
        self._rng = np.random.default_rng(TRUTH_SEED)
        self.random = random_poses(robot, SECONDS, MOTION_SEED)
        self.validation = random_poses(robot, SECONDS, VALIDATION_SEED)
        self.actuator = self.torque(self.validation)

    @cached_property
    def trajectory(self) -> Trajectory:
        """Return the motion of section 3.5.2, searched for when it is asked for."""
        return find_trajectory(self.robot)

    @cached_property
    def periodic(self) -> Motion:
        """Return the samples of it, three periods."""
        samples = round(PERIODS * self.trajectory.form.duration * self.rate)
        return self.trajectory.sample(np.arange(samples) / self.rate)

    def torque(self, motion: Motion, truth: GroundTruth | None = None) -> FloatArray:
        """Return the torques of the robot, or of another one, without noise (N, 5) [N m]."""
        return inverse_dynamics(self.robot, truth or self.truth, motion)

    def noisy_torque(self, motion: Motion) -> FloatArray:
        """Return measured torques, shape (N, 5) [N m]."""
        deviation = TORQUE_NOISE_SHARE * self.robot.limits.effort
        torque: FloatArray = self.torque(motion) + deviation * self._rng.standard_normal(
            motion.q.shape
        )
        return torque

    def differenced(self, motion: Motion) -> Motion:
        """Return what differences make of measured positions."""
        q = self._measured(motion)
        dq = central_difference(q, self.rate)
        return Motion(q, dq, central_difference(dq, self.rate))

    def in_harmonics(self, motion: Motion) -> Motion:
        """Return what the harmonics of measured positions make of them."""
        q, t = self._measured(motion), np.arange(len(motion)) / self.rate
        form = self.trajectory.form
        series = fit_fourier(t, q, np.arange(len(t)), form.duration, 5)
        return Motion(*(series.evaluate(t, order) for order in range(3)))

    def _measured(self, motion: Motion) -> FloatArray:
        q: FloatArray = motion.q + POSITION_NOISE * self._rng.standard_normal(motion.q.shape)
        return q

    def problem(
        self, motion: Motion, tau: FloatArray, parameters: StandardParameters
    ) -> IdentificationProblem:
        """Return the problem of torques along a motion."""
        reduction = reduce_to_base(self.robot, parameters)
        return known_problem(self.robot, reduction, motion, tau, self.rate)

    def identify(
        self, motion: Motion, tau: FloatArray, estimator: Estimator, friction: bool
    ) -> Identified:
        """Identify from torques along a motion and judge along another one."""
        parameters = make_standard_parameters(
            self.robot.n, parse_friction(FRICTION if friction else 'none'), friction
        )
        problem = self.problem(motion, tau, parameters)
        found = estimator.estimate(problem)
        standard = (
            np.linalg.pinv(problem.reduction.K) @ found.theta
            if found.standard is None else found.standard
        )
        predicted = standard_torque(self.robot, parameters, standard, self.validation)
        inertial = standard[: 10 * self.robot.n]
        links = problem.reduction.independent < 10 * self.robot.n
        return Identified(
            inertial, root_mean_square(self.actuator - predicted), predicted,
            len(find_implausibilities(self.robot, inertial, maker=self.maker)),
            found.standard_errors[links],
        )

    def makers_errors(self) -> FloatArray:
        """Return the errors M of the maker's bodies along the validation motion (5,) [N m]."""
        return root_mean_square(self.actuator - rigid_torque(self.robot, self.validation))

    def ways(self) -> dict[str, Identified]:
        """Identify as the report, step by step as it proposes, and as this package."""
        ridge = RidgeRegression()
        perfect = prior_truth(self.robot)
        differenced = self.differenced(self.random)
        spectral = self.in_harmonics(self.periodic)
        random_tau, periodic_tau = (
            self.noisy_torque(motion) for motion in (self.random, self.periodic)
        )
        return {
            RIGID: self.identify(
                self.random, self.torque(self.random, perfect), ridge, False
            ),
            REPORT: self.identify(
                differenced, random_tau, ridge, False
            ),
            'with friction and rotors': self.identify(differenced, random_tau, ridge, True),
            'and a D-optimal motion and harmonics': self.identify(
                spectral, periodic_tau, ridge, True
            ),
            POSSIBLE: self.identify(spectral, periodic_tau, ConsistentLeastSquares(), True),
        }

    def judge_ridge(self) -> Ridge:
        """Return what the report's penalty does to torques without noise or friction."""
        parameters = make_standard_parameters(self.robot.n, (), False)
        tau = self.torque(self.random, prior_truth(self.robot))
        problem = self.problem(self.random, tau, parameters)
        K = problem.reduction.K
        R, _ = problem.stacked(np.ones(problem.n))
        _, singular, right = np.linalg.svd(R[:, : len(K)] @ K, full_matrices=False)
        # The others are rounding.
        singular, right = singular[: len(K)], right[: len(K)]
        ridge, exact = (
            np.linalg.pinv(problem.reduction.K) @ estimator.estimate(problem).theta
            for estimator in (RidgeRegression(), OrdinaryLeastSquares())
        )
        inside = right.T @ (right @ ridge)
        return Ridge(
            float(singular[-1] ** 2), len(singular),
            float(np.linalg.norm(ridge - inside) / np.linalg.norm(ridge)),
            float(right[-1] @ ridge / (right[-1] @ exact)),
        )


def random_poses(robot: RobotModel, seconds: float, seed: int) -> Motion:
    """
    Return random poses one after the other, each reached at rest by a quintic.

    The report let MoveIt find random motions within the limits of the joints.
    """
    rng = np.random.default_rng(seed)
    limits = robot.limits
    pose = np.zeros(robot.n)
    parts: list[Motion] = []
    count = 0
    while count < round(seconds * robot.sampling_rate):
        target = rng.uniform(limits.lower, limits.upper)
        way = np.abs(target - pose)
        # A quintic from rest to rest moves at most 15/8 ways per duration, 10/sqrt(3) per its
        # square.
        duration = 1.05 * max(
            float((15.0 / 8.0 * way / limits.velocity).max()),
            float(np.sqrt(10.0 / np.sqrt(3.0) * way / limits.acceleration).max()),
        )
        samples = round(duration * robot.sampling_rate)
        s = np.arange(samples)[:, None] / samples
        duration = samples / robot.sampling_rate
        parts.append(Motion(
            pose + (target - pose) * s**3 * (10.0 - 15.0 * s + 6.0 * s**2),
            (target - pose) * 30.0 * s**2 * (1.0 - s) ** 2 / duration,
            (target - pose) * 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / duration**2,
        ))
        pose, count = target, count + samples
    last = round(seconds * robot.sampling_rate)
    return Motion(*(
        np.concatenate([getattr(part, kind) for part in parts])[:last]
        for kind in ('q', 'dq', 'ddq')
    ))


def find_trajectory(robot: RobotModel) -> Trajectory:
    """Return a periodic D-optimal motion of section 3.5.2, within limits and clear of itself."""
    experiment = load_experiment(find_experiment(EXPERIMENT))
    return design_excitation(robot, experiment, seed=0, budget=Budget(EVALUATIONS))


def printed_inertial() -> FloatArray:
    """Return table 4.1 in Pinocchio's order, shape (50,)."""
    values: FloatArray = printed.estimate[OUR_ROWS].T.ravel()
    return values


# Equations 3.2 to 3.4: the two axes that a turn about each moves, in the order of its sine.
TURNED = {'x': (1, 2), 'y': (2, 0), 'z': (0, 1)}


def turn(axis: str, angle: float) -> FloatArray:
    """Return equation 3.2, 3.3 or 3.4 of an angle [rad], shape (3, 3)."""
    first, second = TURNED[axis]
    R = np.eye(3)
    R[first, first] = R[second, second] = math.cos(angle)
    R[second, first] = math.sin(angle)
    R[first, second] = -R[second, first]
    return R


def extrinsic_rotation(axes: str, angles: Sequence[float]) -> FloatArray:
    """Return the rotation by angles about fixed axes, one after the other, shape (3, 3)."""
    R = np.eye(3)
    for axis, angle in zip(axes, angles, strict=True):
        R = turn(axis, angle) @ R
    return R


def intrinsic_rotation(axes: str, angles: Sequence[float]) -> FloatArray:
    """Return the rotation by angles about axes that turn along, shape (3, 3)."""
    R = np.eye(3)
    for axis, angle in zip(axes, angles, strict=True):
        R = R @ turn(axis, angle)
    return R


def to_intrinsic(axes: str, angles: Sequence[float]) -> tuple[str, tuple[float, ...]]:
    """Return axes and angles of the intrinsic convention that turn as given extrinsic ones."""
    return axes[::-1], tuple(angles[::-1])


def forward_dynamics(
    robot: RobotModel, theta: FloatArray, motion: Motion, tau: FloatArray
) -> FloatArray:
    """Return the accelerations that torques give to the bodies of an estimate."""
    count, n = motion.q.shape

    def torque(dq: FloatArray, ddq: FloatArray) -> FloatArray:
        states = Motion(np.repeat(motion.q, len(ddq) // count, axis=0), dq, ddq)
        values: FloatArray = (inertial_regressor(robot, states) @ theta).reshape(-1, n)
        return values

    still = np.zeros((count, n))
    # At rest torque is gravity; one joint accelerated, it is a column of the mass matrix more.
    columns = torque(np.zeros((count * n, n)), np.tile(np.eye(n), (count, 1)))
    M = columns.reshape(count, n, n) - torque(still, still)[:, None]
    free = tau - torque(motion.dq, still)
    solved = np.linalg.solve(M.transpose(0, 2, 1), free[..., None])
    ddq: FloatArray = np.asarray(solved[..., 0], dtype=float)
    return ddq
