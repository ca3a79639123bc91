# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification doctor`."""

import argparse
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from robot_identification import load_experiment, load_model, load_robot
from robot_identification.cli.doctor_arm import (
    examine_robot, examine_urdf, ExamineOptions, Finding,
)
from robot_identification.cli.doctor_recording import examine_recording, read_known
from robot_identification.cli.options import (
    add_description_options, add_force_option, add_mapping_option, add_save_mapping_option,
    parse_xacro_arguments,
)
from robot_identification.cli.output import print_results
from robot_identification.cli.tables import save_mapping
from robot_identification.errors import (
    DescriptionError, IdentificationError, MissingDependencyError, UsageError,
)
from robot_identification.excitation import (
    describe_unchecked, describe_waived_collision, load_trajectory, unchecked_from_content,
)
from robot_identification.files import read_yaml
from robot_identification.model import (
    DhCorrections, find_implausibilities, parse_urdf, prior_inertial_parameters, read_calibration,
    read_link_table, read_urdf, RobotModel, Urdf,
)
from robot_identification.recording import is_table, understand_table
from robot_identification.texts import printable

EXAMPLE = 'robot-identification doctor bag robot.urdf experiment.yaml'
UNUSABLE = 4  # exit code for data or descriptions that cannot be used
# Kinds of files by their suffix; tables have many, and all else is a bag.
KINDS = {
    '.urdf': 'URDF', '.xml': 'URDF', '.xacro': 'xacro', '.conf': 'calibration',
    '.yaml': 'configuration', '.yml': 'configuration',
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument('paths', nargs='*', type=Path, metavar='PATH')
    parser.add_argument('--topic', metavar='TOPIC', help='topic of the joint states in the bags')
    add_mapping_option(parser)
    group = parser.add_argument_group('arm')
    group.add_argument(
        '--robot', metavar='R',
        help='arm of the recordings, for the check of their effort; by default a URDF or robot '
        'YAML among the paths, or the name in a bag',
    )
    add_description_options(group)
    add_save_mapping_option(parser)
    add_force_option(parser, 'overwrite an existing mapping')


def run(args: argparse.Namespace) -> int:
    """Examine every path; exit 4 if one is unusable."""
    # A description that is named as such is examined like one among the paths.
    described = [] if args.urdf is None or args.urdf in args.paths else [args.urdf]
    paths = [*args.paths, *described]
    if not paths:
        raise UsageError('name what to examine: bags, tables, URDFs or configuration files')
    for path in paths:
        if not path.exists():
            raise UsageError(f'no such file: {path}')
    arguments = parse_xacro_arguments(args.xacro_arguments)
    options = ExamineOptions(
        arguments, args.mapping, args.topic, robots=_arms(args, arguments), joints=args.joints
    )
    findings = [examine(path, options) for path in paths]
    if args.save_mapping is not None:
        tables = [
            understand_table(
                path, read_known(path, options)[1].joint_names, mapping=options.mapping
            )
            for path in [path for path in paths if is_table(path)][:1]
        ]
        save_mapping(args.save_mapping, tables, args.force)
    # Each line is one, with any characters in its names.
    lines = [printable(line) for finding in findings for line in finding.lines()]
    print_results(args, {'findings': [vars(finding) for finding in findings]}, '\n'.join(lines))
    return UNUSABLE if any(finding.error for finding in findings) else 0


def _arms(args: argparse.Namespace, arguments: Mapping[str, str]) -> list[RobotModel]:
    """Return the arm that is named, else those of the descriptions among the paths."""

    def load(path: Path | None, robot: str | None = None) -> RobotModel:
        urdf: Path | Urdf | None = path
        if path is not None and _kind(path) != 'configuration':
            urdf = read_urdf(path, arguments=arguments)
        return load_robot(robot, urdf=urdf, joints=args.joints)

    if args.robot is not None:
        return [load(args.urdf, args.robot)]
    arms = []
    for path in args.paths if args.urdf is None else [args.urdf]:
        # What is wrong with it is said where it is examined.
        with suppress(IdentificationError):
            keys = read_yaml(path) if _kind(path) == 'configuration' else {}
            if 'urdf' in keys and path != args.urdf:
                arms.append(load(None, str(path)))
            elif 'convention' in keys or path == args.urdf or _kind(path) in ('URDF', 'xacro'):
                arms.append(load(path))
    return arms


def _kind(path: Path) -> str:
    return 'table' if is_table(path) else KINDS.get(path.suffix, 'bag')


def examine(path: Path, options: ExamineOptions | None = None) -> Finding:
    """Return the findings on a file or bag."""
    found = Finding(path, _kind(path))
    try:
        EXAMINATIONS[found.kind](path, options or ExamineOptions(), found)
    except MissingDependencyError:
        # It says nothing of the file.
        raise
    except IdentificationError as error:
        found.error = str(error)
    found.warnings = list(dict.fromkeys(found.warnings))
    found.unchecked = list(dict.fromkeys(found.unchecked))
    return found


def _examine_configuration(path: Path, options: ExamineOptions, found: Finding) -> None:
    content = read_yaml(path)
    for key, examination in CONFIGURATIONS.items():
        if key in content:
            examination(path, options, found)
            return
    raise DescriptionError(
        f'{path} is not a robot, link table, calibration, experiment, trajectory or model file of '
        f'this package (keys: {", ".join(map(str, content))})'
    )


def _examine_calibration(path: Path, options: ExamineOptions, found: Finding) -> None:
    calibration = read_calibration(path)
    kind = (
        f'corrections of a Denavit-Hartenberg table of {calibration.d.size} joints'
        if isinstance(calibration, DhCorrections)
        else f'poses of {len(calibration)} joints'
    )
    found.facts.append(
        f'{kind}; `robot-identification urdf --calibration` checks whether they fit an arm'
    )


def _examine_trajectory(path: Path, options: ExamineOptions, found: Finding) -> None:
    trajectory = load_trajectory(path)
    certificate = trajectory.certificate
    gaps = unchecked_from_content(certificate.get('not_checked', []), str(path))
    found.facts.append(
        f'trajectory of {trajectory.robot}, {trajectory.duration:g} s, hash correct'
    )
    found.warnings += [describe_unchecked(gap, trajectory.joint_names) for gap in gaps]
    if not certificate:
        found.warnings.append('it has no certificate: make one with `excite --evaluate`')
    if waived := describe_waived_collision(certificate):
        found.warnings.append(waived)
    found.unchecked += [gap.kind for gap in gaps]


def _examine_model(path: Path, options: ExamineOptions, found: Finding) -> None:
    model = load_model(path)
    robot, parameters, theta = model.robot, model.parameters, model.theta_consistent
    found.facts.append(f'identified model of {robot.name}, {model.reduction.rank} parameters')
    if theta is None:
        found.warnings.append(model.consistency_note)
        return
    rotors = theta[parameters.reflected_inertia_slice] if parameters.reflected_inertia else None
    found.warnings += [one.text for one in find_implausibilities(
        robot, theta[:10 * robot.n], maker=prior_inertial_parameters(robot),
        reflected_inertia=rotors,
    )]
    if not found.warnings:
        found.facts.append(
            "its standard parameters are those of possible bodies, near the maker's"
        )


def _examine_experiment(path: Path, options: ExamineOptions, found: Finding) -> None:
    load_experiment(path)
    found.facts.append('experiment')


def _examine_link_table(path: Path, options: ExamineOptions, found: Finding) -> None:
    urdf = parse_urdf(read_link_table(path), str(path))
    joints = ', '.join(joint.name for joint in urdf.joints)
    found.facts.append(f'link table of {urdf.name}, joints {joints}')


Examination = Callable[[Path, ExamineOptions, Finding], None]
# By the key that a YAML file of the kind has.
CONFIGURATIONS: dict[str, Examination] = {
    'form': _examine_trajectory, 'base_parameters': _examine_model,
    'kinematics': _examine_calibration, 'trajectory': _examine_experiment,
    'convention': _examine_link_table, 'urdf': examine_robot,
}
EXAMINATIONS: dict[str, Examination] = {
    'table': examine_recording, 'bag': examine_recording, 'URDF': examine_urdf,
    'xacro': examine_urdf, 'calibration': _examine_calibration,
    'configuration': _examine_configuration,
}
