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

"""`robot-identification doctor`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.cli.command import add_command
from robot_identification.cli.options import add_json_option
from robot_identification.cli.output import print_json
from robot_identification.errors import DescriptionError
from robot_identification.errors import IdentificationError
from robot_identification.errors import UsageError
from robot_identification.excitation.experiment_file import load_experiment
from robot_identification.excitation.trajectory import load_trajectory
from robot_identification.experiment.bag import find_joint_state_topic
from robot_identification.experiment.bag import read_recording
from robot_identification.experiment.bag import RosbagsBackend
from robot_identification.files import read_yaml
from robot_identification.model.catalogue import load_robot
from robot_identification.model.identified_model import load_identified_model
from robot_identification.model.robot_model import make_robot_model
from robot_identification.model.urdf import read_urdf

UNUSABLE = 4
FEW_DEGREES = 0.05


@dataclass(frozen=True)
class Finding:
    """What the doctor says of one file: facts, warnings, and the error that makes it unusable."""

    path: Path
    kind: str
    facts: tuple[str, ...]
    warnings: tuple[str, ...]
    error: str | None


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, 'doctor', 'say what is wrong with bags, URDFs and configuration files',
        'robot-identification doctor bag robot.urdf experiment.yaml', run,
    )
    parser.add_argument('paths', nargs='+', type=Path, metavar='PATH')
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Examine every path; exit 4 if one is unusable."""
    for path in args.paths:
        if not path.exists():
            raise UsageError(f'no such file: {path}')
    findings = [examine(path) for path in args.paths]
    if args.json:
        print_json({'findings': [
            {'path': f.path, 'kind': f.kind, 'facts': f.facts, 'warnings': f.warnings,
             'error': f.error}
            for f in findings
        ]})
    else:
        for finding in findings:
            print(f'{finding.path}: {finding.kind}')
            for fact in finding.facts:
                print(f'  {fact}')
            for warning in finding.warnings:
                print(f'  warning: {warning}')
            print(f'  error: {finding.error}' if finding.error else '  usable')
    return UNUSABLE if any(finding.error for finding in findings) else 0


def examine(path: Path) -> Finding:
    """Return what is to be said of a file or bag."""
    kind, examination = _examination(path)
    try:
        facts, warnings = examination(path)
    except IdentificationError as error:
        return Finding(path, kind, (), (), str(error))
    return Finding(path, kind, tuple(facts), tuple(warnings), None)


_Examination = Callable[[Path], tuple[list[str], list[str]]]


def _examination(path: Path) -> tuple[str, _Examination]:
    if path.is_dir() or path.suffix in ('.mcap', '.db3'):
        return 'bag', _examine_bag
    if path.suffix in ('.urdf', '.xml'):
        return 'URDF', _examine_urdf
    return 'configuration', _examine_yaml


def _examine_bag(path: Path) -> tuple[list[str], list[str]]:
    backend = RosbagsBackend()
    topic = find_joint_state_topic(path, None, backend)
    first = next(iter(backend.joint_states(path, topic)))
    recording = read_recording(path, sorted(first.name), topic=topic)
    steps = np.diff(recording.stamps)
    period = float(np.median(steps)) if steps.size else float('nan')
    facts = [
        f'{len(recording)} joint states on {topic}, {recording.duration:.2f} s, '
        f'{1.0 / period:.1f} Hz by the median period',
        f'joints: {", ".join(first.name)}',
        f'metadata: {", ".join(f"{k}={v}" for k, v in recording.metadata.items()) or "none"}',
    ]
    warnings = []
    if recording.stamps_from == 'log':
        warnings.append('header stamps are absent; the time of recording has to serve')
    for kind, count in {
        'come out of order': np.count_nonzero(steps < 0.0),
        'repeat a stamp': np.count_nonzero(steps == 0.0),
        'follow a pause of more than three periods': np.count_nonzero(steps > 3.5 * period),
    }.items():
        if count:
            warnings.append(f'{count} joint states {kind}')
    if 'effort_unit' not in recording.metadata:
        warnings.append('the bag does not say the unit of its effort: give --effort-unit')
    for index, joint in enumerate(recording.joint_names):
        effort, q = recording.effort[:, index], recording.q[:, index]
        if not np.isfinite(effort).any():
            warnings.append(f'{joint}: effort is absent')
        elif not np.nan_to_num(effort).any():
            warnings.append(f'{joint}: effort is zero throughout')
        if np.ptp(q) < FEW_DEGREES:
            warnings.append(f'{joint} moves by {np.ptp(q):.4f} only: it cannot be identified')
        if not np.all(np.isfinite(q)):
            warnings.append(f'{joint}: {np.count_nonzero(~np.isfinite(q))} positions not finite')
    return facts, warnings


def _examine_urdf(path: Path) -> tuple[list[str], list[str]]:
    urdf = read_urdf(path)
    robot = make_robot_model(urdf)
    facts = [f'{urdf.name}: joints {", ".join(robot.joint_names)}']
    warnings = [f'link {link} is moved by a joint and has no inertial'
                for link in urdf.links_without_inertial]
    warnings += [
        f'joint {joint.name} has no {what} limit'
        for joint in urdf.joints
        for what, value in (('velocity', joint.velocity), ('effort', joint.effort))
        if np.isinf(value)
    ]
    return facts, warnings


def _examine_yaml(path: Path) -> tuple[list[str], list[str]]:
    content = read_yaml(path)
    if 'form' in content:
        trajectory = load_trajectory(path)
        return [f'trajectory of {trajectory.robot}, {trajectory.duration:g} s, hash correct'], []
    if 'base_parameters' in content:
        model = load_identified_model(path)
        return [f'identified model of {model.robot.name}, {model.reduction.rank} parameters'], []
    if 'trajectory' in content:
        load_experiment(path)
        return ['experiment'], []
    if 'urdf' in content:
        robot = load_robot(str(path))
        unknown = ~np.isfinite(robot.drives.drive_gain)
        return [f'robot {robot.name}, {robot.n} joints'], [
            f'drive gain of {joint} is unknown'
            for joint, missing in zip(robot.joint_names, unknown, strict=True)
            if missing
        ]
    raise DescriptionError(
        f'{path} is no robot, experiment, trajectory or model file of this package '
        f'(keys: {", ".join(map(str, content))})'
    )
