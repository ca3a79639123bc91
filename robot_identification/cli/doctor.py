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
from robot_identification.errors import DataError
from robot_identification.errors import DescriptionError
from robot_identification.errors import IdentificationError
from robot_identification.errors import MissingDependencyError
from robot_identification.errors import UsageError
from robot_identification.excitation.experiment_file import load_experiment
from robot_identification.excitation.trajectory import load_trajectory
from robot_identification.experiment.bag import find_joint_names
from robot_identification.experiment.bag import read_recording
from robot_identification.files import read_yaml
from robot_identification.model.catalogue import load_robot
from robot_identification.model.identified_model import IdentifiedModel
from robot_identification.model.kinematic_calibration import DhCorrections
from robot_identification.model.kinematic_calibration import read_calibration
from robot_identification.model.kinematic_filter import KinematicFilter
from robot_identification.model.link_frames import check_table
from robot_identification.model.link_table import read_link_table
from robot_identification.model.link_table import urdf_of_link_table
from robot_identification.model.model_file import load_identified_model
from robot_identification.model.plausibility import find_implausibilities
from robot_identification.model.regressor import prior_inertial_parameters
from robot_identification.model.robot_model import make_robot_model
from robot_identification.model.urdf import parse_urdf
from robot_identification.model.urdf import read_urdf
from robot_identification.model.urdf import Urdf
from robot_identification.processing.process import process

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
        subparsers, 'doctor', 'say what is wrong with bags, URDFs, xacros and configuration files',
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
    except MissingDependencyError:
        # It says nothing of the file.
        raise
    except IdentificationError as error:
        return Finding(path, kind, (), (), str(error))
    return Finding(path, kind, tuple(facts), tuple(warnings), None)


_Examination = Callable[[Path], tuple[list[str], list[str]]]


def _examination(path: Path) -> tuple[str, _Examination]:
    if path.is_dir() or path.suffix in ('.mcap', '.db3', '.zstd', '.csv'):
        return 'bag', _examine_bag
    if path.suffix in ('.urdf', '.xml'):
        return 'URDF', _examine_urdf
    if path.suffix == '.xacro':
        return 'xacro', _examine_urdf
    if path.suffix == '.conf':
        return 'calibration', _examine_calibration
    return 'configuration', _examine_yaml


def _examine_bag(path: Path) -> tuple[list[str], list[str]]:
    joints = find_joint_names(path)
    if not joints:
        raise DataError(
            f'{path} names no joint: a table needs columns time, q_JOINT, dq_JOINT, effort_JOINT, '
            'or a mapping beside it (docs/formats/bag.md)'
        )
    recording = read_recording(path, sorted(joints))
    steps = np.diff(recording.stamps)
    period = float(np.median(steps)) if steps.size else float('nan')
    rate = 1.0 / period if period else float('inf')
    channels = ', '.join(f'{name} ({len(rows)})' for name, rows in recording.channels.items())
    facts = [
        f'{len(recording)} joint states on {recording.topic or "the lines of a table"}, '
        f'{recording.duration:.2f} s, {rate:.1f} Hz by the median period',
        f'joints: {", ".join(joints)}',
        f'besides: {channels or "nothing that is used"}',
        f'metadata: {", ".join(f"{k}={v}" for k, v in recording.metadata.items()) or "none"}',
    ]
    warnings = list(recording.notes)
    if recording.completeness.state == 'recovered':
        warnings.append(f'{recording.completeness.describe()}: {recording.completeness.cause}')
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
    try:
        process(recording, KinematicFilter(), 'Nm')
    except DataError as error:
        warnings.append(f'`identify` refuses it: {error}')
    return facts, warnings


def _examine_urdf(path: Path) -> tuple[list[str], list[str]]:
    urdf = read_urdf(path)
    robot = make_robot_model(urdf)
    facts = [f'{urdf.name}: joints {", ".join(robot.joint_names)}', *_bodies(urdf)]
    facts += [f'joint {joint.name} mimics {joint.mimic}' for joint in urdf.mimic_joints]
    warnings = [f'link {link} is moved by a joint and has no inertial with a mass'
                for link in urdf.links_without_inertial]
    warnings += [f'link {link} is a point mass: it has mass and no inertia'
                 for link in urdf.point_masses]
    warnings += [
        f'link {link.name} is no rigid body: {link.fault}; it never moves and weighs '
        f'{link.mass:g} kg, so nothing depends on it'
        for link in urdf.links if link.fault is not None
    ]
    warnings += [
        f'joint {joint.name} has no {what} limit'
        for joint in urdf.joints
        for what, value in (('velocity', joint.velocity), ('effort', joint.effort))
        if np.isinf(value)
    ]
    return facts, warnings


def _bodies(urdf: Urdf) -> list[str]:
    """Return what a URDF says of masses and inertias."""
    bodies = [link for link in urdf.links if link.mass > 0.0]
    moved = [link for link in bodies if link.moved]
    consistent = sum(link.fault is None for link in bodies)
    return [
        f'total mass {sum(link.mass for link in bodies):.6g} kg, '
        f'{sum(link.mass for link in moved):.6g} kg of it moved by joints',
        f'{len(urdf.links)} links, {len(bodies)} of them with mass; the inertia of {consistent} '
        'is one that a rigid body can have',
    ]


def _examine_calibration(path: Path) -> tuple[list[str], list[str]]:
    calibration = read_calibration(path)
    kind = (
        f'corrections of a Denavit-Hartenberg table of {calibration.d.size} joints'
        if isinstance(calibration, DhCorrections)
        else f'poses of {len(calibration.poses)} joints'
    )
    return [f'{kind}; `robot-identification urdf --calibration` says whether they fit an arm'], []


def _examine_yaml(path: Path) -> tuple[list[str], list[str]]:
    content = read_yaml(path)
    if 'form' in content:
        trajectory = load_trajectory(path)
        return [f'trajectory of {trajectory.robot}, {trajectory.duration:g} s, hash correct'], []
    if 'base_parameters' in content:
        return _examine_model(load_identified_model(path))
    if 'kinematics' in content:
        return _examine_calibration(path)
    if 'trajectory' in content:
        load_experiment(path)
        return ['experiment'], []
    if 'convention' in content:
        table = read_link_table(path)
        parse_urdf(urdf_of_link_table(table), str(path))
        return [f'link table of {table.name}, joints '
                f'{", ".join(row.joint for row in table.rows)}'], []
    if 'urdf' in content:
        robot = load_robot(str(path))
        if robot.denavit_hartenberg is not None:
            check_table(robot, robot.denavit_hartenberg)
        unknown = ~np.isfinite(robot.drives.drive_gain)
        return [f'robot {robot.name}, {robot.n} joints'], [
            f'drive gain of {joint} is unknown'
            for joint, missing in zip(robot.joint_names, unknown, strict=True)
            if missing
        ]
    raise DescriptionError(
        f'{path} is no robot, link table, calibration, experiment, trajectory or model file of '
        'this package '
        f'(keys: {", ".join(map(str, content))})'
    )


def _examine_model(model: IdentifiedModel) -> tuple[list[str], list[str]]:
    robot, parameters = model.robot, model.parameters
    facts = [f'identified model of {robot.name}, {model.reduction.rank} parameters']
    theta = model.theta_consistent
    if theta is None:
        return facts, [model.consistency_note]
    rotors = theta[parameters.reflected_inertia_slice] if parameters.reflected_inertia else None
    found = find_implausibilities(
        robot, theta[:10 * robot.n], maker=prior_inertial_parameters(robot),
        reflected_inertia=rotors,
    )
    if not found:
        facts.append("its standard parameters are those of possible bodies, near the maker's")
    return facts, [implausibility.text for implausibility in found]
