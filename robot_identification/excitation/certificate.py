# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Certificates: what a motion keeps, what could not be checked, and hashes of experiment and arm.

A share of a limit that is not stated is zero, and so is the torque of links without masses. Either
would read as if the motion were far from its limits.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from math import isfinite
from typing import Any

import numpy as np
from robot_identification.errors import UnsafeMotionError
from robot_identification.excitation.constraints import (
    broken_limits, limits_entry, LimitUse, tightened,
)
from robot_identification.excitation.evaluation import evaluate_motion, evaluation_content
from robot_identification.excitation.experiment import Experiment, ExtraLimits
from robot_identification.excitation.experiment_file import extra_limits_to_content
from robot_identification.excitation.feasibility import certificate_times, Feasibility
from robot_identification.excitation.information import BaseColumns
from robot_identification.excitation.parametrizations.composite import Segment
from robot_identification.excitation.parametrizations.parametrization import Parametrization
from robot_identification.excitation.trajectory import check_rest_at_ends, Trajectory
from robot_identification.files import canonical_sha256, check_keys, to_list, to_mapping, to_plain
from robot_identification.model import massless_joints, RobotModel

NOT_CHECKED = 'NOT CHECKED'
# What to state where a limit or a shape is missing.
COLLISION_REMEDY = (
    'links have no collision shapes; give them some in the URDF, or say `collision: off` in an '
    'experiment file of your own and keep everything out of reach'
)
REMEDIES = {
    'position': '`position` in a robot YAML, or a `window` in the experiment file',
    'velocity': '`velocity` in a robot YAML or under `limits` in the experiment file',
    'acceleration': '`acceleration` in <limit> of the URDF, in a robot YAML or under `limits` in '
    'the experiment file',
    'torque': '`effort` in a robot YAML, or `torque` under `limits` in the experiment file',
}


@dataclass(frozen=True)
class Unchecked:
    """A quantity of some joints that could not be compared with a limit."""

    kind: str  # 'torque', 'position', 'velocity', 'acceleration' or 'collision'
    joints: tuple[str, ...]
    reason: str  # with what to state


def certify(
    robot: RobotModel, experiment: Experiment, trajectory: Trajectory, search: Mapping[str, Any]
) -> Trajectory:
    """
    Check a motion on a dense grid and return it with its certificate.

    Margins and criterion are those of the experiment; `search` says how the motion was found.
    Raises UnsafeMotionError if it breaks a limit; every broken one is named.
    """
    return certificate_of(
        Feasibility(robot, experiment), BaseColumns(robot, experiment), trajectory, search
    )


def certificate_of(
    feasible: Feasibility, columns: BaseColumns, trajectory: Trajectory, search: Mapping[str, Any]
) -> Trajectory:
    """Return a motion with its certificate, as `certify` does, from what its search used."""
    robot, experiment = feasible.robot, feasible.experiment
    check_rest_at_ends(trajectory, robot.position_units)
    times = certificate_times(trajectory.form)
    uses = feasible.uses(trajectory, times)
    broken = broken_limits(uses)
    if broken:
        raise UnsafeMotionError('the motion breaks limits: ' + '; '.join(broken))
    collision = feasible.prove_clearance(trajectory)
    unchecked = find_experiment_gaps(robot, experiment) + find_overlaps(robot, collision)
    gaps = {(one.kind, joint) for one in unchecked for joint in one.joints}
    checked = [use for use in uses if (use.kind, use.joint) not in gaps]
    extra = extra_limits_to_content(experiment.extra_limits)
    return trajectory.with_certificate({
        'robot': robot.name,
        'urdf_sha256': robot.urdf_sha256,
        'robot_sha256': robot_sha256(robot),
        'gravity': [float(value) for value in robot.gravity],
        'margins': asdict(experiment.margins),
        'checked_at': f'{(len(times) - 1) / trajectory.form.duration:.0f} Hz',
        'limits': limits_entry(checked),
        'not_checked': to_plain([asdict(one) for one in unchecked]),
        'torque_reserve': _torque_reserve(experiment, checked),
        **({'further_limits': extra} if extra else {}),
        'collision': collision,
        **evaluation_content(
            evaluate_motion(robot, experiment, trajectory, columns=columns)
        ),
        'experiment': experiment_content(experiment),
        'experiment_sha256': experiment_sha256(experiment),
        'search': {
            key: float(f'{value:.9g}') if isinstance(value, float) else value
            for key, value in search.items()
        },
    })


def _torque_reserve(experiment: Experiment, uses: list[LimitUse]) -> float | None:
    """Return the share of the torque limit that is left for friction; None if none is checked."""
    torques = [use for use in uses if use.kind == 'torque']
    if not torques:
        return None
    return round(1.0 - experiment.margins.torque * max(use.share for use in torques), 6)


def find_unchecked(
    robot: RobotModel, extra: ExtraLimits | None = None, window: Collection[str] = ()
) -> tuple[Unchecked, ...]:
    """
    Return what of a motion cannot be checked, the worst first.

    `extra` are limits of an experiment in addition to those of the hardware, `window` the joints
    whose range the experiment states. Raises UsageError if `extra` names a joint that the robot
    does not have.
    """
    massless = massless_joints(robot)
    found = [Unchecked('torque', massless, _without_mass(robot, massless))] if massless else []
    return tuple(found) + tuple(
        Unchecked(kind, joints, f'no limit is known; state {REMEDIES[kind]}')
        for kind, joints in unknown_limits(robot, extra, window).items()
    )


def find_experiment_gaps(robot: RobotModel, experiment: Experiment) -> tuple[Unchecked, ...]:
    """
    Return what of a motion of an experiment cannot be checked, the worst first.

    What the generic experiment chose is no limit of the hardware, and no person decided that its
    motion goes without a collision check.
    """
    chosen = None if experiment.generic else experiment.extra_limits
    gaps = find_unchecked(robot, chosen, experiment.window)
    if experiment.generic and not experiment.collision:
        gaps += (Unchecked('collision', robot.joint_names, COLLISION_REMEDY),)
    return gaps


def find_overlaps(
    robot: RobotModel, collision: Mapping[str, Any] | str
) -> tuple[Unchecked, ...]:
    """
    Return the links that the entry `collision` of a certificate states as overlapping.

    Raises as `overlapping_links` does.
    """
    if isinstance(collision, str):
        return ()
    return tuple(
        Unchecked('collision', robot.joint_names, (
            f'between {first} and {second}, whose shapes overlap in every pose; correct these '
            'shapes in the URDF'
        ))
        for first, second in overlapping_links(collision)
    )


def overlapping_links(collision: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """
    Return the pairs of links that the entry `collision` of a certificate leaves out.

    Raises TypeError or ValueError if it is damaged.
    """
    return tuple((str(first), str(second)) for first, second in collision.get('overlapping', ()))


def unknown_limits(
    robot: RobotModel, extra: ExtraLimits | None = None, window: Collection[str] = ()
) -> dict[str, tuple[str, ...]]:
    """
    Return the joints whose limits are not known, by quantity, the worst first.

    Joints that turn without end need no range. Parameters and errors are those of
    `find_unchecked`.
    """
    limits = tightened(robot, extra or ExtraLimits())
    endless = {joint.name for joint in robot.urdf.joints if joint.kind == 'continuous'}
    needs_range = np.array([joint not in endless | set(window) for joint in robot.joint_names])
    unknown = {
        'torque': np.isinf(limits.effort),
        'position': (np.isinf(limits.lower) | np.isinf(limits.upper)) & needs_range,
        'velocity': np.isinf(limits.velocity),
        'acceleration': np.isinf(limits.acceleration),
    }
    return {
        kind: tuple(np.array(robot.joint_names)[lacking].tolist())
        for kind, lacking in unknown.items() if np.any(lacking)
    }


def _without_mass(robot: RobotModel, joints: Sequence[str]) -> str:
    if len(joints) == robot.n:
        return 'the URDF has no masses; give its links <inertial> elements'
    return 'no link that is moved has a mass; give these links <inertial> elements in the URDF'


def describe_unchecked(unchecked: Unchecked, joint_names: Sequence[str]) -> str:
    """
    Return in one line what was not checked and why.

    `joint_names` are all joints of the arm: where none of them was checked, they are not listed.
    """
    of_all = set(unchecked.joints) >= set(joint_names)
    head = unchecked.kind if of_all else f'{unchecked.kind} of {", ".join(unchecked.joints)}'
    return f'{head}: {NOT_CHECKED}, {unchecked.reason}'


def describe_certificate_gaps(
    certificate: Mapping[str, Any], joint_names: Sequence[str]
) -> tuple[str, ...]:
    """
    Return what a certificate states as not checked, one line each.

    Raises DescriptionError if the entry is damaged.
    """
    return tuple(
        describe_unchecked(one, joint_names)
        for one in unchecked_from_content(certificate.get('not_checked', []), 'the certificate')
    )


def describe_waived_collision(certificate: Mapping[str, Any]) -> str:
    """Return that a person left out the collision check; empty if not, or if it is a gap."""
    waived = certificate.get('collision') == 'off' and not any(
        gap.get('kind') == 'collision' for gap in certificate.get('not_checked', [])
    )
    return f'collision: {NOT_CHECKED}, the experiment file says `collision: off`' if waived else ''


def unchecked_from_content(content: Any, source: str) -> tuple[Unchecked, ...]:
    """
    Return what the entry of a certificate states; `source` names it in errors.

    Raises DescriptionError if it is no such entry.
    """
    found = []
    for entry in to_list(content, f'{source}: not_checked'):
        check_keys(
            to_mapping(entry, f'{source}: an entry of not_checked'), f'{source}, not_checked',
            {'kind', 'joints', 'reason'}, set(),
        )
        joints = to_list(entry['joints'], f'{source}: joints of not_checked')
        found.append(Unchecked(
            str(entry['kind']), tuple(map(str, joints)), str(entry['reason'])
        ))
    return tuple(found)


def experiment_content(experiment: Experiment) -> dict[str, Any]:
    """Return everything an experiment asks for, defaults included, as plain content."""
    return {
        # As in its file, where the form stands under this name.
        'trajectory' if field.name == 'form' else field.name: _plain(
            getattr(experiment, field.name)
        )
        for field in fields(experiment)
        # Experiments without segments have the hashes that they had before there were any.
        if experiment.segments or field.name not in ('segments', 'segments_before')
    }


def experiment_sha256(experiment: Experiment) -> str:
    """Return the hash of what an experiment asks for; comments of its file do not count."""
    return canonical_sha256(experiment_content(experiment))


def robot_sha256(robot: RobotModel) -> str:
    """
    Return the hash of what motions of an arm depend on, apart from its mounting.

    That is its URDF, which joints move, where the others are locked, and the limits of its YAML.
    """
    return canonical_sha256({
        'name': robot.name,
        'joints': list(robot.joint_names),
        'urdf': robot.urdf_sha256,
        'limits': _plain(robot.limits),
        'locked': _plain(robot.locked),
    })


def _plain(value: Any) -> Any:
    """Return plain content; numbers that are not finite, which JSON does not know, as text."""
    if isinstance(value, Parametrization):
        return {'form': value.name, **_plain(value.options())}
    if isinstance(value, Segment):
        return {str(key): _plain(item) for key, item in value.content().items()}
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    plain = to_plain(value)
    return plain if plain is value else _plain(plain)
