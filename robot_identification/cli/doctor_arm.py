# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Findings of `doctor`, and those in the description of an arm: URDF, xacro or robot YAML."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from robot_identification import load_robot
from robot_identification.errors import DescriptionError
from robot_identification.excitation import (
    FEW_HELD, find_holding, hardware_limits, unknown_limits,
)
from robot_identification.model import (
    check_table, describe_arguments, describe_placeholders, EFFORT_UNITS, held_leaders,
    make_robot_model, massless_joints, reach_of_joints, read_urdf, RobotModel, SeveralArmsError,
    Urdf, xacro_arguments,
)


@dataclass(frozen=True)
class ExamineOptions:
    """Options of reading files, each for those of a kind."""

    arguments: Mapping[str, str] = field(default_factory=dict)  # of a xacro, by name
    mapping: Path | None = None  # columns and units of a table
    topic: str | None = None  # joint states of a bag
    robots: Sequence[RobotModel] = ()  # arms that recordings may be of
    joints: Sequence[str] | None = None  # of descriptions, which move; by default an arm's
    effort_unit: str | None = None  # of recordings, where the user states it


@dataclass
class Finding:
    """Finding about one file; the examinations add to it."""

    path: Path
    kind: str  # what it is
    facts: list[str] = field(default_factory=list)  # what is in it
    warnings: list[str] = field(default_factory=list)  # what is wrong with it, the worst first
    # Quantities of a motion that cannot be checked with it.
    unchecked: list[str] = field(default_factory=list)
    error: str | None = None  # why it cannot be used
    notes: list[str] = field(default_factory=list)  # what `identify` notes of the data

    def lines(self) -> list[str]:
        """Return what is printed: the worst first, and the conclusion last."""
        error = [] if self.error is None else f'error: {self.error}'.split('\n')
        return [
            f'{self.path}: {self.kind}',
            # Deeper than other lines, so that no name can stand for one of them.
            *(f'  {line}' if line.startswith(('error: ', '  ')) else f'    {line}'
              for line in error),
            *(f'  warning: {text}' for text in (*self.warnings, *self.notes)),
            *(f'  {fact}' for fact in self.facts),
            f'  {self._conclusion()}',
        ]

    def _conclusion(self) -> str:
        if self.error is not None:
            return 'not usable'
        if self.unchecked:
            return f'usable, without a check of {", ".join(self.unchecked)}'
        return 'usable'


def examine_urdf(path: Path, options: ExamineOptions, found: Finding) -> None:
    """Find what a URDF or xacro says of every arm in it."""
    urdf = read_urdf(path, arguments=options.arguments)
    if declared := xacro_arguments(path, options.arguments):
        found.facts.append(f'xacro arguments: {describe_arguments(declared)}')
    robots, refusals = _arms_of_urdf(urdf, options.joints)
    count = len(robots) + len(refusals)
    if count > 1:
        found.facts.append(
            f'{count} arms: every other command needs the joints of one, after --joints'
        )
    found.warnings += [
        f'not usable: --joints {" ".join(joints)}: {message}'
        for joints, message in refusals.items()
    ]
    found.facts += _bodies(urdf)
    for robot in robots:
        unknown = unknown_limits(robot)
        # None before version 1.2 of URDF can state one: that is no fault of this file.
        unlimited = unknown.pop('acceleration', ())
        found.facts += [
            f'--joints {" ".join(robot.joint_names)}' if count > 1
            else f'{urdf.name}: joints {", ".join(robot.joint_names)}',
            *robot.remarks,
        ]
        if unlimited:
            found.facts.append(
                f'acceleration limits: none is stated of {", ".join(unlimited)}; '
                '<limit acceleration=".."> of URDF 1.2 or a robot YAML does'
            )
        _find_gaps(robot, unknown, found)
        found.warnings += _link_warnings(robot)
    found.facts += [f'joint {joint.name} mimics {joint.mimic}' for joint in urdf.mimic_joints]
    found.facts += [*urdf.remarks, *_harmless_faults(urdf, robots, refusals)]
    if not robots:
        found.error = 'none of its arms can be used'


def examine_robot(path: Path, options: ExamineOptions, found: Finding) -> None:
    """Find what a robot YAML and its URDF say of an arm."""
    robot = load_robot(str(path))
    if robot.denavit_hartenberg is not None:
        check_table(robot, robot.denavit_hartenberg)
    found.facts.append(f'robot {robot.name}, {robot.n} joints')
    _find_gaps(robot, unknown_limits(robot), found)
    gains = np.isnan(robot.drives.drive_gain)
    # An arm that publishes torque needs none.
    unit = EFFORT_UNITS.get(robot.effort_unit or '')
    if gains.any() and (unit is None or unit.is_current):
        joints = ', '.join(np.array(robot.joint_names)[gains])
        found.warnings.append(f'drive gain of {joints} is unknown; effort in N m needs none')


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


def _bodies(urdf: Urdf) -> list[str]:
    """Return what a URDF says of masses and inertias."""
    bodies = [link for link in urdf.links if link.mass > 0.0]
    moved = sum(link.mass for link in bodies if link.moved)
    consistent = sum(link.fault is None for link in bodies)
    return [
        f'total mass {sum(link.mass for link in bodies):.6g} kg, {moved:.6g} kg of it moved by '
        'joints',
        f'{len(urdf.links)} links, {len(bodies)} of them with mass; the inertia of {consistent} '
        'is one that a rigid body can have',
    ]


def _find_gaps(
    robot: RobotModel, unknown: Mapping[str, Sequence[str]], found: Finding
) -> None:
    """Find what makes checks of a motion impossible or worthless, missing masses first."""
    massless = massless_joints(robot)
    if len(massless) == robot.n:
        found.warnings.append('no masses: torque cannot be checked')
    elif massless:
        found.warnings.append(
            f'no mass is moved by {", ".join(massless)}: the torque of these joints cannot be '
            'checked'
        )
    if placeholders := describe_placeholders(robot):
        found.warnings.append(placeholders)
    holding = find_holding(robot, hardware_limits(robot))
    if holding.held < FEW_HELD:
        found.warnings.append(holding.describe())
    found.warnings += [
        f'no {"effort" if kind == "torque" else kind} limit of {", ".join(joints)}: {kind} cannot '
        'be checked'
        for kind, joints in unknown.items()
    ]
    found.unchecked += [*(['torque'] if massless else []), *unknown]


def _link_warnings(robot: RobotModel) -> Iterator[str]:
    """Yield which links of an arm have no mass or extent, and which joints within it stand."""
    urdf, massless = robot.urdf, massless_joints(robot)
    for leader, follower in held_leaders(urdf, robot.joint_names).items():
        yield (
            f'joint {leader} is held fixed within the arm, since {follower} follows it (mimic) '
            'and moves a mass or a joint of its own: what is found of the arm holds where it '
            f'stands; if {follower} is only drawn, leave out its <mimic> or its masses'
        )
    empty = [
        link.name for link in urdf.links
        if link.name in urdf.links_without_inertial and link.joint in robot.joint_names
        and link.joint not in massless
    ]
    if empty:
        yield f'link {", ".join(empty)} is moved by a joint and has no inertial with a mass'
    points = [link for link in urdf.point_masses if link in robot.carried_links]
    if points:
        yield f'link {", ".join(points)} is a point mass: it has mass and no inertia'


def _harmless_faults(
    urdf: Urdf, robots: Sequence[RobotModel], refused: Collection[Sequence[str]]
) -> list[str]:
    """Return what is wrong with links and joints that no arm of the file has."""
    carried = {link for robot in robots for link in robot.carried_links}
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
