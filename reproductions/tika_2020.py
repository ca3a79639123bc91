# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Tika et al. on a UR5: base list, memetic excitation, ordinary and constrained least squares.

The searches (memetic, random starts only, and this package's default) have the same limits and
evaluations, and every comparison has ten seeds. The arm is simulated; its joints stick and their
friction grows with the load, so that the paper's friction model is not exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from reproductions.gautier_khalil import regroup
from reproductions.paper import Cell, Paper, Pieces, printed_values, Report
from reproductions.seeds import (
    claim_negative_rotors, compare_found, compare_ratios, compare_share, found_outcome,
    interval_of, TEN_SEEDS,
)
from robot_identification.arrays import FloatArray
from robot_identification.errors import UnsafeMotionError
from robot_identification.estimation import (
    Estimate, IdentificationProblem, IdentifyOptions, Recipe,
)
from robot_identification.estimation.estimators.least_squares import (
    ConstrainedLeastSquares, OrdinaryLeastSquares,
)
from robot_identification.estimation.quality import find_covariance
from robot_identification.excitation import (
    Budget, certify, design_excitation, evaluate_motion, Experiment, find_experiment,
    load_experiment, standard_errors, Trajectory,
)
from robot_identification.excitation.information import BaseColumns
from robot_identification.excitation.optimizers import DEFAULT_OPTIMIZER
from robot_identification.excitation.optimizers.memetic import Memetic
from robot_identification.excitation.optimizers.search import Search, SearchState, Workers
from robot_identification.excitation.problem import TrajectoryProblem
from robot_identification.model import (
    BaseReduction, find_symbols, IdentifiedModel, KinematicFilter, link_frames, load_robot,
    make_standard_parameters, Motion, parse_friction, PUBLISHED_ORDERS, published_rows,
    reduce_to_base, RobotModel, to_text,
)
from robot_identification.model.parameters import split_name
from robot_identification.parallel import available_processors
from robot_identification.pipeline import identify
from robot_identification.processing import Dataset, load_for_model, smooth_effort
from robot_identification.recording import write_simulated_bag
from robot_identification.recording.simulated_run import simulate
from robot_identification.simulation import (
    draw_truth, GroundTruth, Sensors, true_inertial_parameters, with_static_friction,
)

printed = printed_values('tika_2020')
ROBOT, EXPERIMENT = 'ur5_tika', 'tika_2020_ur5'
# A sixteenth of the paper's population in as many generations, so that ten seeds take minutes.
POPULATION, EVALUATIONS = 6, 4000
# More generations than any budget here allows: evaluations alone end a search.
NEVER = 1000
# The span of the smoothing is not printed: 19 samples at 125 Hz.
SMOOTHING = KinematicFilter(kind='rloess', span=0.15)
# Section V: sign and viscous friction (eq. 8), currents smoothed as velocities are, rotor inertias
# that are not negative. Those that merge with link inertias have no bound.
METHOD = IdentifyOptions(
    estimator=ConstrainedLeastSquares(friction=False), friction='coulomb_sign,viscous',
    recipe=Recipe(kinematic_filter=SMOOTHING, effort_filter=SMOOTHING),
)
# "The values for the rotor inertia are small anyway": this share of those that are drawn.
SMALL_ROTORS = 0.05
TRUTH_SEED, NOISE_SEEDS = 0, (1, 2)
POSES = 1000
# Standard errors that an estimate is hardly ever off by where its model is right.
BEYOND = 3.0
# Gravity on a wall [m/s^2], for controls: not along the first axis.
WALL = (0.0, -9.81, 0.0)
SMALL, PLAIN, LARGE = 'arm of table III', 'plain arm', 'large rotors'
# Coulomb and viscous friction in the paper's list of 52, which is by kind after the links.
FRICTION_PLACES = range(37, 49)
# A fifth of the samples makes deviations larger by its root.
FEWER = 5
# Two totals that are both printed 0.0040 may be 2.5 % apart; half of that is asked for.
NEXT_TO_NOTHING = 1.0125
# Between factors of the rules and those of QR: rounding.
ROUNDING = 1.0e-8


def reproduce(paper: Paper, report: Report, pieces: Pieces) -> None:
    """Add the paper's results beside those of the simulated arm."""
    robot = load_robot(ROBOT)
    searches = search_seeds(robot, lambda share, stage: report(0.6 * share, stage), pieces)
    report(0.6, 'base parameters')
    motions = {
        f'{kind} {seed}': motion_of(robot, getattr(one, kind))
        for kind in KINDS for seed, one in zip(TEN_SEEDS, searches, strict=True)
    }
    excitation = certify(robot, paper_experiment(), motion_of(robot, searches[0].memetic), {})
    deviations = tuple(
        unit_deviations(robot, motion_of(robot, one.memetic)) for one in searches
    )
    report(0.65, 'rotor inertias')
    runs = try_motions(robot, motions, pieces)
    report(0.8, 'simulated arm')
    with TemporaryDirectory() as folder:
        done = run_experiment(
            robot, excitation, motion_of(robot, searches[0].random), Path(folder)
        )
    report(0.95, 'tables')
    paper.table('base', base_rows(robot, deviations[0], done))
    paper.table('seeds', seeds_rows(searches))
    paper.table('errors', errors_rows(done))
    # The second period: the first begins with the drive catching up.
    size = round(printed.period * printed.rate)
    period = slice(size, 2 * size)
    measured = smooth_torque(done.fit.dataset, robot)[period]
    predicted = done.fit.model.torque(done.fit.dataset.motion)[period]
    paper.picture(
        'torques_a', np.arange(size) / printed.rate,
        {'measured': measured, 'predicted': predicted, 'error': measured - predicted},
        robot.joint_names,
    )
    add_claims(paper, find(searches, deviations, runs, done))
    paper.misprints()


@dataclass(frozen=True, eq=False)
class Recorded:
    """The recorded arm: what was fitted and what was kept back."""

    fit: Fit  # from the optimized motion
    theta_true: FloatArray  # base parameters, shape (52,)
    # Normalized errors of joints and in total, by the headings of the paper's table III.
    errors: dict[str, tuple[FloatArray, float]]
    short_rows: int  # of a recording of five periods
    # Inertial parameters three standard errors and more from their truth, by least squares.
    beyond_errors: int


def run_experiment(
    robot: RobotModel, excitation: Trajectory, unseen: Trajectory, folder: Path
) -> Recorded:
    """Record both motions on the simulated arm, fit one, and predict both."""
    arm = simulated_arm(robot, SMALL_ROTORS)
    arm.record(excitation, folder / 'estimation', NOISE_SEEDS[0])
    arm.record(unseen, folder / 'validation', NOISE_SEEDS[1])
    fit = identify_both(arm, folder / 'estimation')
    _, problem = load_unseen(fit.model, folder / 'validation')
    errors = {
        f'{data}, {method}': normalized_errors(rows, fit.models[method].theta_base)
        for data, rows in (('estimation', fit.problem), ('validation', problem))
        for method in ('OLS', 'CLS')
    }
    large = simulated_arm(robot, 1.0)
    large.record(replace(excitation, periods=5, certificate={}), folder / 'short', NOISE_SEEDS[0])
    short = identify_both(large, folder / 'short')
    inertial = fit.model.reduction.independent < 10 * robot.n
    ordinary = fit.ordinary_model
    apart = np.abs(ordinary.theta_base - arm.true_values(ordinary, friction=False))
    return Recorded(
        fit, arm.true_values(fit.model), errors, int(short.problem.samples.sum()),
        int(np.sum((apart > BEYOND * ordinary.standard_errors)[inertial])),
    )


def find(
    searches: tuple[Searches, ...], deviations: tuple[FloatArray, ...],
    runs: dict[str, tuple[RotorRun, ...]], done: Recorded,
) -> Findings:
    """Return the numbers that claims are made of."""
    fit, robot = done.fit, load_robot(ROBOT)
    wall = robot.with_gravity(WALL)
    return Findings(
        base=fit.model.reduction.rank,
        drives=count_drives(fit.model.reduction.names),
        controls={
            'base': count_base(wall), 'inertial': count_base(wall, drives=False),
            'friction': count_drives(count_names(robot, 'viscous'))['friction'],
            'rotors': count_drives(
                count_names(load_robot('ur5_porcelli_bse'), 'coulomb_sign,viscous')
            )['rotors'],
            'rows': done.short_rows,
        },
        rules=(rules_apart(robot, wall=False), rules_apart(robot, wall=True)),
        searches=searches,
        deviations=deviations,
        errors=done.errors,
        runs=runs,
        inertia={name: least_inertia(model)[1] for name, model in fit.models.items()},
        beyond_errors=done.beyond_errors,
        rows=int(fit.problem.samples.sum()),
    )


def count_drives(names: tuple[str, ...]) -> dict[str, int]:
    """Return how many of some base parameters are of friction and of rotors."""
    return {
        kind: sum(name.startswith(symbols) for name in names)
        for kind, symbols in (('friction', ('fc', 'fv')), ('rotors', ('Ia',)))
    }


def count_names(robot: RobotModel, friction: str) -> tuple[str, ...]:
    """Return the base parameters of an arm with some friction and rotors."""
    parameters = make_standard_parameters(robot.n, parse_friction(friction), True)
    return reduce_to_base(robot, parameters).names


def unit_deviations(robot: RobotModel, trajectory: Trajectory) -> FloatArray:
    """Return equation 33 for the planned motion in the order of table II, shape (52,)."""
    columns = BaseColumns(robot, paper_experiment())
    t = np.arange(0.0, printed.period, 1.0 / printed.rate)
    W = columns.matrix(trajectory.sample(t))
    found = standard_errors(W) * np.sqrt(len(W) / robot.n / printed.samples)
    ordered: FloatArray = found[rows_of_paper(columns.reduction)]
    return ordered


def count_base(robot: RobotModel, *, drives: bool = True) -> int:
    """Return how many base parameters an arm has, with friction and rotors or of bodies alone."""
    laws = parse_friction(paper_experiment().friction if drives else 'none')
    return reduce_to_base(robot, make_standard_parameters(robot.n, laws, drives)).rank


def rules_apart(robot: RobotModel, *, wall: bool) -> float:
    """
    Return how far the rules of reference 15 are from the set of QR: the largest factor apart.

    Infinite where the sets are led by other parameters. On a wall the rules are those of an arm
    whose first axis is not vertical, while QR has the arm as it stands.
    """
    table = robot.denavit_hartenberg
    assert table is not None  # of a robot that is shipped with one
    rules = regroup(
        table.alpha.tolist(), table.a.tolist(), table.d.tolist(),
        gravity_along_first_axis=not wall,
    )
    reduction = reduce_to_base(
        robot, make_standard_parameters(robot.n, (), False), frames=link_frames(robot, 'mdh')
    )
    if sorted(rules) != sorted(reduction.names):
        return float('inf')
    return max(
        abs(rules[leading].get(name, 0.0) - float(factor))
        for leading, row in zip(reduction.names, reduction.K, strict=True)
        for name, factor in zip(reduction.parameters.names, row, strict=True)
    )


def rows_of_paper(reduction: BaseReduction) -> list[int]:
    """Return base parameters in the order of table II: links, then Fc, Fv and A of all joints."""
    inertial = published_rows(reduction, PUBLISHED_ORDERS['tika'])[: printed.inertial]
    drives = [row for row in range(reduction.rank) if row not in inertial]
    kinds = ('fcs', 'fv', 'Ia')

    def place(row: int) -> tuple[int, int]:
        symbol, joint = split_name(reduction.names[row])
        return kinds.index(symbol), joint

    return [*inertial, *sorted(drives, key=place)]


def base_rows(
    robot: RobotModel, deviations: FloatArray, done: Recorded
) -> Iterator[tuple[Cell, ...]]:
    """Yield table II: expressions, standard deviations by both formulas, values."""
    fit, reduction = done.fit, BaseColumns(robot, paper_experiment()).reduction
    found = find_symbols(robot, reduction, link_frames(robot, 'mdh'))
    at = {name: row for row, name in enumerate(fit.model.reduction.names)}
    errors = fit.model.standard_errors
    for place, row in enumerate(rows_of_paper(reduction), start=1):
        ours = at[reduction.names[row]]
        yield (
            place, to_text(found.expressions[row]), printed.deviations.get(place),
            float(deviations[place - 1]), float(errors[ours]), float(done.theta_true[ours]),
            float(fit.ordinary.theta[ours]), float(fit.model.theta_base[ours]),
        )


def errors_rows(done: Recorded) -> Iterator[tuple[Cell, ...]]:
    """Yield table III beside ours."""
    names = tuple(printed.errors)
    for joint in range(6):
        yield (joint + 1, *(
            float(value[joint]) for name in names
            for value in (printed.errors[name], done.errors[name][0])
        ))
    yield ('total', *(
        value for name in names for value in (printed.totals[name], done.errors[name][1])
    ))
    yield ('total from joints', *(
        total_of(joints) for name in names
        for joints in (printed.errors[name], done.errors[name][0])
    ))


def total_of(joints: FloatArray) -> float:
    """Return the total that follows from the normalized errors of the joints [N m]."""
    return float(np.sqrt(np.sum(np.square(joints))) / len(joints))


KINDS = ('memetic', 'random', 'default')


@dataclass(frozen=True)
class Generation:
    """Results of the local searches of one generation."""

    is_random: bool  # whether they started from random motions
    # Condition number and whether all limits are kept; near copies of others are left out.
    solutions: tuple[tuple[float, bool], ...]
    feasible: int  # searches that ended within all limits, copies included
    best: float  # least condition number so far
    evaluations: int  # so far


@dataclass(frozen=True, eq=False)
class Found:
    """A finished search."""

    # The last one is cut off by the end of the budget; none where a search has no generations.
    generations: tuple[Generation, ...]
    coefficients: FloatArray  # of the best motion
    condition: float  # its condition number at the 20 samples it was searched with
    dense: float  # the same at 125 Hz
    evaluations: int  # of the criterion


@dataclass(frozen=True, eq=False)
class Searches:
    """Searches with one seed: the paper's, its comparison, and the default of this package."""

    memetic: Found
    random: Found
    default: Found


def paper_experiment() -> Experiment:
    """Return the shipped experiment with the paper's 20 samples alone."""
    experiment = load_experiment(find_experiment(EXPERIMENT))
    return replace(experiment, samples=(printed.optimised_samples,))


def search_seeds(robot: RobotModel, report: Report, pieces: Pieces) -> tuple[Searches, ...]:
    """Return what the three searches find with every seed; pieces have what was done before."""
    found = []
    for number, seed in enumerate(TEN_SEEDS):
        report(number / len(TEN_SEEDS), f'searches with seed {seed}')
        name = f'searches_{POPULATION}_{EVALUATIONS}_{seed}'
        plain = pieces.get(f'{name}_paper', partial(_search_both, robot, seed)) | (
            pieces.get(f'{name}_default', partial(_search_default, robot, seed))
        )
        found.append(Searches(**{key: _from_plain(one) for key, one in plain.items()}))
    return tuple(found)


def motion_of(robot: RobotModel, found: Found) -> Trajectory:
    """
    Return the motion of a search, the paper's periods of it, without a certificate.

    Between the samples of a search a rule may be broken by rounding.
    """
    return Trajectory(
        robot.name, robot.joint_names, paper_experiment().form, found.coefficients,
        printed.periods, {},
    )


def _search_both(robot: RobotModel, seed: int) -> dict[str, Any]:
    """
    Return what the memetic algorithm finds, and random starts alone, as plain data.

    Both have the first random generations in common, for their seed is the same.
    """
    plain = Memetic(POPULATION, NEVER)
    memetic = replace(plain, random_generations=printed.random_generations)
    make = partial(TrajectoryProblem, robot, paper_experiment(), None)
    with Workers(make, available_processors()) as workers:
        run = partial(_run, workers, Budget(EVALUATIONS), seed)
        states, last = run(plain)
        more, best = run(memetic)
        problem = workers.problem
        assert isinstance(problem, TrajectoryProblem)
        finish = partial(_finish, robot, problem)
        return {
            'memetic': finish(best, generations_of(more, best, memetic.random_generations)),
            'random': finish(last, generations_of(states, last, NEVER)),
        }


def _search_default(robot: RobotModel, seed: int) -> dict[str, Any]:
    """Return what the default search of this package finds, as plain data."""
    experiment = replace(paper_experiment(), optimizer=DEFAULT_OPTIMIZER, optimizer_options={})
    found = design_excitation(robot, experiment, seed=seed, budget=Budget(EVALUATIONS))
    search = found.certificate['search']
    return {'default': {
        'generations': (), 'coefficients': found.coefficients,
        # The paper's samples, of which the period's end is none.
        'condition': next(
            one['criteria']['condition_number']
            for one in found.certificate['criteria_optimised'] if not one['both_ends']
        ),
        'dense': found.certificate['criteria_dense']['condition_number'],
        'evaluations': int(search['evaluations']),
    }}


def _run(
    workers: Workers, budget: Budget, seed: int, optimizer: Memetic
) -> tuple[list[SearchState], SearchState]:
    """Return the states after every round, and the last."""
    states: list[SearchState] = []
    last = Search(optimizer, workers, seed, lambda _: None, states.append).run(budget)
    return states, last


def _finish(
    robot: RobotModel, problem: TrajectoryProblem, last: SearchState,
    generations: tuple[Generation, ...],
) -> dict[str, Any]:
    if last.best is None:
        raise UnsafeMotionError(
            f'no motion of {robot.name} within the limits was found in {last.evaluations} '
            'evaluations: allow more'
        )
    found = Found(
        generations, problem.coefficients(last.best.x), last.best.objective, np.nan,
        last.evaluations,
    )
    evaluation = evaluate_motion(robot, paper_experiment(), motion_of(robot, found))
    return asdict(replace(found, dense=float(evaluation.dense['condition_number'])))


def _from_plain(plain: Mapping[str, Any]) -> Found:
    generations = tuple(
        Generation(**one | {'solutions': tuple((x, kept) for x, kept in one['solutions'])})
        for one in plain['generations']
    )
    return Found(**dict(plain) | {
        'generations': generations,
        'coefficients': np.asarray(plain['coefficients'], dtype=np.float64),
    })


def generations_of(
    states: Sequence[SearchState], last: SearchState, random: int
) -> tuple[Generation, ...]:
    """Return what each generation found; of the last, which is cut off, the best alone."""
    found: list[Generation] = []
    known: set[bytes] = set()
    before = 0
    for state in states:
        # After a round that only made starts, the archive holds these as well.
        if state.memory.get('bred'):
            continue
        new = [one for one in state.archive if one.x.tobytes() not in known]
        known |= {one.x.tobytes() for one in new}
        found.append(Generation(
            len(found) < random,
            tuple((one.objective, one.feasible) for one in new if one.start is not None),
            state.feasible - before,
            np.inf if state.best is None else state.best.objective,
            state.evaluations,
        ))
        before = state.feasible
    best = last.best
    if best is not None:
        solutions = () if best.x.tobytes() in known else ((best.objective, True),)
        found.append(Generation(
            len(found) < random, solutions, last.feasible - before, best.objective,
            last.evaluations,
        ))
    return tuple(found)


def seeds_rows(searches: Sequence[Searches]) -> Iterator[tuple[Cell, ...]]:
    """Yield the condition numbers of every seed, and their means."""
    found = [
        [getattr(getattr(one, kind), what) for one in searches]
        for what in ('condition', 'dense') for kind in KINDS
    ]
    for seed, values in zip(TEN_SEEDS, zip(*found, strict=True), strict=True):
        yield (str(seed), *values)
    yield ('mean and interval of 95 %', *(interval_of(values).words() for values in found))
    yield ('paper', printed.memetic_condition, printed.random_condition, *4 * (None,))


@dataclass(frozen=True, eq=False)
class SimulatedArm:
    """Simulated arm and its true parameters."""

    robot: RobotModel  # the arm as it is known
    # As it is: masses up to a fifth from the description, joints that stick and whose friction
    # grows with the load, so that the paper's friction model is not exact.
    truth: GroundTruth

    def record(self, trajectory: Trajectory, bag: Path, seed: int) -> None:
        """Make the arm execute all periods of a motion, and write what its driver publishes."""
        run = simulate(self.robot, trajectory, self.truth, Sensors(), seed=seed)
        write_simulated_bag(bag, self.robot, run, trajectory)

    def true_values(self, model: IdentifiedModel, *, friction: bool = True) -> FloatArray:
        """Return the true base parameters, Coulomb friction being that of an unloaded joint."""
        parameters = model.parameters
        theta = np.zeros(parameters.size)
        theta[: 10 * self.robot.n] = true_inertial_parameters(self.robot, self.truth)
        values = {'coulomb_sign': self.truth.coulomb, 'viscous': self.truth.viscous}
        for term, columns in parameters.friction_columns:
            theta[columns] = friction * values[term.law.name][term.joint]
        theta[parameters.reflected_inertia_slice] = self.truth.reflected_inertia
        base: FloatArray = model.reduction.K @ theta
        return base


def simulated_arm(robot: RobotModel, rotor_share: float) -> SimulatedArm:
    """Return an arm to identify."""
    drawn = draw_truth(robot, TRUTH_SEED)
    truth = replace(
        drawn, drive_gain=robot.drives.drive_gain,
        reflected_inertia=rotor_share * drawn.reflected_inertia,
    )
    return SimulatedArm(robot, with_static_friction(truth))


@dataclass(frozen=True, eq=False)
class Fit:
    """Both estimates from one recording."""

    model: IdentifiedModel  # by constrained least squares, as the paper has it
    ordinary: Estimate  # by ordinary least squares on the same rows
    problem: IdentificationProblem  # the rows, reduced
    dataset: Dataset  # what was fitted

    @property
    def models(self) -> dict[str, IdentifiedModel]:
        """Both models, and the one with physically consistent bodies, by name."""
        return {
            'OLS': self.ordinary_model, 'CLS': self.model,
            'physically consistent': self.model.with_consistent_parameters(),
        }

    @property
    def ordinary_model(self) -> IdentifiedModel:
        """Return the model with the ordinary estimate."""
        return replace(
            self.model, theta_base=self.ordinary.theta,
            covariance=find_covariance(self.ordinary).matrix,
        )

    def rotor_inertias(self, theta: FloatArray) -> dict[str, float]:
        """Return those among base parameters that are rotor inertias alone, by name."""
        return {
            name: float(value)
            for name, value in zip(self.model.reduction.names, theta, strict=True)
            if name.startswith('Ia')
        }


def identify_both(arm: SimulatedArm, bag: Path) -> Fit:
    """Identify an arm by the paper's method, and by ordinary least squares beside it."""
    found = identify(arm.robot, [bag], METHOD)
    problem = found.estimate.problem
    assert problem is not None  # of an estimate that was just made
    return Fit(
        found.model, OrdinaryLeastSquares().estimate(problem), problem, found.datasets[0]
    )


def load_unseen(model: IdentifiedModel, bag: Path) -> tuple[Dataset, IdentificationProblem]:
    """Return a bag the model has not seen, and its rows treated as those of the fit."""
    dataset, _ = load_for_model(model, bag)
    observations = METHOD.observe(model.robot, METHOD.laws[0], [dataset], [dataset.fitted])
    return dataset, observations.factor()


def normalized_errors(
    problem: IdentificationProblem, theta: FloatArray
) -> tuple[FloatArray, float]:
    """Return equation 35 of all joints and equation 34, on the smoothed torques [N m]."""
    joints = np.sqrt(problem.squared_residuals(theta)) / problem.samples
    return joints, float(np.linalg.norm(joints) / len(joints))


def smooth_torque(dataset: Dataset, robot: RobotModel) -> FloatArray:
    """Return the smoothed measured joint torque (N, n) [N m] that the paper regresses on."""
    torque: FloatArray = smooth_effort(dataset, SMOOTHING) * robot.drives.drive_gain
    return torque


def least_inertia(model: IdentifiedModel, seed: int = 0) -> tuple[float, int]:
    """Return the least eigenvalue of the mass matrix in random poses, and how many are <= 0."""
    n = model.robot.n
    q = np.repeat(np.random.default_rng(seed).uniform(-np.pi, np.pi, (POSES, n)), n + 1, axis=0)
    ddq = np.tile(np.vstack([np.zeros(n), np.eye(n)]), (POSES, 1))
    torque = model.torque(Motion(q, np.zeros(q.shape), ddq)).reshape(POSES, n + 1, n)
    matrices = torque[:, 1:] - torque[:, :1]
    least = np.linalg.eigvalsh(0.5 * (matrices + matrices.transpose(0, 2, 1)))[:, 0]
    return float(least.min()), int(np.count_nonzero(least <= 0.0))


@dataclass(frozen=True)
class RotorRun:
    """Rotor inertias of joints 3 to 6 from one motion."""

    ordinary: tuple[float, ...]  # by ordinary least squares [kg m^2]
    constrained: tuple[float, ...]  # by constrained ones [kg m^2]
    cost: float  # total error of the constrained estimate over that of the ordinary one
    wrong_cost: float  # the same with all rotor inertias of the ordinary estimate put to zero
    # Of 1000, those where the mass matrix of the ordinary estimate is not positive definite.
    poses: int


def try_motions(
    robot: RobotModel, motions: Mapping[str, Trajectory], pieces: Pieces
) -> dict[str, tuple[RotorRun, ...]]:
    """Return what both methods find with one period of every named motion, by arm."""
    small = simulated_arm(robot, SMALL_ROTORS)
    arms = {
        SMALL: small, PLAIN: SimulatedArm(
            robot, replace(small.truth, load_share=None, static=None)
        ),
        LARGE: simulated_arm(robot, 1.0),
    }
    return {
        arm_name: tuple(
            _run_from_plain(pieces.get(
                f'rotors_{arm_name} {name}'.replace(' ', '_'), partial(_try_motion, arm, motion)
            ))
            for name, motion in motions.items()
        )
        for arm_name, arm in arms.items()
    }


def _run_from_plain(plain: Mapping[str, Any]) -> RotorRun:
    found: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in plain.items()
    }
    return RotorRun(**found)


def _try_motion(arm: SimulatedArm, motion: Trajectory) -> dict[str, object]:
    with TemporaryDirectory() as folder:
        bag = Path(folder) / 'bag'
        arm.record(replace(motion, periods=1), bag, NOISE_SEEDS[0])
        fit = identify_both(arm, bag)
    ordinary, constrained = fit.ordinary.theta, fit.model.theta_base
    without = np.where(
        [name.startswith('Ia') for name in fit.model.reduction.names], 0.0, ordinary
    )
    error, cost, wrong = (
        normalized_errors(fit.problem, theta)[1] for theta in (ordinary, constrained, without)
    )
    return asdict(RotorRun(
        tuple(fit.rotor_inertias(ordinary).values()),
        tuple(fit.rotor_inertias(constrained).values()), cost / error, wrong / error,
        least_inertia(fit.ordinary_model)[1],
    ))


@dataclass(frozen=True, eq=False)
class Findings:
    """The numbers of a reproduction that the paper says something about."""

    base: int  # base parameters
    drives: dict[str, int]  # friction and rotor parameters among them
    # Counts of arms that have others, and rows of a recording of fewer periods.
    controls: dict[str, int]
    # Largest distance of the closed-form rules from QR, and with the rules of a wall.
    rules: tuple[float, float]
    searches: tuple[Searches, ...]  # all searches with ten seeds
    # Equation 33 for the memetic motion of every seed: inertial parameters first, then friction by
    # kind, then rotors, shape (52,).
    deviations: tuple[FloatArray, ...]
    errors: dict[str, tuple[FloatArray, float]]  # normalized errors, shape (6,)
    # Rotor inertias with the memetic motion of every seed, by arm.
    runs: dict[str, tuple[RotorRun, ...]]
    # Of 1000 poses, those whose mass matrix is not positive definite, by method.
    inertia: dict[str, int]
    beyond_errors: int  # inertial parameters three standard errors and more from their truth
    rows: int  # rows of the regression


def add_claims(paper: Paper, found: Findings) -> None:
    """Add what the paper says, with ours and the outcome."""
    controls, drives = found.controls, found.drives
    paper.compare('base', found.base, controls['base'])
    paper.compare('inertial', found.base - sum(drives.values()), controls['inertial'])
    paper.compare('friction', drives['friction'], controls['friction'])
    paper.compare('rotors', drives['rotors'], controls['rotors'])
    right, wrong = found.rules
    paper.statement(
        'rules', right < ROUNDING, wrong >= ROUNDING, rounding=ROUNDING,
        wrong='another set' if np.isinf(wrong) else f'factors {wrong:.2g} apart',
    )
    paper.compare('rows', found.rows, controls['rows'])
    _claim_excitation(paper, found.searches)
    _claim_deviations(paper, found)
    _claim_errors(paper, found.errors)
    _claim_rotors(paper, found)


def _claim_excitation(paper: Paper, searches: Sequence[Searches]) -> None:
    memetic, random, default = (
        [getattr(one, kind).condition for one in searches] for kind in KINDS
    )
    best, poor = printed.memetic_condition, printed.random_condition
    for key, number, values, other, found in (
        ('memetic', best, memetic, poor, memetic), ('random', poor, random, best, random),
        ('default', best, default, best, random),
    ):
        # Another number of the paper, or another search, must come out otherwise.
        outcome = found_outcome(other, found)
        compare_found(
            paper, key, number, values, outcome != found_outcome(number, values),
            other=f'{other:g} against {interval_of(found).words()}: {outcome}',
        )
    compare_ratios(
        paper, 'memetic_less', [a / b for a, b in zip(memetic, random, strict=True)], random
    )
    compare_share(paper, 'outside', *(
        [infeasible_share(one.memetic, is_random=is_random) > 0.5 for one in searches]
        for is_random in (True, False)
    ))


def infeasible_share(found: Found, *, is_random: bool = True) -> float:
    """Return the share of local searches from one kind of starts that end outside the limits."""
    generations = [one for one in found.generations if one.is_random == is_random]
    kept = sum(one.feasible for one in generations)
    searches = sum(len(one.solutions) for one in generations)
    return 1.0 - min(kept / max(searches, 1), 1.0)


def _claim_deviations(paper: Paper, found: Findings) -> None:
    said = list(printed.deviations.values())
    for word, kind in (('largest', max), ('smallest', min)):
        values = [float(kind(one)) for one in found.deviations]
        fewer = [FEWER**0.5 * one for one in values]
        compare_found(
            paper, 'deviation', kind(said), values,
            found_outcome(kind(said), fewer) != found_outcome(kind(said), values), word=word,
            fewer=FEWER, interval=interval_of(fewer).words(),
        )
    compare_share(paper, 'friction_largest', *(
        [int(kind(one)) + 1 in FRICTION_PLACES for one in found.deviations]
        for kind in (np.argmax, np.argmin)
    ))
    paper.untested('deviations_show', beyond=found.beyond_errors, inertial=printed.inertial)


def _claim_errors(paper: Paper, errors: Mapping[str, tuple[FloatArray, float]]) -> None:
    for name, joints in printed.errors.items():
        paper.compare(
            'total_printed', total_of(joints), float(np.mean(joints)),
            printed=printed.totals[name], name=name,
        )
    for name, total in printed.totals.items():
        paper.untested('total', name=name, total=total, found=errors[name][1])
    first, second = 'validation, CLS', 'estimation, CLS'
    paper.untested(
        'total_ratio', printed_ratio=printed.totals[first] / printed.totals[second],
        ratio=errors[first][1] / errors[second][1],
    )


def _claim_rotors(paper: Paper, found: Findings) -> None:
    small, plain, large = (found.runs[arm] for arm in (SMALL, PLAIN, LARGE))
    # Only fits in which the bound binds.
    bound = [run for run in (*small, *plain) if min(run.ordinary) < 0.0]
    claim_negative_rotors(
        paper, 'negative_rotors', [run.ordinary for run in small],
        [run.ordinary for run in large],
    )
    least = min((min(run.constrained) for run in bound), default=0.0)
    free = max((min(run.ordinary) for run in bound), default=0.0)
    counts = {'bound': len(bound), 'fits': len(small) + len(plain)}
    paper.statement(
        'constrained', least >= 0.0 if bound else None, free < 0.0, least=least, free=free,
        **counts,
    )
    cost = max((run.cost for run in bound), default=1.0)
    wrong = min(run.wrong_cost for run in large)
    paper.statement(
        'constraint_cost', cost < NEXT_TO_NOTHING if bound else None, wrong >= NEXT_TO_NOTHING,
        cost=100.0 * (cost - 1.0), wrong=100.0 * (wrong - 1.0), **counts,
    )
    compare_share(
        paper, 'mass_matrix', *([run.poses > 0 for run in runs] for runs in (small, large))
    )
    paper.untested(
        'mass_matrix_constrained', poses=found.inertia['CLS'],
        consistent=found.inertia['physically consistent'],
    )
