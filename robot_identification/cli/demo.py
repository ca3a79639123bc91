# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification demo`: from nothing to a validated model of a simulated arm."""

import argparse
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
import os
from pathlib import Path
import secrets
import time
from typing import Any

import numpy as np
from robot_identification import load_model, load_robot, read_recording, validate
from robot_identification.arrays import FloatArray
from robot_identification.cli.output import print_results, say
from robot_identification.cli.processes import (
    check_ros, isolated_environment, NodeProcess, own_domain, running,
)
from robot_identification.cli.validate import write_validation
from robot_identification.errors import DataError, IdentificationError, UsageError
from robot_identification.files import ResultFolder, write_atomically
from robot_identification.model import find_urdf, IdentifiedModel
from robot_identification.parallel import available_processors
from robot_identification.processing import Dataset
from robot_identification.report import percent, validation_text
from robot_identification.simulation import draw_truth, GroundTruth, true_inertial_parameters
from robot_identification.validation import (
    measure_errors, predict_effort, validation_content,
)

EXAMPLE = 'robot-identification demo --robot ur5'
TRUTH_TOPIC = '/simulated_robot/noise_free_joint_states'
RESULT = 'result'  # folder of the identifier
FIRST_TRY = 'first_try'  # folder of what a failed try left
TRUTH_SEED = 7  # of the simulated arm
TIME_LIMIT = 600.0  # of the whole demo [s]
# Simulated over real time; chosen: two cores hold it with the arm's nodes on one of them.
REAL_TIME_FACTOR = 2.0
# On the way to the start [rad/s]; chosen: the arm is simulated, its cell is empty.
APPROACH_SPEED = 1.0
# Standard errors within which an estimate and the truth agree within chance.
AGREEMENT = 2.0


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument('--robot', default='ur5', metavar='R', help='default: %(default)s')
    parser.add_argument(
        '-o', '--output', type=Path, metavar='DIR',
        help='new folder for everything (default: ./robot_identification_demo/<n>)',
    )
    parser.add_argument(
        '--real-time-factor', type=float, default=REAL_TIME_FACTOR, metavar='F',
        help='ratio of simulated to real time (default: %(default)s)',
    )


def run(args: argparse.Namespace) -> None:
    """Run the demo."""
    check_ros()
    if not 0.1 <= args.real_time_factor <= 20.0:
        raise UsageError(f'--real-time-factor is {args.real_time_factor:g}, allowed are 0.1 to 20')
    started = time.monotonic()
    robot = load_robot(args.robot)
    truth = draw_truth(robot, TRUTH_SEED)
    folder = _fresh_folder(args.output)
    say(f'demo of a simulated {robot.name} in {folder}')
    _run_twice(args.robot, folder, args.real_time_factor)
    content = _conclude(truth, folder)
    content['seconds'] = round(time.monotonic() - started, 1)
    print_results(args, content, (
        f'report of the identification: {folder / RESULT / "report.html"}\n'
        f'report of the validation: {folder / "report.html"}'
    ))


def _fresh_folder(wanted: Path | None) -> Path:
    """Return a new folder: the wanted one, else the next number in ours."""
    ours = (Path('robot_identification_demo', str(number)) for number in count(1))
    for folder in ours if wanted is None else [wanted]:
        with suppress(FileExistsError):
            folder.mkdir(parents=True)
            return folder
    raise UsageError(f'{wanted} exists already: name a new folder')


def _run_twice(robot: str, folder: Path, factor: float) -> None:
    """Run the nodes, and once more at half the pace if they do not come to the end."""
    try:
        _run_nodes(robot, folder, factor)
        return
    except DataError as error:
        say(f'  {error}')
    left = folder / FIRST_TRY
    left.mkdir()
    for entry in [path for path in folder.iterdir() if path != left]:
        entry.rename(left / entry.name)
    slower = 0.5 * factor
    say(
        '  The simulated arm is watched like a real one, and is stopped where its programs do not '
        f'run in time; {_load()}. Once more from the start, at {slower:g} times real time; what '
        f'the first try left is in {left}'
    )
    try:
        _run_nodes(robot, folder, slower)
    except DataError as error:
        raise DataError(
            f'the demo was stopped twice. Most often other programs keep the computer busy; '
            f'{_load()}. Close them or wait until they are done, and type the command again; or '
            f'let the simulation take its time, with --real-time-factor {0.5 * slower:g}. What '
            f'happened: {error}'
        ) from error


def _load() -> str:
    """Return in words how many programs want to run."""
    processors = available_processors()
    return (
        f'in the last minute {os.getloadavg()[0]:.0f} programs wanted to run at a time on '
        f'{processors} processor{"" if processors == 1 else "s"}'
    )


def _run_nodes(robot: str, folder: Path, factor: float) -> None:
    """Generate, simulate, record and identify, each in its node, over DDS."""
    logs = folder / 'logs'
    logs.mkdir()
    token = secrets.token_hex(16)
    simulated_time = {'use_sim_time': factor != 1.0}
    nodes: list[NodeProcess] = []
    with own_domain() as domain, running(nodes):
        environment = isolated_environment(domain)
        wanted: dict[str, dict[str, Any]] = {
            'simulated_robot': {
                'robot': robot, 'truth_seed': TRUTH_SEED, 'simulation_token': token,
                'publish_truth': True, 'real_time_factor': factor,
                # Discovery on this host takes a third of that.
                'discovery_time': 1.0,
            },
            'trajectory_generator': {'robot': robot},
            'experiment_runner': {
                'robot': robot, 'simulation_token': token, 'approach_speed': APPROACH_SPEED,
                **simulated_time,
            },
            'bag_recorder': simulated_time,
            'identifier': {'robot': robot},
            'torque_predictor': {},
            'experiment_coordinator': {
                'robot': robot, 'output': str(folder), 'simulation_token': token,
                'topics': ['joint_states', TRUTH_TOPIC, '/torque_predictor/residual'],
            },
        }
        # The folders that the nodes need: the new one, and those of a robot of one's own.
        read = [folder]
        if robot.endswith(('.yaml', '.yml')):
            read += [Path(robot).parent, find_urdf(robot).parent]
        roots = {
            'allowed_read_roots': [str(path.resolve()) for path in read],
            'allowed_write_roots': [str(folder.resolve())],
        }
        for name, parameters in wanted.items():
            nodes.append(
                NodeProcess(name, {**parameters, **roots}, environment, logs / f'{name}.log')
            )
        _follow(nodes)


def _follow(nodes: list[NodeProcess]) -> None:
    """Report what the coordinator says until it ends; fail if any node dies before."""
    coordinator = nodes[-1]
    printed = 0
    deadline = time.monotonic() + TIME_LIMIT
    while True:
        ended = coordinator.exit_code
        lines = coordinator.log.read_text(errors='replace').splitlines()
        for line in lines[printed:]:
            if '[INFO]' in line:
                say(f'  {line.split("]: ", 1)[-1]}')
        printed = len(lines)
        dead = [node for node in nodes[:-1] if node.exit_code is not None]
        if dead:
            error = IdentificationError(f'{dead[0].name}: {dead[0].last_words()}')
            error.exit_code = max(dead[0].exit_code or 0, 1)
            raise error
        if ended == 0:
            return
        if ended == UsageError.exit_code:
            raise UsageError(coordinator.last_words())
        if ended is not None or time.monotonic() > deadline:
            raise DataError(
                f'the experiment did not end well: {coordinator.last_words()}; all output is in '
                f'{coordinator.log.parent}'
            )
        time.sleep(0.1)


def _conclude(truth: GroundTruth, folder: Path) -> dict[str, Any]:
    """Validate on the second recording, compare with the truth, and write the report."""
    model = load_model(folder / RESULT / 'identified_model.yaml')
    validated = validate(model, [folder / 'bag_2'])
    comparison = compare_with_truth(model, truth, validated.datasets[0], TRUTH_TOPIC)
    write_validation(
        model, validated, ResultFolder(folder, command_line='robot-identification demo'),
        truth=comparison,
    )
    validation = validated.validation
    text = '\n'.join([
        'On the unseen motion, against the noise-free truth that only a simulation knows:',
        *(f'  {joint}: {value:.1%} NRMSE' for joint, value in zip(
            model.robot.joint_names, comparison.unseen_nrmse, strict=True
        )),
        validation_text(model, validation),
    ])
    write_atomically(folder / 'results.txt', text + '\n')
    say(text)
    return {
        'output': str(folder),
        'report': str(folder / 'report.html'),
        'verdict': validation.verdict.level,
        'reasons': list(validation.verdict.reasons),
        'joints': list(model.robot.joint_names),
        'noise_free_nrmse': comparison.unseen_nrmse,
        'validation': validation_content(validation),
    }


@dataclass(frozen=True, eq=False)
class GroundTruthComparison:
    """True parameters of a simulated robot with the identified ones."""

    # The parameters compared.
    names: tuple[str, ...]
    units: tuple[str, ...]
    # (b,): in these units; `standard_errors` are those of the estimate.
    true_values: FloatArray
    estimated_values: FloatArray
    standard_errors: FloatArray
    # (n,): joint torque per motor current [N m/A]: those of the simulated robot, and the nominal
    # ones that the identification used.
    true_drive_gains: FloatArray
    used_drive_gains: FloatArray
    # (n,): error of the model against the noise-free effort of a motion it has not seen, over the
    # standard deviation of that effort; NaN where that was not done.
    unseen_nrmse: FloatArray

    @property
    def errors(self) -> FloatArray:
        """Estimated minus true values, shape (b,)."""
        return self.estimated_values - self.true_values

    @property
    def normalized_errors(self) -> FloatArray:
        """Errors in standard errors, shape (b,); NaN where these are zero."""
        return _ratio(self.errors, self.standard_errors)

    @property
    def gain_errors(self) -> FloatArray:
        """Return the used over true drive gains minus 1, shape (n,)."""
        return _ratio(self.used_drive_gains, self.true_drive_gains) - 1.0

    def summary(self) -> str:
        """Return in words how far the estimate is from the truth, and why."""
        agreeing = int(np.count_nonzero(np.abs(self.normalized_errors) <= AGREEMENT))
        sizes = np.abs(self.gain_errors)
        largest = np.max(sizes, initial=0.0, where=np.isfinite(sizes))
        return (
            f'{agreeing} of {len(self.names)} parameters lie within {AGREEMENT:g} standard errors '
            'of the truth. Parameters were estimated with the nominal drive gains, which differ '
            f'from the true ones by up to {percent(float(largest))}; a wrong gain scales every '
            'torque of its joint and with it the parameters, and standard errors do not '
            'know of it.'
        )


def compare_with_truth(
    model: IdentifiedModel, truth: GroundTruth, unseen: Dataset, truth_topic: str
) -> GroundTruthComparison:
    """
    Compare a model of a simulated robot with the truth of that robot.

    Friction terms without a true value of their own are left out. `unseen` is of a recording that
    was not used for the identification, with noise-free joint states on `truth_topic` in addition
    to the measured ones.
    """
    robot, parameters = model.robot, model.parameters
    theta = np.zeros(parameters.size)
    theta[: 10 * robot.n] = true_inertial_parameters(robot, truth)
    for term, columns in parameters.friction_columns:
        if term.law.plain is not None:
            theta[columns] = np.dot(
                term.law.plain, [truth.coulomb[term.joint], truth.viscous[term.joint]]
            )
    theta[parameters.reflected_inertia_slice] = truth.reflected_inertia
    # Single terms of a dictionary have no true value; what they add up to is judged by torque.
    unknown = {
        column
        for term, columns in parameters.friction_columns
        if not term.law.is_structural
        for column in range(columns.start, columns.stop)
    }
    rows = np.array([
        row for row, column in enumerate(model.reduction.independent) if column not in unknown
    ])
    bag = Path(unseen.source)
    measured, noise_free = (
        read_recording(bag, robot.joint_names, topic=topic, encoders=robot.encoders)
        for topic in (model.source.topic, truth_topic)
    )
    shift = (measured.start - noise_free.start) * 1e-9
    common = (
        unseen.scored
        & (unseen.stamps + shift >= 0.0)
        & (unseen.stamps + shift <= noise_free.duration)
    )
    stamps = unseen.stamps[common] + shift
    true_effort = np.column_stack([
        np.interp(stamps, noise_free.stamps, column) for column in noise_free.effort.T
    ])
    errors = measure_errors(
        true_effort,
        predict_effort(model, unseen)[common],
        unseen.moving[common],
        bag=unseen.source,
        unit=model.effort_unit,
        joints=robot.joint_names,
    )
    return GroundTruthComparison(
        names=tuple(model.reduction.names[row] for row in rows),
        units=tuple(model.reduction.units_of(robot)[row] for row in rows),
        true_values=(model.reduction.K @ theta)[rows],
        estimated_values=model.theta_base[rows],
        standard_errors=model.standard_errors[rows],
        true_drive_gains=truth.drive_gain,
        used_drive_gains=robot.drives.drive_gain,
        unseen_nrmse=errors.nrmse,
    )


def _ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    result = np.full(len(numerator), np.nan)
    np.divide(numerator, denominator, out=result, where=denominator != 0.0)
    return result
