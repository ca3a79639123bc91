# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""`robot-identification excite`."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from robot_identification.cli.command import add_command
from robot_identification.cli.options import add_json_option
from robot_identification.cli.options import add_robot_options
from robot_identification.cli.options import robot_from_options
from robot_identification.cli.options import seed
from robot_identification.cli.output import end_progress_line
from robot_identification.cli.output import print_json
from robot_identification.cli.output import progress_line
from robot_identification.errors import UsageError
from robot_identification.excitation.design import certify
from robot_identification.excitation.design import design_excitation
from robot_identification.excitation.experiment_file import find_experiment
from robot_identification.excitation.experiment_file import load_experiment
from robot_identification.excitation.optimizers.optimizer import Budget
from robot_identification.excitation.optimizers.optimizer import Progress
from robot_identification.excitation.trajectory import dump_trajectory
from robot_identification.excitation.trajectory import load_trajectory
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.excitation.trajectory import trajectory_csv
from robot_identification.files import check_writable
from robot_identification.files import write_atomically

DEFAULT_RATE = 125.0


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, 'excite', 'design an excitation trajectory and certify it',
        'robot-identification excite --robot ur5 --experiment demo -o trajectory.yaml', run,
    )
    add_robot_options(parser)
    parser.add_argument(
        '--experiment', default='demo', metavar='FILE',
        help='experiment file, or the name of a shipped one (default: %(default)s)',
    )
    parser.add_argument('--evaluate', type=Path, metavar='FILE', help='judge an existing motion')
    parser.add_argument('--seed', type=seed, default=0, metavar='S', help='default: %(default)s')
    parser.add_argument(
        '--time-limit', type=float, default=float('inf'), metavar='SECONDS',
        help='stop with the best so far; a run without it is repeatable',
    )
    parser.add_argument(
        '--max-evaluations', type=int, default=Budget().evaluations, metavar='N',
        help='default: %(default)s',
    )
    parser.add_argument('--csv', type=Path, metavar='FILE', help='write samples of one run')
    parser.add_argument(
        '--rate', type=float, metavar='HZ', help="of the samples; by default the robot's own"
    )
    parser.add_argument('-o', '--output', type=Path, metavar='OUT', help='trajectory file')
    parser.add_argument('--force', action='store_true', help='overwrite what is there already')
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Design or judge a motion."""
    if args.evaluate is None and args.output is None:
        raise UsageError('say where the trajectory goes: -o trajectory.yaml')
    if args.max_evaluations < 1 or not args.time_limit > 0.0:
        raise UsageError('--max-evaluations and --time-limit must be positive')
    if args.rate is not None and not 0.0 < args.rate <= 100_000.0:
        raise UsageError(f'--rate is {args.rate:g} Hz, allowed are above 0 to 100000')
    for path in (args.output, args.csv):
        if path is not None:
            check_writable(path, args.force)
    robot = robot_from_options(args)
    experiment = load_experiment(find_experiment(args.experiment))
    if args.gravity is not None or args.mounting is not None:
        experiment = replace(experiment, gravity=robot.gravity)
    if args.evaluate is not None:
        found = load_trajectory(args.evaluate, check_hash=False)
        if found.joint_names != robot.joint_names:
            raise UsageError(
                f'{args.evaluate} is for the joints {", ".join(found.joint_names)}, {robot.name} '
                f'has {", ".join(robot.joint_names)}'
            )
        trajectory = certify(
            robot, experiment, found, dict(found.certificate.get('search', {}))
        )
    else:
        trajectory = design_excitation(
            robot, experiment, seed=args.seed,
            budget=Budget(args.max_evaluations, args.time_limit), report=_show,
        )
        end_progress_line()
    if args.output is not None:
        write_atomically(args.output, dump_trajectory(trajectory))
    if args.csv is not None:
        rate = args.rate or (robot.sampling_rate if robot.sampling_rate > 0 else DEFAULT_RATE)
        write_atomically(args.csv, trajectory_csv(trajectory, rate))
    if args.json:
        print_json({'sha256': trajectory.sha256, 'certificate': trajectory.certificate})
    else:
        print(describe(trajectory, args.output))
    return 0


def describe(trajectory: Trajectory, path: Path | None) -> str:
    """Return the certificate in words."""
    certificate = trajectory.certificate
    criteria = certificate['criteria_dense']
    lines = [
        f'{trajectory.robot}: {trajectory.form.name}, {trajectory.duration:g} s'
        + (f', written to {path}' if path else ''),
        f'  condition number {criteria["condition_number"]:.4g}, with scaled columns '
        f'{criteria["condition_number_scaled"]:.4g} ({certificate["base_parameters"]} base '
        'parameters in joint frames, dense samples)',
    ]
    for kind, use in certificate['limits'].items():
        lines.append(
            f'  {kind}: at most {use["share"]:.0%} of the margin, {use["joint"]} at '
            f'{use["time"]:.2f} s'
        )
    lines.append(f'  collision: {describe_clearance(certificate["collision"])}')
    lines.append(f'  sha256 {trajectory.sha256}')
    return '\n'.join(lines)


def describe_clearance(entry: Any) -> str:
    """Return what a certificate says of collisions, in words."""
    if not isinstance(entry, dict):
        return str(entry)
    if entry['nearest'] is None:
        return 'nothing to touch'
    obstacles = ', '.join(entry['obstacles']) or 'none'
    return (
        f'{entry["clearance"]:g} m kept at every instant; nearest {" and ".join(entry["pair"])}, '
        f'{entry["nearest"]:.4f} m at {entry["time"]:.2f} s (obstacles: {obstacles})'
    )


def _show(progress: Progress) -> None:
    progress_line(
        f'{progress.share:4.0%}  {progress.evaluations} evaluations, best {progress.best:.4f}'
    )
