# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification doctor`."""

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np
from robot_identification import load_experiment, load_model, load_robot, read_recording
from robot_identification.arrays import FloatArray
from robot_identification.cli.options import (
    add_description_options, add_force_option, add_mapping_option, add_save_mapping_option,
    parse_xacro_arguments,
)
from robot_identification.cli.output import print_results
from robot_identification.cli.tables import save_mapping
from robot_identification.errors import (
    DataError, DescriptionError, IdentificationError, MissingDependencyError,
    NotIdentifiableError, UsageError,
)
from robot_identification.estimation import IdentifyOptions, survey_recordings
from robot_identification.excitation import (
    describe_unchecked, describe_waived_collision, FEW_HELD, find_holding, hardware_limits,
    load_trajectory, unchecked_from_content, unknown_limits,
)
from robot_identification.files import read_yaml
from robot_identification.model import (
    check_table, describe_arguments, describe_placeholders, DhCorrections, EFFORT_UNITS,
    find_implausibilities, held_leaders, IdentifiedModel, known_robots, make_robot_model,
    massless_joints, parse_urdf, prior_inertial_parameters, reach_of_joints,
    read_calibration, read_link_table, read_urdf, RobotModel, SeveralArmsError, Urdf,
    xacro_arguments,
)
from robot_identification.processing import (
    check_robot_name, compare_with_current, count_missing, current_facts, current_remarks,
    hold_as_recorded, judge_effort, read_arm,
)
from robot_identification.recording import (
    describe_table, DRIVER, driver_remarks, find_joint_names, is_table, NOT_KNOWN,
    read_driver_record, Recording, understand_table,
)
from robot_identification.texts import printable
from robot_identification.validation import is_low_rate

EXAMPLE = 'robot-identification doctor bag robot.urdf experiment.yaml'
UNUSABLE = 4  # exit code for data or descriptions that cannot be used
FEW_DEGREES = 0.05  # [rad]; chosen: about 3 degrees
NOTABLE_JITTER = 0.15  # of the period; chosen: schedulers of desktops stay below it


@dataclass(frozen=True)
class ExamineOptions:
    """Options of reading files, each for those of a kind."""

    arguments: Mapping[str, str] = field(default_factory=dict)  # of a xacro, by name
    mapping: Path | None = None  # columns and units of a table
    topic: str | None = None  # joint states of a bag
    robots: Sequence[RobotModel] = ()  # arms that recordings may be of
    joints: Sequence[str] | None = None  # of descriptions, which move; by default an arm's
    effort_unit: str | None = None  # of recordings, where the user states it


@dataclass(frozen=True)
class Finding:
    """Finding of the doctor about one file."""

    facts: Sequence[str] = ()  # what is in it
    warnings: Sequence[str] = ()  # what is wrong with it, the worst first
    unchecked: Sequence[str] = ()  # quantities of a motion that cannot be checked with it
    error: str | None = None  # why it cannot be used
    path: Path = Path()  # the file
    kind: str = ''  # what it is
    notes: Sequence[str] = ()  # what `identify` notes of the data

    @property
    def conclusion(self) -> str:
        """Return whether it can be used, in words."""
        if self.error is not None:
            return 'not usable'
        if self.unchecked:
            return f'usable, without a check of {", ".join(self.unchecked)}'
        return 'usable'


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
            understand_table(path, _read(path, options)[1].joint_names, mapping=options.mapping)
            for path in [path for path in paths if is_table(path)][:1]
        ]
        save_mapping(args.save_mapping, tables, args.force)
    # Each line is one, with any characters in its names.
    lines = [printable(line) for finding in findings for line in _lines(finding)]
    content = {'findings': [
        {'path': finding.path, 'kind': finding.kind, **vars(finding)} for finding in findings
    ]}
    print_results(args, content, '\n'.join(lines))
    return UNUSABLE if any(finding.error for finding in findings) else 0


def _arms(args: argparse.Namespace, arguments: Mapping[str, str]) -> list[RobotModel]:
    """Return the arm that is named, else those of the descriptions among the paths."""
    joints = args.joints

    def described(path: Path) -> Path | Urdf:
        is_text = path.suffix in ('.yaml', '.yml')
        return path if is_text else read_urdf(path, arguments=arguments)

    if args.robot is not None:
        urdf = None if args.urdf is None else described(args.urdf)
        return [load_robot(args.robot, urdf=urdf, joints=joints)]
    arms = []
    for path in args.paths if args.urdf is None else [args.urdf]:
        try:
            is_yaml = path.suffix in ('.yaml', '.yml')
            keys = read_yaml(path) if is_yaml else {}
            if 'urdf' in keys and path != args.urdf:
                arms.append(load_robot(str(path), joints=joints))
            elif (
                'convention' in keys or path == args.urdf
                or path.suffix in ('.urdf', '.xml', '.xacro')
            ):
                arms.append(load_robot(urdf=described(path), joints=joints))
        except IdentificationError:
            # What is wrong with it is said where it is examined.
            continue
    return arms


def _lines(finding: Finding) -> list[str]:
    """Return what is printed of a file: the worst first, and the conclusion last."""
    error = [] if finding.error is None else f'error: {finding.error}'.split('\n')
    return [
        f'{finding.path}: {finding.kind}',
        # Deeper than other lines, so that no name can stand for one of them.
        *(f'  {line}' if line.startswith(('error: ', '  ')) else f'    {line}' for line in error),
        *(f'  warning: {text}' for text in (*finding.warnings, *finding.notes)),
        *(f'  {fact}' for fact in finding.facts),
        f'  {finding.conclusion}',
    ]


def examine(path: Path, options: ExamineOptions | None = None) -> Finding:
    """Return the findings on a file or bag."""
    kind, examination = _examination(path, options or ExamineOptions())
    try:
        found = examination(path)
    except MissingDependencyError:
        # It says nothing of the file.
        raise
    except IdentificationError as error:
        found = Finding(error=str(error))
    return replace(found, path=path, kind=kind)


def _examination(
    path: Path, options: ExamineOptions
) -> tuple[str, Callable[[Path], Finding]]:
    if is_table(path):
        return 'table', partial(_examine_recording, options=options)
    if path.suffix in ('.urdf', '.xml'):
        return 'URDF', partial(_examine_urdf, options=options)
    if path.suffix == '.xacro':
        return 'xacro', partial(_examine_urdf, options=options)
    if path.suffix == '.conf':
        return 'calibration', _examine_calibration
    if path.suffix in ('.yaml', '.yml'):
        return 'configuration', _examine_yaml
    return 'bag', partial(_examine_recording, options=options)


def _examine_recording(path: Path, options: ExamineOptions) -> Finding:
    """Return what a bag or table holds, and how `identify` judges it."""
    robot, recording = _read(path, options)
    period = _median_period(recording)
    rate = 1.0 / period if period else float('inf')
    # Those out of order are not missing.
    missing = count_missing(np.diff(np.sort(recording.stamps)), period)
    channels = ', '.join(f'{name} ({len(rows)})' for name, rows in recording.channels.items())
    noted = {key: value for key, value in recording.metadata.items() if key != DRIVER}
    what = f'joint states on {recording.topic}' if recording.topic else 'rows'
    facts = [
        *_table_facts(path, options, robot, recording),
        f'{len(recording)} {what}, {recording.duration:.2f} s, '
        f'{rate:.1f} Hz by the median period' + (f', {missing} missing' if missing else ''),
        f'joints: {", ".join(recording.joint_names)}',
        *_other_joints(path, options, robot, recording),
        f'besides: {channels or "nothing that is used"}',
        f'metadata: {", ".join(f"{k}={v}" for k, v in noted.items()) or "none"}',
        *_driver_facts(recording),
    ]
    warnings = [*_joint_warnings(recording), *_time_warnings(recording)]
    # Joints are sorted by name without the arm: which order is the arm's is not known.
    currents = compare_with_current(recording, order_known=robot is not None)
    facts += current_facts(currents)
    unit = options.effort_unit or recording.metadata.get('effort_unit')
    if unit is not None:
        warnings += driver_remarks([('the recording', recording.metadata)], unit)
        warnings += current_remarks(currents, unit)
    else:
        warnings.append('the recording does not state the unit of its effort: give --effort-unit')
    try:
        judgement = _judge(path, options, robot, recording)
    except (DataError, NotIdentifiableError) as error:
        return Finding(
            facts, [*warnings, *_clock_warnings(recording)], notes=recording.notes,
            error=f'`identify` refuses it: {error}',
        )
    return Finding(
        [*facts, *judgement.facts], [*judgement.warnings, *warnings], notes=judgement.notes
    )


def _read(path: Path, options: ExamineOptions) -> tuple[RobotModel | None, Recording]:
    """
    Return a recording of the first arm whose joints it has, as `identify` reads it.

    Without such an arm it has all joints that it names. A single arm is the one that is meant:
    what `identify` says of it is raised.
    """
    for robot in options.robots:
        try:
            return robot, read_arm(robot, path, topic=options.topic, mapping=options.mapping)
        except DataError:
            if len(options.robots) == 1:
                raise
    joints = find_joint_names(path, topic=options.topic, mapping=options.mapping)
    if not joints:
        raise DataError(
            f'{path} has no column that is recognized as the position of a joint: name them as in '
            'docs/your_own_log.md, or in a mapping beside it (docs/formats/mapping.md); with a '
            'URDF or robot YAML beside the file, doctor drafts the mapping'
        )
    joints = joints if is_table(path) else tuple(sorted(joints))
    recording = read_recording(path, joints, topic=options.topic, mapping=options.mapping)
    named = recording.metadata.get('robot')
    if not options.robots and named in [known.name for known in known_robots()]:
        robot = load_robot(str(named))
        with suppress(DataError):
            return robot, read_arm(robot, path, topic=options.topic, mapping=options.mapping)
    return None, recording


def _table_facts(
    path: Path, options: ExamineOptions, robot: RobotModel | None, recording: Recording
) -> list[str]:
    if not is_table(path):
        return []
    opened = understand_table(path, recording.joint_names, mapping=options.mapping)
    units = () if robot is None else robot.position_units
    return [line.strip() for line in describe_table(opened, units)[1:]]


def _other_joints(
    path: Path, options: ExamineOptions, robot: RobotModel | None, recording: Recording
) -> list[str]:
    """Return which joints a bag names in addition to those of the arm."""
    if robot is None or is_table(path):
        return []
    named: Sequence[str] = ()
    with suppress(DataError):
        named = find_joint_names(path, topic=options.topic)
    others = [name for name in named if not name.endswith(recording.joint_names)]
    return [f'joints that are not of {robot.name}: {", ".join(others)}'] if others else []


def _judge(
    path: Path, options: ExamineOptions, robot: RobotModel | None, recording: Recording
) -> Finding:
    """Return the judgement of `identify`, and what the effort is; raise what `identify` raises."""
    if robot is None:
        judged = [
            joint for joint, effort in zip(recording.joint_names, recording.effort.T, strict=True)
            if np.isfinite(effort).any()
        ]
        if 0 < len(judged) < len(recording.joint_names):
            # An arm has an effort, a gripper and wheels need none.
            recording = read_recording(
                path, judged, topic=options.topic, mapping=options.mapping
            )
        dataset, = survey_recordings(None, [recording], 'Nm', IdentifyOptions()).datasets
        of_which = 'give its arm with --robot or --urdf' if not options.robots else (
            f'it has not the joints of {" or ".join(robot.name for robot in options.robots)}'
        )
        return Finding(
            [f'the kind of its effort was not checked: {of_which}'], notes=dataset.notes
        )
    check_robot_name(recording, robot.name)
    robot, held = hold_as_recorded(robot, [recording])
    recorded = recording.metadata.get('effort_unit')
    stated = options.effort_unit or recorded or robot.effort_unit
    stated = stated if stated in EFFORT_UNITS else None
    dataset, = survey_recordings(robot, [recording], stated or 'Nm', IdentifyOptions()).datasets
    meaning, warnings = judge_effort(robot, [dataset]), []
    if stated is None and meaning.kind not in (None, 'Nm'):
        # What is said of the effort of each joint is said in its unit.
        kind = str(meaning.kind)
        dataset, = survey_recordings(robot, [recording], kind, IdentifyOptions()).datasets
    # Of a unit that is the user's word, `identify` says itself what speaks against it.
    if options.effort_unit is None and meaning.contradicts(str(recorded)):
        warnings.append(
            f'it states its effort in {recorded}, but the effort is '
            f'{EFFORT_UNITS[str(meaning.kind)].description}: give --effort-unit {meaning.kind}'
        )
    if stated is not None:
        warnings += [one.text for one in dataset.contradictions]
    if meaning.mounting:
        warnings.append(
            f'{meaning.mounting} fits the effort better than the stated mounting: give '
            '--mounting or --gravity'
        )
    return Finding(
        [meaning.describe()], warnings,
        notes=(*held, *dataset.notes),
    )


def _driver_facts(recording: Recording) -> list[str]:
    """Return what the recorder knew of the driver, and what it did not; nothing without notes."""
    record = read_driver_record(recording.metadata)
    if record is None:
        return []
    described = record.describe()
    lacking = [title for title, text in described if text == NOT_KNOWN]
    if len(lacking) == len(described):
        return ['driver: unknown to the recorder']
    return [
        *(f'{title}: {text}' for title, text in described if text != NOT_KNOWN),
        *([f'unknown of the driver: {", ".join(lacking)}'] if lacking else []),
    ]


def _median_period(recording: Recording) -> float:
    steps = np.diff(recording.stamps)
    return float(np.median(steps)) if steps.size else float('nan')


def _joint_warnings(recording: Recording) -> list[str]:
    """Return what is wrong with the signals of single joints."""
    warnings = []
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
    return warnings


def _time_warnings(recording: Recording) -> list[str]:
    """Return what is missing of a recording, and what is wrong with its stamps."""
    warnings = []
    if recording.completeness.state == 'recovered':
        warnings.append(f'{recording.completeness.describe()}: {recording.completeness.cause}')
    steps, period = np.diff(recording.stamps), _median_period(recording)
    warnings += _sampling_warnings(steps, period)
    repeated = np.count_nonzero(steps == 0.0)
    if repeated:
        warnings.append(f'{repeated} joint states repeat a stamp')
    return warnings


def _clock_warnings(recording: Recording) -> list[str]:
    """Return what is wrong with the clock of a recording that cannot be processed."""
    warnings = []
    if recording.stamps_from == 'log':
        warnings.append('header stamps are absent; the time of recording is used')
    steps, period = np.diff(recording.stamps), _median_period(recording)
    for kind, count in {
        'come out of order': np.count_nonzero(steps < 0.0),
        'follow a pause of more than three periods': np.count_nonzero(steps > 3.5 * period),
    }.items():
        if count:
            warnings.append(f'{count} joint states {kind}')
    return warnings


def _sampling_warnings(steps: FloatArray, period: float) -> list[str]:
    """Return what the rate and the clock of a recording cost."""
    warnings = []
    if period > 0.0 and is_low_rate(1.0 / period):
        warnings.append(
            f'{1.0 / period:.3g} Hz is slow: acceleration can be computed for motion below about '
            f'{0.1 / period:.2g} Hz; record faster, or excite slowly'
        )
    usual = steps[(steps > 0.0) & (steps < 3.5 * period)]
    jitter = float(np.std(usual)) / period if usual.size else 0.0
    if jitter > NOTABLE_JITTER:
        warnings.append(
            f'the clock jitters: intervals vary by {jitter:.0%} of the period (standard '
            'deviation), which adds noise to derivatives; log the time of the measurement, not '
            'that of writing'
        )
    return warnings


def _examine_urdf(path: Path, options: ExamineOptions) -> Finding:
    urdf = read_urdf(path, arguments=options.arguments)
    facts: list[str] = []
    warnings: list[str] = []
    unchecked: list[str] = []
    declared = xacro_arguments(path, options.arguments)
    if declared:
        facts.append(f'xacro arguments: {describe_arguments(declared)}')
    robots, refusals = _arms_of_urdf(urdf, options.joints)
    several = len(robots) + len(refusals) > 1
    if several:
        facts.append(
            f'{len(robots) + len(refusals)} arms: every other command needs the joints of one, '
            'after --joints'
        )
    warnings += [
        f'not usable: --joints {" ".join(joints)}: {message}'
        for joints, message in refusals.items()
    ]
    facts += _bodies(urdf)
    for robot in robots:
        massless = massless_joints(robot)
        unknown = unknown_limits(robot)
        # None before version 1.2 of URDF can state one: that is no fault of this file.
        unlimited = unknown.pop('acceleration', ())
        facts.append(
            f'--joints {" ".join(robot.joint_names)}' if several
            else f'{urdf.name}: joints {", ".join(robot.joint_names)}'
        )
        facts += robot.remarks
        if unlimited:
            facts.append(
                f'acceleration limits: none is stated of {", ".join(unlimited)}; '
                '<limit acceleration=".."> of URDF 1.2 or a robot YAML does'
            )
        warnings += _gap_warnings(robot, massless, unknown) + _link_warnings(robot, massless)
        unchecked += _unchecked(massless, unknown)
    facts += [f'joint {joint.name} mimics {joint.mimic}' for joint in urdf.mimic_joints]
    carried = frozenset[str]().union(*(robot.carried_links for robot in robots))
    facts += [*urdf.remarks, *_harmless_faults(urdf, carried, refusals)]
    return Finding(
        facts, list(dict.fromkeys(warnings)), list(dict.fromkeys(unchecked)),
        None if robots else 'none of its arms can be used',
    )


def _arms_of_urdf(
    urdf: Urdf, joints: Sequence[str] | None
) -> tuple[list[RobotModel], dict[tuple[str, ...], str]]:
    """
    Return the arms of a description, and by joints why others of several cannot be used.

    With `joints`, it is the one of these.
    """
    try:
        return [make_robot_model(urdf, joints=joints)], {}
    except SeveralArmsError as error:
        arms = error.arms
    robots: list[RobotModel] = []
    refusals: dict[tuple[str, ...], str] = {}
    for joints in arms:
        try:
            robots.append(make_robot_model(urdf, joints=joints))
        except DescriptionError as error:
            refusals[joints] = str(error)
    return robots, refusals


def _link_warnings(robot: RobotModel, massless: Sequence[str]) -> list[str]:
    """Return which links of an arm have no mass or extent, and which joints within it stand."""
    urdf = robot.urdf
    empty = [
        link.name for link in urdf.links
        if link.name in urdf.links_without_inertial and link.joint in robot.joint_names
        and link.joint not in massless
    ]
    points = [link for link in urdf.point_masses if link in robot.carried_links]
    return [
        *(f'joint {leader} is held fixed within the arm, since {follower} follows it (mimic) and '
          'moves a mass or a joint of its own: what is found of the arm holds where it stands; '
          f'if {follower} is only drawn, leave out its <mimic> or its masses'
          for leader, follower in held_leaders(urdf, robot.joint_names).items()),
        *([f'link {", ".join(empty)} is moved by a joint and has no inertial with a mass']
          if empty else []),
        *([f'link {", ".join(points)} is a point mass: it has mass and no inertia']
          if points else []),
    ]


def _harmless_faults(
    urdf: Urdf, carried: frozenset[str], refused: Iterable[Sequence[str]]
) -> list[str]:
    """Return what is wrong with links and joints that no arm of the file has."""
    names: set[str] = set()
    for joints in refused:
        reach = reach_of_joints(urdf, joints)
        names |= reach.carried_links | reach.carried_joints | reach.supporting_joints
    faults = [
        fault for fault in urdf.faults
        if not fault.harmless_below and not (fault.of_inertia and fault.name in carried)
        and fault.name not in names
    ]
    if not faults:
        return []
    more = f', and {len(faults) - 1} more such' if len(faults) > 1 else ''
    return [f'without effect on the arm: {faults[0].message}{more}']


def _gap_warnings(
    robot: RobotModel, massless: Sequence[str], unknown: Mapping[str, Sequence[str]]
) -> list[str]:
    """Return what makes checks of a motion impossible or worthless, missing masses first."""
    warnings = []
    if len(massless) == robot.n:
        warnings.append('no masses: torque cannot be checked')
    elif massless:
        warnings.append(
            f'no mass is moved by {", ".join(massless)}: the torque of these joints cannot be '
            'checked'
        )
    placeholders = describe_placeholders(robot)
    if placeholders:
        warnings.append(placeholders)
    holding = find_holding(robot, hardware_limits(robot))
    if holding.held < FEW_HELD:
        warnings.append(holding.describe())
    return warnings + [
        f'no {"effort" if kind == "torque" else kind} limit of {", ".join(joints)}: {kind} cannot '
        'be checked'
        for kind, joints in unknown.items()
    ]


def _unchecked(massless: Sequence[str], unknown: Mapping[str, Sequence[str]]) -> list[str]:
    return list(dict.fromkeys([*(['torque'] if massless else []), *unknown]))


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


def _examine_calibration(path: Path) -> Finding:
    calibration = read_calibration(path)
    kind = (
        f'corrections of a Denavit-Hartenberg table of {calibration.d.size} joints'
        if isinstance(calibration, DhCorrections)
        else f'poses of {len(calibration)} joints'
    )
    return Finding(
        [f'{kind}; `robot-identification urdf --calibration` checks whether they fit an arm']
    )


def _examine_yaml(path: Path) -> Finding:
    content = read_yaml(path)
    if 'form' in content:
        return _examine_trajectory(path)
    if 'base_parameters' in content:
        return _examine_model(load_model(path))
    if 'kinematics' in content:
        return _examine_calibration(path)
    if 'trajectory' in content:
        load_experiment(path)
        return Finding(['experiment'])
    if 'convention' in content:
        urdf = parse_urdf(read_link_table(path), str(path))
        return Finding([
            f'link table of {urdf.name}, joints {", ".join(joint.name for joint in urdf.joints)}'
        ])
    if 'urdf' in content:
        return _examine_robot(load_robot(str(path)))
    raise DescriptionError(
        f'{path} is not a robot, link table, calibration, experiment, trajectory or model file of '
        'this package '
        f'(keys: {", ".join(map(str, content))})'
    )


def _examine_trajectory(path: Path) -> Finding:
    trajectory = load_trajectory(path)
    facts = [f'trajectory of {trajectory.robot}, {trajectory.duration:g} s, hash correct']
    certificate = trajectory.certificate
    gaps = unchecked_from_content(certificate.get('not_checked', []), str(path))
    warnings = [describe_unchecked(gap, trajectory.joint_names) for gap in gaps]
    if not certificate:
        warnings.append('it has no certificate: make one with `excite --evaluate`')
    waived = describe_waived_collision(certificate)
    if waived:
        warnings.append(waived)
    return Finding(facts, warnings, tuple(dict.fromkeys(gap.kind for gap in gaps)))


def _examine_robot(robot: RobotModel) -> Finding:
    if robot.denavit_hartenberg is not None:
        check_table(robot, robot.denavit_hartenberg)
    massless, unknown = massless_joints(robot), unknown_limits(robot)
    warnings = _gap_warnings(robot, massless, unknown)
    gains = np.isnan(robot.drives.drive_gain)
    # An arm that publishes torque needs none.
    unit = EFFORT_UNITS.get(robot.effort_unit or '')
    if gains.any() and (unit is None or unit.is_current):
        joints = ', '.join(np.array(robot.joint_names)[gains])
        warnings.append(f'drive gain of {joints} is unknown; effort in N m needs none')
    return Finding(
        [f'robot {robot.name}, {robot.n} joints'], warnings, _unchecked(massless, unknown)
    )


def _examine_model(model: IdentifiedModel) -> Finding:
    robot, parameters = model.robot, model.parameters
    facts = [f'identified model of {robot.name}, {model.reduction.rank} parameters']
    theta = model.theta_consistent
    if theta is None:
        return Finding(facts, [model.consistency_note])
    rotors = theta[parameters.reflected_inertia_slice] if parameters.reflected_inertia else None
    found = find_implausibilities(
        robot, theta[:10 * robot.n], maker=prior_inertial_parameters(robot),
        reflected_inertia=rotors,
    )
    if not found:
        facts.append("its standard parameters are those of possible bodies, near the maker's")
    return Finding(facts, [implausibility.text for implausibility in found])
