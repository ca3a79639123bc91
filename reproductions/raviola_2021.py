# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Raviola et al. 2021 on simulated arms: mounting, identification and temperature.

The paper moved a real UR3 and a real UR5. Arms here are MuJoCo's, with the paper's torque
constants, limits and rates, the friction that its tables imply, and its changes with temperature.
It prints how friction changes and not what it is: viscous friction is what tables 4 and 6 imply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
import tempfile
from typing import Any

import numpy as np
from reproductions.paper import Cell, Paper, Pieces, printed_values, Report
from reproductions.seeds import (
    claim_negative_rotors, compare_ratios, interval_of, ratios_to_itself, TEN_SEEDS,
)
from robot_identification.arrays import FloatArray
from robot_identification.estimation import (
    Estimate, Estimator, Identification, IdentificationProblem, IdentifyOptions, Recipe,
    solve_weighted,
)
from robot_identification.estimation.estimators.least_squares import OrdinaryLeastSquares
from robot_identification.estimation.solving import need_observations
from robot_identification.excitation import (
    Budget, design_excitation, evaluate_motion, Experiment, find_experiment, load_experiment,
    Trajectory,
)
from robot_identification.excitation.optimizers import DEFAULT_OPTIMIZER
from robot_identification.model import (
    BaseReduction, CoulombFriction, IdentifiedModel, inertial_regressor, KinematicFilter,
    linear_classes, link_frames, load_joint_drives, load_robot, make_standard_parameters, Motion,
    observation_matrix, parse_friction, physical_classes, prior_inertial_parameters,
    PUBLISHED_ORDERS, published_rows, random_motion, reduce_to_base, RobotModel,
    StandardParameters, ViscousFriction,
)
from robot_identification.pipeline import identify
from robot_identification.processing import load_for_model
from robot_identification.recording import write_simulated_bag
from robot_identification.recording.simulated_run import simulate
from robot_identification.simulation import (
    GroundTruth, NOISE_FREE, Sensors, SimulatedRun, with_static_friction,
)
from robot_identification.simulation.ground_truth import prior_truth
from robot_identification.studies.comparison import (
    compare_joints_of_size, JointsOfSize, p_words, share_of_limit,
)
from robot_identification.studies.comparison.comparison import (
    compare_models, GroupDifference, ModelComparison,
)
from robot_identification.studies.temperature.trend import study_temperature, TemperatureStudy
from robot_identification.validation.bag_errors import normalized_error

printed = printed_values('raviola_2021')
ROBOTS = ('ur3', 'ur5')
TITLES = {'ur3': 'UR3', 'ur5': 'UR5'}
OTHER = {'ur3': 'ur5', 'ur5': 'ur3'}
FASTEST = np.pi  # of all joints, section 3.2 [rad/s]
# Coulomb friction [N m]: of the UR5 what Porcelli 2020 measured on one at the same university, of
# the UR3's other joints the same share of the largest torque, 6 %; its elbow is a UR5's wrist.
COULOMB = {
    'ur3': (3.36, 3.36, 1.82, 0.72, 0.72, 0.72), 'ur5': (7.68, 8.38, 7.88, 1.41, 2.02, 2.02),
}
# Rotor inertias on the joint's side [kg m^2]: joints of size 1 as Porcelli 2020 prints them, the
# others the same share of the largest torque.
REFLECTED_INERTIA = {
    'ur3': (0.42, 0.42, 0.211, 0.09, 0.09, 0.09), 'ur5': (1.13, 1.13, 1.13, 0.211, 0.211, 0.211),
}
# Of these, in the trials of negative rotor inertias; small ones are those of our reproduction of
# Tika et al., of the same robot.
ROTOR_SHARES = {'small': 0.05, 'large': 1.0}
# How far bodies are from what the manufacturer says: mass, and centre of mass [m].
MASS_ERROR, CENTRE_ERROR = 0.05, 0.005
BODIES_SEED = 2021
# Population as in section 3.2. Generations are few, so that ten seeds take minutes; one run of a
# genetic algorithm says little.
POPULATION, GENERATIONS = 300, 6
# Evaluations of this package's own search, for comparison.
OWN_EVALUATIONS = 100
VALIDATION_SEED, VALIDATION_DRAWS = 7, 200
# "About half": what still counts as that.
HALF, ABOUT = 0.5, 0.1
GENETIC, OWN = 'genetic', DEFAULT_OPTIMIZER
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
TRAINING_NOISE, VALIDATION_NOISE = 1, 2
# Samples by which the current may be late, at 8 ms each.
DELAYS = (3, 6, 9, 12)
SAMPLE = 0.008
# The last four joints, whose rotor inertias the paper finds negative.
ROTORS = (2, 3, 4, 5)
WRONG_MOUNTING = 50.0
# Shares of the way from the paper's cold to its warm arm, a run at each.
SHARES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
FIRST_NOISE = 10
# Scatter of runs about a line over their errors, above which it is not one.
MOST_EXCESS = 3.0
# Samples a second of the motion along which torques are compared.
RATE = 125.0
SIZE_OF_BOTH = 'ur_cb3_size_1'


def reproduce(paper: Paper, report: Report, pieces: Pieces) -> None:
    """Add the paper's results beside those of simulated arms."""
    report(0.0, 'counting parameters')
    structures = {
        (name, mounting): find_structure(name, mounting)
        for name in ROBOTS for mounting in MOUNTINGS
    }
    singular = {
        mounting: random_singular_values(structures['ur5', mounting])
        for mounting in ('ground', 'wall')
    }
    claim_structure(paper, structures, singular)
    designs = find_designs(lambda share: report(0.4 * share, 'designing excitation'), pieces)
    found = {
        name: [one.trajectory for one in designs[name, 'ground', GENETIC]] for name in ROBOTS
    }
    validation = {name: draw_validation(name) for name in ROBOTS}
    paper.table('conditions', conditions_rows(designs))
    claim_ratios(paper, designs)
    arms = {}
    for number, name in enumerate(ROBOTS):
        report(0.45 + 0.05 * number, f'identifying the {TITLES[name]}')
        arms[name] = study_arm(name, found[name][0], validation[name])
    points = len(arms['ur5'].score.times)
    paper.table('errors', errors_rows(arms), points=points)
    claim_errors(paper, arms)
    report(0.55, 'late currents, small and large rotors')
    for name in ROBOTS:
        claim_rotors(
            paper, name, try_rotors(name, found[name], pieces),
            delayed_rotors(name, found[name][0]),
        )
    for name, arm in arms.items():
        paper.compare(
            'deviation', arm.unit_errors.max(), printed=printed.largest_deviation[name],
            arm=TITLES[name],
        )
    report(0.65, 'the UR5 under a ceiling')
    mountings = study_mountings(found['ur5'][0], validation['ur5'])
    paper.table('mountings', (
        (who, *errors, errors[2] / errors[1])
        for who, errors in (
            ('URSim, paper', printed.simulated_errors.tolist()), ('MuJoCo, recorded', mountings)
        )
    ))
    claim_mountings(paper, *mountings)
    claim_arithmetic(paper)
    report(0.7, 'warming up')
    add_warming(paper, {name: found[name][0] for name in ROBOTS})
    score = arms['ur5'].score
    shown = score.times < 10.0
    paper.picture('figure_6', score.times[shown], {
        'measured': score.measured[shown],
        'model before identification': arms['ur5'].before[shown],
        'model after identification': arms['ur5'].after[shown],
    }, load_arm('ur5').joint_names)
    values, rank = singular['ground'], printed.base_parameters['ground']
    paper.misprints(
        second_row=second_row(structures['ur3', 'wall']), condition=values[0] / values[rank - 1],
        power=int(np.log10(values[0] / values[rank])), points=points,
    )


@dataclass(frozen=True, eq=False)
class Structure:
    """Base parameters of one arm in one mounting, in the frames and order of the paper."""

    robot: RobotModel  # the arm
    reduction: BaseReduction  # with Coulomb and viscous friction and rotor inertias
    rows: list[int]  # its base parameters in the order of appendix A

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


def random_singular_values(
    structure: Structure, samples: int = printed.random_points
) -> FloatArray:
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
    """Return a printed row as coefficients by parameter, from those by lengths of the arm."""
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
    """Return the largest share that a coefficient is off; infinite with other parameters."""
    reduction = structure.reduction
    names = reduction.parameters.names
    wanted_rows = {
        next(iter(terms)): terms
        for terms in (parse_row(row, numbers) for row in printed.rows)
    }
    worst = 0.0
    for row in structure.rows:
        leading = reduction.names[row]
        wanted = wanted_rows.pop(leading, {leading: 1.0})
        found = {
            names[column]: float(reduction.K[row, column])
            for column in np.flatnonzero(reduction.significant[row])
        }
        if set(found) != set(wanted):
            return float('inf')
        worst = max(worst, *(abs(found[key] / wanted[key] - 1.0) for key in wanted))
    return worst if not wanted_rows else float('inf')


def second_row(structure: Structure) -> float:
    """Return the coefficient of Ixz2 beside mz1, which only tilted arms show."""
    reduction = structure.reduction
    row = reduction.names.index('mz1')
    return abs(float(reduction.K[row, reduction.parameters.names.index('Ixz2')]))


def _printed_case(mounting: str) -> str:
    return 'wall' if mounting == 'wall' else 'ground'


def _slashes(numbers: tuple[int, ...]) -> str:
    return ' / '.join(str(number) for number in numbers)


def claim_structure(
    paper: Paper, found: Mapping[tuple[str, str], Structure], singular: Mapping[str, FloatArray]
) -> None:
    """Add claims on the numbers of parameters and on the lists of appendix A."""
    for mounting in MOUNTINGS:
        case = _printed_case(mounting)
        other = 'ground' if case == 'wall' else 'wall'
        (ranks, classes), (other_ranks, other_classes) = (
            _counted(found, one) for one in (mounting, other)
        )
        wanted = [printed.base_parameters[case]]
        paper.statement(
            'base', ranks == wanted, other_ranks != wanted, mounting=mounting, wanted=wanted[0],
            ranks=', '.join(map(str, ranks)), other=other,
            others=', '.join(map(str, other_ranks)),
        )
        kinds = [printed.classes[case]]
        paper.statement(
            'classes', classes == kinds, other_classes != kinds, mounting=mounting,
            wanted=_slashes(kinds[0]), classes=', '.join(map(_slashes, classes)), other=other,
            others=', '.join(map(_slashes, other_classes)),
        )
    seen = tuple(rank_of(singular[case]) for case in ('ground', 'wall'))
    both = tuple(printed.base_parameters[case] for case in ('ground', 'wall'))
    few = rank_of(random_singular_values(found['ur5', 'ground'], FEW_POINTS))
    paper.statement('singular', seen == both, few != both[0], seen=_slashes(seen), few=few)
    rows = {name: second_row(found[name, 'wall']) for name in ROBOTS}
    for name, equation in (('ur3', '(A1)'), ('ur5', '(A2)')):
        structure, other = found[name, 'ground'], OTHER[name]
        worst, exchanged = (
            deviation_of_lists(structure, printed.coefficients[one]) for one in (name, other)
        )
        words = {'equation': equation, 'arm': TITLES[name], 'other': TITLES[other]}
        paper.statement(
            'list', worst < PRINT_ROUNDING, exchanged >= PRINT_ROUNDING,
            rows=len(structure.rows), percent=100.0 * worst, exchanged=100.0 * exchanged, **words,
        )
        near, other_near = (
            abs(rows[one] / printed.second_row - 1.0) < PRINT_ROUNDING for one in (name, other)
        )
        paper.statement(
            'second_row', near, not other_near, row=rows[name], other_row=rows[other],
            reason='' if name == 'ur5' else 'misprint: the number of the UR5', **words,
        )


def _counted(
    found: Mapping[tuple[str, str], Structure], mounting: str
) -> tuple[list[int], list[tuple[int, ...]]]:
    """Return the different ranks and class counts of both arms in a mounting."""
    reductions = [found[name, mounting].reduction for name in ROBOTS]
    return (
        sorted({reduction.rank for reduction in reductions}),
        sorted({counts(reduction, physical=True) for reduction in reductions}),
    )


def experiment_of(name: str, mounting: str = 'ground') -> Experiment:
    """Return the paper's experiment for an arm."""
    suffix = '' if mounting == 'ground' else f'_{mounting}'
    return load_experiment(find_experiment(f'raviola_2021_{name}{suffix}'))


@dataclass(frozen=True, eq=False)
class Design:
    """A motion that a search found, its condition number, and evaluations."""

    trajectory: Trajectory
    condition: float
    evaluations: int


def design(name: str, mounting: str, optimizer: str, seed: int, pieces: Pieces) -> Design:
    """Return the motion of the paper's genetic algorithm, or of the default search."""
    experiment = experiment_of(name, mounting)
    robot = load_robot(name)
    genetic = optimizer == GENETIC
    changed = replace(
        experiment, optimizer=optimizer,
        optimizer_options={'population': POPULATION} if genetic else {},
    )
    evaluations = POPULATION * GENERATIONS if genetic else OWN_EVALUATIONS

    def search() -> dict[str, Any]:
        found = design_excitation(robot, changed, seed=seed, budget=Budget(evaluations))
        return {
            'coefficients': found.coefficients, 'condition': condition(name, mounting, found),
            'evaluations': int(found.certificate['search']['evaluations']),
        }

    found = pieces.get(f'{name}_{mounting}_{optimizer}_{evaluations}_{seed}', search)
    trajectory = Trajectory(
        robot.name, robot.joint_names, experiment.form,
        np.asarray(found['coefficients'], dtype=np.float64), experiment.periods, {},
    )
    return Design(trajectory, found['condition'], found['evaluations'])


def draw_validation(name: str) -> Trajectory:
    """Return a motion of random coefficients within the same bounds (section 5)."""
    experiment = replace(experiment_of(name), optimizer='random', optimizer_options={})
    return design_excitation(
        load_robot(name), experiment, seed=VALIDATION_SEED, budget=Budget(VALIDATION_DRAWS)
    )


def condition(name: str, mounting: str, trajectory: Trajectory) -> float:
    """Return the condition number of a motion in a mounting, at 125 samples a second."""
    experiment = experiment_of(name, mounting)
    robot = load_robot(name).with_gravity(experiment.gravity)
    return evaluate_motion(robot, experiment, trajectory).dense['condition_number']


# By arm, mounting and search: a motion for each seed.
Designs = dict[tuple[str, str, str], tuple[Design, ...]]


def find_designs(report: Callable[[float], None], pieces: Pieces) -> Designs:
    """Design all motions with ten seeds; `report` is given the share that is done."""
    wanted = [
        *(('ur5', mounting, optimizer) for mounting in ('ground', 'ceiling')
          for optimizer in (GENETIC, OWN)),
        ('ur3', 'ground', GENETIC),
    ]
    designs: Designs = {}
    for number, (name, mounting, optimizer) in enumerate(wanted):
        report(number / len(wanted))
        designs[name, mounting, optimizer] = tuple(
            design(name, mounting, optimizer, seed, pieces) for seed in TEN_SEEDS
        )
    return designs


def _ratios(designs: Designs, optimizer: str) -> list[float]:
    """Return condition numbers under the ceiling over those on the ground, by seed."""
    return [
        ceiling.condition / ground.condition
        for ceiling, ground in zip(
            designs['ur5', 'ceiling', optimizer], designs['ur5', 'ground', optimizer], strict=True
        )
    ]


def conditions_rows(designs: Designs) -> Iterator[tuple[Cell, ...]]:
    """Yield condition numbers of excitation by arm, mounting and search."""
    for (name, mounting, optimizer), found in designs.items():
        yield (
            f'{TITLES[name]}, {mounting}, {optimizer}', max(one.evaluations for one in found),
            interval_of([one.condition for one in found]).words(),
        )


def claim_ratios(paper: Paper, designs: Designs) -> None:
    """Add claims on the condition number under the ceiling over that on the ground."""
    for optimizer in (GENETIC, OWN):
        ratios = _ratios(designs, optimizer)
        ground = [one.condition for one in designs['ur5', 'ground', optimizer]]
        compare_ratios(paper, 'below_one', ratios, ground, optimizer=optimizer)
        claim_half(paper, optimizer, ratios, ratios_to_itself(ground))


def claim_half(
    paper: Paper, optimizer: str, ratios: Sequence[float], same: Sequence[float]
) -> None:
    """Add the claim that a ratio is about one half, with that of a mounting to itself."""
    paper.statement(
        'half', _about_half(ratios), _about_half(same) is False, optimizer=optimizer,
        ratio=interval_of(ratios).words(), seeds=len(ratios), same=interval_of(same).words(),
    )


def _about_half(ratios: Sequence[float]) -> bool | None:
    """Return whether the interval of a mean ratio is about one half; None where it is across."""
    found = interval_of(ratios)
    if HALF - ABOUT <= found.low and found.high <= HALF + ABOUT:
        return True
    return False if found.high < HALF - ABOUT or found.low > HALF + ABOUT else None


@dataclass(frozen=True)
class LimitWeightedLeastSquares(Estimator):
    """
    Weighted least squares of equation 10: rows over the torque limit of their joint.

    Rows are scaled: the 139 s that the authors need are those of a dense weight matrix. The gear
    ratio in their weights is that of all joints and changes nothing.
    """

    def estimate(self, problem: IdentificationProblem) -> Estimate:
        """Estimate with one over the torque limits as weights; see `Estimator.estimate`."""
        robot = need_observations(problem, 'limit_weighted').robot
        return solve_weighted(problem, 1.0 / robot.limits.effort)


def method_of(estimator: Estimator) -> IdentifyOptions:
    """
    Return the paper's method with an estimator.

    The printed width of the smooth sign is no more than the noise of a measured velocity at rest.
    The filter of all signals is not printed: it is that of this package.
    """
    smoothing = KinematicFilter()
    return IdentifyOptions(
        estimator=estimator, friction=(CoulombFriction(width=0.001), ViscousFriction()),
        recipe=Recipe(kinematic_filter=smoothing, effort_filter=smoothing),
    )


LS = method_of(OrdinaryLeastSquares())
WLS = method_of(LimitWeightedLeastSquares())


@dataclass(frozen=True, eq=False)
class Score:
    """Torques of a validation recording."""

    times: FloatArray  # of the samples [s], shape (N,)
    motion: Motion  # filtered as the model wants it
    measured: FloatArray  # motor current times drive gain [N m], shape (N, n)


def implied_viscous(robot: str) -> FloatArray:
    """
    Return the viscous friction that tables 4 and 6 imply at the largest velocity [N m s/rad].

    The largest change of torque is the change of viscous friction times the largest velocity,
    which the paper bounds by pi rad/s: a joint that was slower has more friction.
    """
    change = np.abs(printed.viscous_change[robot]) / 100.0
    viscous: FloatArray = np.array(printed.largest_torque_change[robot]) / (change * FASTEST)
    return viscous


def viscous_at(robot: str, share: float) -> FloatArray:
    """Return true viscous friction a share of the way from the cold to the warm arm."""
    viscous: FloatArray = implied_viscous(robot) * (
        1.0 + share * np.array(printed.viscous_change[robot]) / 100.0
    )
    return viscous


def temperatures_at(share: float) -> FloatArray:
    """Return joint temperatures a share of the way from the paper's cold to its warm arm."""
    temperatures: FloatArray = printed.cold + share * (printed.warm - printed.cold)
    return temperatures


def make_truth(
    robot: RobotModel, share: float = 0.0, rotor_share: float = 1.0
) -> GroundTruth:
    """
    Return the hidden truth of one of the arms, as warm as `share` says, with such rotors.

    Its joints stick, have Stribeck friction and more friction under load, which the friction law
    of the paper does not know: measured torques differ from any model of it, as they do there.
    """
    rng = np.random.default_rng(BODIES_SEED)
    n = robot.n
    return with_static_friction(GroundTruth(
        mass_factor=rng.uniform(1.0 - MASS_ERROR, 1.0 + MASS_ERROR, n),
        centre_shift=rng.uniform(-CENTRE_ERROR, CENTRE_ERROR, (n, 3)),
        drive_gain=robot.drives.drive_gain,
        coulomb=np.array(COULOMB[robot.name]),
        viscous=viscous_at(robot.name, share),
        reflected_inertia=rotor_share * np.array(REFLECTED_INERTIA[robot.name]),
    ))


def record(
    robot: RobotModel, trajectory: Trajectory, *, share: float = 0.0, rotor_share: float = 1.0,
    seed: int,
) -> SimulatedRun:
    """Return a recording of a simulated arm with its joint temperatures."""
    run = simulate(
        robot, trajectory, make_truth(robot, share, rotor_share), Sensors(), seed=seed
    )
    return replace(run, temperature=np.tile(temperatures_at(share), (len(run.stamps), 1)))


def delay_effort(run: SimulatedRun, samples: int) -> SimulatedRun:
    """Return a recording whose effort comes some samples later than its positions."""
    if not samples:
        return run
    kept = run.rows(slice(samples, None))
    q, dq, _ = kept.measured
    return replace(kept, measured=(q, dq, run.measured[2][:-samples]))


def identify_run(
    robot: RobotModel, run: SimulatedRun, method: IdentifyOptions = LS
) -> Identification:
    """Identify an arm from a recording by one of the paper's methods."""
    with tempfile.TemporaryDirectory() as folder:
        bag = Path(folder) / 'bag'
        write_simulated_bag(bag, robot, run)
        return identify(robot, [bag], method)


def read_for(model: IdentifiedModel, run: SimulatedRun) -> Score:
    """Return a recording as a model reads it: the motion, and measured torques."""
    with tempfile.TemporaryDirectory() as folder:
        bag = Path(folder) / 'bag'
        write_simulated_bag(bag, model.robot, run)
        dataset, _ = load_for_model(model, bag)
    rows = dataset.scored
    return Score(
        dataset.stamps[rows] - dataset.stamps[0], dataset.motion.rows(rows),
        model.robot.drives.to_torque(dataset.effort[rows]),
    )


def manufacturer_parameters(robot: RobotModel) -> FloatArray:
    """
    Return what a maker publishes: masses and centres of mass, shape (10 n,).

    Bodies are points at their centres of mass then: inertia about the joint frames is what the
    distance of these makes.
    """
    theta = np.array(prior_inertial_parameters(robot)).reshape(robot.n, 10)
    for link in theta:
        mass, moment = link[0], link[1:4]
        inertia = (moment @ moment * np.eye(3) - np.outer(moment, moment)) / mass
        link[4:] = inertia[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]
    parameters: FloatArray = theta.ravel()
    return parameters


def manufacturer_torque(robot: RobotModel, motion: Motion) -> FloatArray:
    """Return the torques of the maker's bodies without friction and rotors, shape (N, n)."""
    W = inertial_regressor(robot, motion)
    torque: FloatArray = (W @ manufacturer_parameters(robot)).reshape(motion.q.shape)
    return torque


def load_arm(name: str, mounting: str = 'ground') -> RobotModel:
    """Return an arm on the ground, under a ceiling or on a wall."""
    gravity = {
        'ground': (0.0, 0.0, -9.81), 'ceiling': (0.0, 0.0, 9.81), 'wall': (0.0, -9.81, 0.0),
    }
    return load_robot(name, gravity=gravity[mounting])


@dataclass(frozen=True, eq=False)
class Arm:
    """One arm before and after identification."""

    score: Score  # the validation recording
    before: FloatArray  # predicted torques [N m], shape (N, n)
    after: FloatArray  # by least squares
    after_weighted: FloatArray  # by the paper's weighted ones
    structure: Structure  # the paper's base parameters
    unit_errors: FloatArray  # the paper's d_i of these, in the order of appendix A, shape (52,)

    @property
    def normalized_errors(self) -> tuple[float, ...]:
        """Return the paper's e_N before, by LS and by WLS [N m]."""
        return tuple(
            error_of(self.score.measured - predicted)
            for predicted in (self.before, self.after, self.after_weighted)
        )


def error_of(residual: FloatArray) -> float:
    """Return the paper's normalized error over the points of a motion [N m]."""
    _, total = normalized_error(residual)
    return total * int(residual.shape[1])


def unit_errors(structure: Structure, score: Score) -> FloatArray:
    """Return the roots of the diagonal of (W'W)^-1 in the order of appendix A, shape (52,)."""
    W = published_observations(structure, score.motion)[:, structure.reduction.independent]
    triangle = np.linalg.qr(W, mode='r')
    inverse = np.linalg.solve(triangle, np.eye(len(triangle)))
    errors: FloatArray = np.linalg.norm(inverse, axis=1)[structure.rows]
    return errors


def study_arm(name: str, excitation: Trajectory, validation: Trajectory) -> Arm:
    """Identify one arm by both methods, and predict a motion that neither has seen."""
    robot = load_arm(name)
    run = record(robot, excitation, seed=TRAINING_NOISE)
    found, weighted = (identify_run(robot, run, method).model for method in (LS, WLS))
    score = read_for(found, record(robot, validation, seed=VALIDATION_NOISE))
    structure = find_structure(name, parameters=found.parameters)
    return Arm(
        score, manufacturer_torque(robot, score.motion), found.torque(score.motion),
        weighted.torque(score.motion), structure, unit_errors(structure, read_for(found, run)),
    )


def errors_rows(arms: Mapping[str, Arm]) -> Iterator[tuple[Cell, ...]]:
    """Yield table 3, printed and found."""
    for name, arm in arms.items():
        for who, errors in (
            ('paper', printed.normalized_errors[name]), ('here', arm.normalized_errors)
        ):
            before, after, weighted = errors
            yield (
                f'{TITLES[name]}, {who}', before, after, weighted, 100.0 * (1.0 - after / before),
                100.0 * (weighted / after - 1.0),
            )


def claim_errors(paper: Paper, arms: Mapping[str, Arm]) -> None:
    """Add claims on table 3."""
    for name, arm in arms.items():
        before, after, weighted = arm.normalized_errors
        first, second, third = printed.normalized_errors[name]
        # The right torques at the wrong time.
        late = error_of(arm.score.measured - np.roll(arm.after, len(arm.after) // 2, axis=0))
        paper.compare(
            'less_error', 100.0 * (1.0 - after / before), 100.0 * (1.0 - late / before),
            arm=TITLES[name], table=100.0 * (1.0 - second / first),
        )
        paper.untested('ls_error', arm=TITLES[name], wanted=second, after=after)
        paper.untested(
            'wls_error', arm=TITLES[name], wanted=100.0 * (third / second - 1.0),
            weighted=100.0 * (weighted / after - 1.0),
        )
    paper.untested('time')


def rotor_inertias(model: IdentifiedModel) -> FloatArray:
    """Return the rotor inertias of the last four joints on the joint's side [kg m^2]."""
    names = list(model.reduction.names)
    rows = [names.index(f'Ia{joint + 1}') for joint in ROTORS]
    inertias: FloatArray = model.theta_base[rows]
    return inertias


def delayed_rotors(name: str, excitation: Trajectory) -> dict[int, FloatArray]:
    """Return the rotor inertias that are identified from late currents, by samples of delay."""
    robot = load_arm(name)
    run = record(robot, excitation, seed=TRAINING_NOISE)
    return {
        samples: rotor_inertias(identify_run(robot, delay_effort(run, samples)).model)
        for samples in DELAYS
    }


def try_rotors(
    name: str, found: Sequence[Trajectory], pieces: Pieces
) -> dict[str, list[list[float]]]:
    """Return what least squares make of rotors, small and large, a row for each motion."""
    robot = load_arm(name)

    def identified(trajectory: Trajectory, rotor_share: float) -> list[float]:
        run = record(
            robot, replace(trajectory, periods=1), rotor_share=rotor_share, seed=TRAINING_NOISE
        )
        values: list[float] = rotor_inertias(identify_run(robot, run).model).tolist()
        return values

    return {
        size: [
            pieces.get(f'rotors_{name}_{size}_{seed}', partial(identified, trajectory, share))
            for seed, trajectory in enumerate(found)
        ]
        for size, share in ROTOR_SHARES.items()
    }


def claim_rotors(
    paper: Paper, name: str, tried: Mapping[str, list[list[float]]],
    delayed: Mapping[int, FloatArray],
) -> None:
    """Add the claim that least squares make rotor inertias negative."""
    claim_negative_rotors(
        paper, 'negative_rotors', tried['small'], tried['large'], arm=TITLES[name],
        late=', '.join(
            f'{1000.0 * SAMPLE * samples:.0f} ms: {np.count_nonzero(values < 0.0)}'
            for samples, values in delayed.items()
        ),
    )


def study_mountings(excitation: Trajectory, validation: Trajectory) -> tuple[float, ...]:
    """
    Repeat the experiment of section 7 on an arm without noise and friction, like URSim.

    Parameters are identified on the ground; the regressor of the ceiling, or wrongly that of the
    ground, then predicts the motion under the ceiling. Returns the errors e_N on the ground, under
    the ceiling, and of the wrong regressor there [N m].
    """
    ground, ceiling = load_arm('ur5'), load_arm('ur5', 'ceiling')
    truth = prior_truth(ground)
    model = identify_run(ground, simulate(ground, excitation, truth, NOISE_FREE)).model
    hung = replace(model, robot=model.robot.with_gravity(ceiling.gravity))
    standing, hanging = (
        read_for(model, simulate(robot, validation, truth, NOISE_FREE))
        for robot in (ground, ceiling)
    )
    return tuple(
        error_of(score.measured - used.torque(score.motion))
        for score, used in ((standing, model), (hanging, hung), (hanging, model))
    )


def claim_mountings(paper: Paper, ground: float, ceiling: float, wrong: float) -> None:
    """Add claims on table 8."""
    paper.compare('on_the_ground', ground, wrong)
    paper.compare('under_the_ceiling', ceiling, wrong)
    paper.statement(
        'wrong_mounting', wrong / ceiling > WRONG_MOUNTING, ceiling / ground <= WRONG_MOUNTING,
        wanted=printed.simulated_errors[2] / printed.simulated_errors[1], times=wrong / ceiling,
        much=WRONG_MOUNTING, right=ceiling / ground,
    )


def warm_up(name: str, excitation: Trajectory) -> tuple[IdentifiedModel, ...]:
    """Return models of one arm from cold to warm, by the same motion."""
    robot = load_arm(name)
    return tuple(
        identify_run(
            robot, record(robot, excitation, share=share, seed=FIRST_NOISE + number)
        ).model
        for number, share in enumerate(SHARES)
    )


def true_slopes(name: str) -> FloatArray:
    """Return how the true viscous friction changes with temperature [N m s/rad/K]."""
    slopes: FloatArray = (viscous_at(name, 1.0) - viscous_at(name, 0.0)) / (
        temperatures_at(1.0) - temperatures_at(0.0)
    )
    return slopes


def shares_of(changes: Mapping[str, Sequence[float]], name: str) -> dict[float, float]:
    """Return changes of torque as shares of the largest [%], by size of joint [N m]."""
    shares = share_of_limit(np.array(changes[name]), np.array(printed.largest_torques[name]))
    return {size: 100.0 * share for size, share in shares.items()}


def add_warming(paper: Paper, excitation: Mapping[str, Trajectory]) -> None:
    """Add tables and claims of section 6, from six recordings of each arm."""
    models = {name: warm_up(name, excitation[name]) for name in ROBOTS}
    studies = {
        name: study_temperature(
            models[name], excitation[name].sample(excitation[name].times(RATE))
        )
        for name in ROBOTS
    }
    compared = {name: compare_models(models[name][0], models[name][-1]) for name in ROBOTS}
    for table, make in (('viscous', viscous_rows), ('torques', torques_rows)):
        paper.table(table, (row for name in ROBOTS for row in make(name, studies[name])))
    claim_recovery(paper, studies)
    claim_groups(paper, compared)
    claim_sizes(paper, compare_joints_of_size(
        [models[name][0] for name in ROBOTS], [load_joint_drives(name) for name in ROBOTS],
        [load_arm(name).drives.gear_ratio for name in ROBOTS],
    ))


def viscous_rows(name: str, study: TemperatureStudy) -> Iterator[tuple[Cell, ...]]:
    """Yield table 4 [%]: its values are the truth of our arms."""
    found = 100.0 * np.array([joint.viscous_change for joint in study.joints])
    for who, values in (
        ('paper, and truth here', printed.viscous_change[name]), ('recovered', found)
    ):
        yield (f'{TITLES[name]}, {who}', *values.tolist(), float(values.mean()))


def torques_rows(name: str, study: TemperatureStudy) -> Iterator[tuple[Cell, ...]]:
    """Yield tables 5 and 6 [N m]."""
    for who, values in (
        ('mean, paper', printed.mean_torque_change[name]), ('mean, here', study.torque.mean),
        ('largest, paper', printed.largest_torque_change[name]),
        ('largest, here', study.torque.largest),
    ):
        yield (f'{TITLES[name]}, {who}', *np.asarray(values, dtype=float).tolist())


def claim_arithmetic(paper: Paper) -> None:
    """Add means of table 4 and shares of table 7, from the tables they follow from."""
    for name, other in OTHER.items():
        paper.compare(
            'mean_viscous', float(np.mean(printed.viscous_change[name])),
            float(np.mean(printed.viscous_change[other])),
            printed=printed.mean_viscous_change[name], arm=TITLES[name], other=TITLES[other],
        )
    for name in ROBOTS:
        largest, mean = (
            shares_of(changes, name)
            for changes in (printed.largest_torque_change, printed.mean_torque_change)
        )
        for size, share in printed.share_of_largest_torque[name].items():
            paper.compare(
                'shares', largest[size], mean[size], printed=share, arm=TITLES[name], size=size
            )


def _held(study: TemperatureStudy, slopes: FloatArray) -> int:
    """Return how many joints have a slope whose interval of 95 % holds a number."""
    held = 0
    for joint, slope in zip(study.joints, slopes, strict=True):
        line = joint.viscous_line
        low, high = (np.nan, np.nan) if line is None else line.slope_interval()
        held += bool(low <= slope <= high)
    return held


def claim_recovery(paper: Paper, studies: Mapping[str, TemperatureStudy]) -> None:
    """Add claims on friction over temperature."""
    for name, other in OTHER.items():
        study, arm = studies[name], TITLES[name]
        lines = [joint.viscous_line for joint in study.joints]
        held, exchanged = (_held(study, true_slopes(one)) for one in (name, other))
        paper.statement(
            'slopes', held == len(lines), exchanged != len(lines), arm=arm, held=held,
            other=TITLES[other], exchanged=exchanged,
        )
        paper.untested('lines', arm=arm, straight=sum(
            line is not None and line.excess < MOST_EXCESS for line in lines
        ))
        wanted, found = (
            ', '.join(f'{value:.2f}' for value in values)
            for values in (printed.largest_torque_change[name], study.torque.largest)
        )
        paper.untested('torques', arm=arm, wanted=wanted, found=found)


def claim_groups(paper: Paper, compared: Mapping[str, ModelComparison]) -> None:
    """Add claims on what moves with temperature."""
    for name, comparison in compared.items():
        groups = {group.group: group for group in comparison.groups}
        for key, other, moves in (
            ('inertial', 'viscous', False), ('viscous', 'inertial', True)
        ):
            paper.statement(
                key, groups[key].moved == moves, groups[other].moved != moves, arm=TITLES[name],
                moved=_moved_words(groups[key]), other=_moved_words(groups[other]),
            )


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


def claim_sizes(paper: Paper, sizes: Sequence[JointsOfSize]) -> None:
    """Add claims on the elbow of the UR3 and the wrists of the UR5, which are the same joint."""
    ur3, ur5 = (implied_viscous(name) for name in ROBOTS)
    gear = {name: load_arm(name).drives.gear_ratio[0] for name in ROBOTS}
    known = {
        one.size: [joint.viscous * gear[joint.robot] ** 2 for joint in one.joints]
        for one in sizes
    }
    of_both = next(one for one in sizes if one.size == SIZE_OF_BOTH)
    holds, words = similar([ur3[2], *ur5[3:]], [*ur3[[0, 1, 3, 4, 5]], *ur5[:3]])
    # Joints of two sizes must not be similar.
    elbows, others = similar([ur3[2], ur5[2]], [*np.delete(ur3, 2), *np.delete(ur5, 2)])
    paper.statement('same_joint', holds, not elbows, words=words, others=others)
    own = known.pop(SIZE_OF_BOTH)
    size, second = next(iter(known.items()))
    holds, words = similar(own, [value for values in known.values() for value in values])
    del known[size]
    mixed, others = similar(
        [*own, *second], [value for values in known.values() for value in values]
    )
    paper.statement(
        'same_joint_here', holds, not mixed, words=words, p=p_words(of_both.viscous_p), size=size,
        others=others,
    )
