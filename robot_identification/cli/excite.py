# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification excite`."""

import argparse
from dataclasses import dataclass, replace
from pathlib import Path
import re

from robot_identification import design_excitation, load_experiment, load_model
from robot_identification.cli.excite_text import (
    describe_certificate, describe_evaluation, describe_motion, describe_search,
    describe_weakness, evaluation_json, weakness_content,
)
from robot_identification.cli.options import (
    add_force_option, add_robot_options, BAG_SUFFIXES, model_file, options_given,
    refuse_options, robot_from_options, with_gravity_given,
)
from robot_identification.cli.output import (
    end_progress_line, print_json, print_results, progress_line, say, warn,
)
from robot_identification.errors import DescriptionError, IdentificationError, UsageError
from robot_identification.excitation import (
    certify, DesignArguments, dump_trajectory, evaluate_motion, Evaluation, Experiment, FEW_HELD,
    find_experiment_holding, GENERIC, import_motion, Knowledge, knowledge_of_model,
    load_trajectory, make_generic_experiment, next_experiment, Trajectory, trajectory_csv,
    weak_parameters,
)
from robot_identification.files import check_writable, read_text, write_files
from robot_identification.model import describe_placeholders, RobotModel
from robot_identification.options import add_arguments
from robot_identification.parallel import available_processors

EXAMPLE = 'robot-identification excite --urdf arm.urdf --time-limit 60 -o trajectory.yaml'
# Of the samples in a CSV file of an arm whose YAML states no rate [Hz]; dense for a few hertz.
DEFAULT_RATE = 125.0
# Samples of a motion, and the message or table of another program.
MOTION_SUFFIXES = ('.csv', '.json')
# Options that a recording has beside those of a motion, and those that it does not have.
OF_BAGS = ('planned', 'topic', 'joint_names', 'start', 'stop')
OF_FILES = ('output', 'csv', 'picture', 'report', 'after')


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_robot_options(parser)
    add_arguments(parser, DesignArguments, ('experiment',))
    parser.add_argument(
        '--after', type=model_file, metavar='MODEL',
        help='identified model: design the motion that most reduces its uncertainty, and list '
        'the weak parameters and the recording time required; with --evaluate, list those '
        'of an existing motion; without --robot and --urdf the arm is that of the model',
    )
    group = parser.add_argument_group(
        'search', 'Longer is better: --time-limit 60 is common. A run without it, or with its '
        'number of evaluations as --max-evaluations, gives the same bytes again.'
    )
    add_arguments(
        group, DesignArguments, ('seed', 'time_limit', 'max_evaluations', 'processes')
    )
    _add_evaluation_options(parser)
    group = parser.add_argument_group('what is written')
    group.add_argument(
        '-o', '--output', type=Path, metavar='OUT',
        help='trajectory file, which simulate and the experiment runner take',
    )
    group.add_argument(
        '--picture', type=Path, metavar='FILE.png',
        help='joints with their limits, and the path of the tool',
    )
    group.add_argument(
        '--report', type=Path, metavar='FILE.html',
        help='page with limits, clearances, criteria, curves, weak parameters and commands',
    )
    group.add_argument('--csv', type=Path, metavar='FILE', help='samples of one run')
    group.add_argument(
        '--rate', type=float, metavar='HZ',
        help="sampling rate of the CSV file; by default the robot's own",
    )
    add_force_option(group)


def _add_evaluation_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group('judging a motion instead of designing one')
    group.add_argument(
        '--evaluate', type=Path, metavar='MOTION',
        help='trajectory file (certified again with -o), samples as CSV, JointTrajectory message '
        'as YAML or JSON, or recording of an executed motion (a bag, or a table other than CSV); '
        'prints every criterion',
    )
    group.add_argument(
        '--planned', type=Path, metavar='FILE',
        help='planned motion of the bag, for its criteria and the tracking error',
    )
    group.add_argument(
        '--torque-noise', type=float, metavar='NM',
        help='standard deviation of recorded torques, for standard errors (default: 1 %% of '
        'the torque limits)',
    )
    # Those of `identify` are not taken: what declares them loads every estimator.
    group.add_argument('--topic', metavar='TOPIC', help='topic of the joint states in the bag')
    group.add_argument(
        '--joint-names', metavar='BAG=MODEL,..', help="where the bag's joint names differ"
    )
    for name, end in (('start', 'first'), ('stop', 'last')):
        group.add_argument(
            f'--{name}', type=float, metavar='S',
            help=f'{name} of the window of the bag after the first joint state [s] (default: the '
            f'{end} joint state)',
        )


def run(args: argparse.Namespace) -> int | None:
    """Design or judge a motion."""
    design = options_given(args, DesignArguments)
    is_recording = args.evaluate is not None and _is_recording(args.evaluate)
    _check_options(args, is_recording)
    robot = robot_from_after(args)
    experiment = _experiment(design.experiment, robot, judged=args.evaluate is not None)
    if args.gravity is not None or args.mounting is not None:
        experiment = replace(experiment, gravity=robot.gravity)
    experiment, known = knowledge_from_option(args, robot, experiment)
    if masses := describe_placeholders(robot):
        warn(masses)
    if is_recording:
        # Only recordings need what reads and smooths them.
        from robot_identification.cli.excite_recording import judge_recording

        planned = None if args.planned is None else _read_motion(args.planned, robot)
        judge_recording(args, robot, experiment, planned)
        return None
    refused: IdentificationError | None = None
    if args.evaluate is None:
        trajectory = _design(design, robot, experiment, known)
    else:
        trajectory = _read_motion(args.evaluate, robot)
        search = dict(trajectory.certificate.get('search', {}))
        try:
            trajectory = certify(robot, experiment, trajectory, search)
        except IdentificationError as error:
            refused = error
    judged = _Judged(
        robot, experiment, trajectory,
        evaluate_motion(robot, experiment, trajectory, args.torque_noise),
        '' if refused is None else str(refused),
    )
    write_files(_contents(args, judged), args.force)
    if refused is not None:
        _show_refused(args, judged)
        return refused.exit_code
    _show_result(args, judged, known)
    return None


def _is_recording(path: Path) -> bool:
    from robot_identification.recording import is_table

    # CSV files are samples of a motion here, as `excite --csv` writes them.
    is_log = is_table(path) and path.suffix.lower() not in MOTION_SUFFIXES
    return path.is_dir() or path.suffix in BAG_SUFFIXES or is_log


def _check_options(args: argparse.Namespace, is_recording: bool) -> None:
    """Raise UsageError for values out of range, and for what other options make void."""
    if args.evaluate is None and args.output is None:
        raise UsageError('name the trajectory file: -o trajectory.yaml')
    if args.rate is not None and not 0.0 < args.rate <= 100_000.0:
        raise UsageError(f'--rate is {args.rate:g} Hz, allowed are above 0 to 100000')
    if args.torque_noise is not None and not 0.0 < args.torque_noise < float('inf'):
        raise UsageError(f'--torque-noise is {args.torque_noise:g} N m, it must be positive')
    if args.picture is not None and args.picture.suffix.lower() != '.png':
        raise UsageError(f'{args.picture} must end in .png')
    if args.report is not None and args.report.suffix.lower() not in ('.html', '.htm'):
        raise UsageError(f'{args.report} must end in .html')
    if is_recording:
        refuse_options(
            args, OF_FILES, f'is for motions, and {args.evaluate} is a bag: leave it out'
        )
    else:
        refuse_options(args, OF_BAGS, 'is for bags: name one with --evaluate, or leave it out')
    for path in (args.output, args.csv, args.picture, args.report):
        if path is not None:
            check_writable(path, args.force)


def robot_from_after(args: argparse.Namespace) -> RobotModel:
    """
    Return the arm that the options name, else the one in the model of --after.

    Options of an arm that is not named raise a `UsageError`.
    """
    if args.after is None or args.robot is not None or args.urdf is not None:
        return robot_from_options(args)
    if args.joints or args.drive_gains or args.xacro_arguments:
        raise UsageError(
            '--joints, --drive-gains and --xacro-arguments are for an arm of --robot or --urdf; '
            'that of --after has its own'
        )
    robot = load_model(args.after).robot
    return with_gravity_given(args, robot.with_gravity(robot.mounting_gravity))


def _experiment(name: str, robot: RobotModel, *, judged: bool) -> Experiment:
    """Return the experiment; a motion that is there is judged by stated limits alone."""
    if name != GENERIC:
        return load_experiment(name)
    made = make_generic_experiment(robot)
    if judged:
        return replace(made.experiment, limits={}, window={})
    for note in made.notes:
        warn(note)
    return made.experiment


def knowledge_from_option(
    args: argparse.Namespace, robot: RobotModel, experiment: Experiment
) -> tuple[Experiment, Knowledge | None]:
    """Return the experiment of the next motion and what --after knows; None without it."""
    if args.after is None:
        return experiment, None
    experiment, changes = next_experiment(experiment)
    model = load_model(args.after)
    try:
        known = knowledge_of_model(model, robot, experiment)
    except (UsageError, DescriptionError) as error:
        raise type(error)(f'{args.after}: {error}') from error
    for note in changes:
        warn(note)
    return experiment, replace(known, notes=(*changes, *known.notes))


def _design(
    design: DesignArguments, robot: RobotModel, experiment: Experiment, known: Knowledge | None
) -> Trajectory:
    holding = find_experiment_holding(robot, experiment)
    if 0.0 < holding.held < FEW_HELD:
        warn(holding.describe())
    processes = design.processes or (1 if design.is_short else available_processors())
    try:
        return design_excitation(
            robot, experiment, seed=design.seed, budget=design.budget, processes=processes,
            report=lambda progress: progress_line(describe_search(progress)), knowledge=known,
        )
    finally:
        end_progress_line()


def _read_motion(path: Path, robot: RobotModel) -> Trajectory:
    """Return the motion of a trajectory file, or one that another program made."""
    if path.suffix.lower() in MOTION_SUFFIXES or _is_message(path):
        return import_motion(path, robot.joint_names, robot=robot.name)
    found = load_trajectory(path, check_hash=False)
    if found.joint_names != robot.joint_names:
        raise UsageError(
            f'{path} is for the joints {", ".join(found.joint_names)}, {robot.name} has '
            f'{", ".join(robot.joint_names)}'
        )
    return found


def _is_message(path: Path) -> bool:
    """Return whether a YAML file holds a JointTrajectory message or a published table."""
    if path.suffix.lower() not in ('.yaml', '.yml'):
        return False
    text = read_text(path)
    return not re.search(r'(?m)^schema_version\s*:', text) and bool(
        re.search(r'(?m)^(joint_names|points|convention)\s*:', text)
    )


@dataclass(frozen=True, eq=False)
class _Judged:
    """A motion with its evaluation, and why it is not certified; empty: it is."""

    robot: RobotModel
    experiment: Experiment
    trajectory: Trajectory
    evaluation: Evaluation
    refused: str


def _contents(args: argparse.Namespace, judged: _Judged) -> dict[Path, str | bytes]:
    """Return the content of every requested file, those of a refused motion without itself."""
    contents: dict[Path, str | bytes] = {}
    robot, experiment, trajectory = judged.robot, judged.experiment, judged.trajectory
    if args.output is not None and not judged.refused:
        contents[args.output] = dump_trajectory(trajectory)
    if args.csv is not None and not judged.refused:
        rate = args.rate or (robot.sampling_rate if robot.sampling_rate > 0 else DEFAULT_RATE)
        contents[args.csv] = trajectory_csv(trajectory, rate)
    if args.picture is not None:
        from robot_identification.report import trajectory_png

        contents[args.picture] = trajectory_png(robot, trajectory, experiment)
    if args.report is not None:
        from robot_identification.report import render_trajectory_report

        contents[args.report] = render_trajectory_report(
            robot, trajectory, experiment, judged.evaluation,
            path='' if args.output is None else str(args.output), refused=judged.refused,
            command_line=args.command_line,
        )
    return contents


def _show_result(args: argparse.Namespace, judged: _Judged, known: Knowledge | None) -> None:
    trajectory, evaluation = judged.trajectory, judged.evaluation
    content = {
        'sha256': trajectory.sha256, 'certificate': trajectory.certificate,
        'evaluation': evaluation_json(evaluation),
    }
    before = trajectory.certificate.get('search', {}).get('criteria_before')
    lines = [
        describe_motion(trajectory, args.output),
        describe_evaluation(evaluation, {'random start': before} if before else None),
    ]
    if known is not None:
        weakness = weak_parameters(judged.robot, judged.experiment, trajectory, known)
        content['after'] = weakness_content(weakness)
        lines.append(describe_weakness(weakness))
    print_results(args, content, '\n'.join([*lines, describe_certificate(trajectory)]))


def _show_refused(args: argparse.Namespace, judged: _Judged) -> None:
    """Show the evaluation of a motion that is not certified, and why it is not."""
    if args.json:
        print_json({
            'sha256': None, 'certificate': None, 'refused': judged.refused,
            'evaluation': evaluation_json(judged.evaluation),
        })
    else:
        # With an error nothing stands on stdout that could be taken for a result.
        say(describe_motion(judged.trajectory, None) + ', not certified')
        say(describe_evaluation(judged.evaluation))
    # Not raised: with --json stdout has its one object already.
    say(f'error: {judged.refused}')
