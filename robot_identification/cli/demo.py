# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification demo`: from nothing to a validated model of a simulated arm."""

import argparse
from contextlib import suppress
from itertools import count
import os
from pathlib import Path
import secrets
import time
from typing import Any

import numpy as np
from robot_identification import load_model, load_robot, read_recording, validate
from robot_identification.arrays import FloatArray, IndexArray
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
from robot_identification.texts import counted
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
        f'{counted(processors, "processor")}'
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
    score = validate(model, [folder / 'bag_2'])
    section = compare_with_truth(model, truth, score.datasets[0])
    nrmse = {joint: error for joint, *_, error in section['gains']}
    write_validation(
        score, ResultFolder(folder, command_line='robot-identification demo'), truth=section,
    )
    validation = score.validation
    text = '\n'.join([
        'On the unseen motion, against the noise-free truth that only a simulation knows:',
        *(f'  {joint}: {error:.1%} NRMSE' for joint, error in nrmse.items()),
        validation_text(model, validation),
    ])
    write_atomically(folder / 'results.txt', text + '\n')
    say(text)
    return {
        'output': str(folder),
        'report': str(folder / 'report.html'),
        'verdict': validation.verdict.level,
        'reasons': list(validation.verdict.reasons),
        'joints': list(nrmse),
        'noise_free_nrmse': list(nrmse.values()),
        'validation': validation_content(validation),
    }


def compare_with_truth(
    model: IdentifiedModel, truth: GroundTruth, unseen: Dataset
) -> dict[str, Any]:
    """
    Return what a report shows of a model of a simulated robot beside the truth of that robot.

    Friction terms without a true value of their own are left out. `unseen` is of a recording that
    was not used for the identification, with noise-free joint states in addition to the measured
    ones.
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
    return truth_section(
        model, rows, (model.reduction.K @ theta)[rows], truth.drive_gain,
        _noise_free_errors(model, unseen),
    )


def _noise_free_errors(model: IdentifiedModel, unseen: Dataset) -> FloatArray:
    """Return the NRMSE (n,) of a model on the noise-free effort of an unseen motion."""
    measured, noise_free = (
        read_recording(
            Path(unseen.source), model.robot.joint_names, topic=topic,
            encoders=model.robot.encoders,
        ) for topic in (model.source.topic, TRUTH_TOPIC)
    )
    stamps = unseen.stamps + (measured.start - noise_free.start) * 1e-9
    common = unseen.scored & (stamps >= 0.0) & (stamps <= noise_free.duration)
    effort = np.column_stack([
        np.interp(stamps[common], noise_free.stamps, column) for column in noise_free.effort.T
    ])
    return measure_errors(
        effort, predict_effort(model, unseen)[common], unseen.moving[common], bag=unseen.source,
        unit=model.effort_unit, joints=model.robot.joint_names,
    ).nrmse


def truth_section(
    model: IdentifiedModel, rows: IndexArray, true_values: FloatArray, true_gains: FloatArray,
    unseen_nrmse: FloatArray,
) -> dict[str, Any]:
    """
    Return the rows of a report's tables of the truth, and a summary.

    `rows` are the base parameters that have `true_values`; `true_gains` (n,) are those of the
    simulated drives [N m/A], `unseen_nrmse` (n,) is NaN where it is not known.
    """
    robot, reduction = model.robot, model.reduction
    used_gains, units = robot.drives.drive_gain, reduction.units_of(robot)
    gain_errors = _ratio(used_gains, true_gains) - 1.0
    estimated, deviations = model.theta_base[rows], model.standard_errors[rows]
    errors = estimated - true_values
    normalized = _ratio(errors, deviations)
    agreeing = int(np.count_nonzero(np.abs(normalized) <= AGREEMENT))
    sizes = np.abs(gain_errors)
    largest = np.max(sizes, initial=0.0, where=np.isfinite(sizes))
    return {
        'summary': (
            f'{agreeing} of {len(rows)} parameters lie within {AGREEMENT:g} standard errors of '
            'the truth. Parameters were estimated with the nominal drive gains, which differ '
            f'from the true ones by up to {percent(float(largest))}; a wrong gain scales every '
            'torque of its joint and with it the parameters, and standard errors do not know of '
            'it.'
        ),
        'gains': list(zip(
            robot.joint_names, true_gains, used_gains, gain_errors, unseen_nrmse, strict=True
        )),
        'parameters': list(zip(
            (reduction.names[row] for row in rows), true_values, estimated, errors, deviations,
            normalized, (units[row] for row in rows), strict=True,
        )),
    }


def _ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Return a quotient, NaN where the denominator is zero."""
    result = np.full(len(numerator), np.nan)
    np.divide(numerator, denominator, out=result, where=denominator != 0.0)
    return result
