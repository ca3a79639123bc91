# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Drive gains of an arm from its bags: the study as one function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import NotIdentifiableError, UsageError
from robot_identification.estimation import choose_effort_unit
from robot_identification.model import (
    KinematicFilter, load_model, Payload, prior_inertial_parameters, RobotModel, static_regressor,
)
from robot_identification.processing import check_robot_name, process
from robot_identification.recording import read_recording, Recording
from robot_identification.studies.drive_gains.estimate import (
    average_approaches, compare_with_known, DriveGains, GainOptions, gains_from_motion,
    gains_from_poses, payload_differences, read_rests,
)

# With fewer poses that both runs have, the motion says more.
FEWEST_SHARED_POSES = 3
CURRENTS = ('target', 'measured')
USES = ('auto', 'poses', 'motion')


@dataclass(frozen=True, eq=False)
class GainRequest:
    """
    Options of the study of drive gains.

    Attributes
    ----------
    bags : tuple of Path
        Bags with static poses; with a payload those without it.
    loaded : tuple of Path
        Bags with the payload.
    payload : Payload, optional
        The known payload that `loaded` carries.
    topic : str, optional
        Joint-state topic.
    effort_unit : {'A', 'Nm'}, optional
        By default what the bags or the robot's YAML say.
    joint_names : mapping
        Model name by bag name, where they differ.
    torque_from : str
        Torques at rest: 'target', 'urdf' or the path of a model file.
    current : {'target', 'measured'}, optional
        By default target where torques are targets and it was recorded, else measured.
    use : {'auto', 'poses', 'motion'}
        The part of the effect of a payload that is used.
    options : GainOptions
        Limits of poses and currents.

    Raises
    ------
    UsageError
        If a payload is given without bags that carry it, or the other way round.

    """

    bags: tuple[Path, ...]
    loaded: tuple[Path, ...] = ()
    payload: Payload | None = None
    topic: str | None = None
    effort_unit: str | None = None
    joint_names: Mapping[str, str] = field(default_factory=dict)
    torque_from: str = 'target'
    current: str | None = None
    use: str = 'auto'
    options: GainOptions = field(default_factory=lambda: GainOptions())

    def __post_init__(self) -> None:
        if (self.payload is None) != (not self.loaded):
            raise UsageError(
                '--payload and --loaded go together: what it weighs, and bags with it'
            )


def find_drive_gains(robot: RobotModel, request: GainRequest) -> DriveGains:
    """
    Find the drive gains of an arm.

    Parameters
    ----------
    robot : RobotModel
        The arm.
    request : GainRequest
        Bags and options.

    Raises
    ------
    NotIdentifiableError
        If the bags do not show the scale.
    DataError, UsageError
        If a bag or an option cannot be used.

    """
    bare, loaded = (_read(robot, request, bags) for bags in (request.bags, request.loaded))
    notes = [
        note for recording in (*bare, *loaded)
        if (note := check_robot_name(recording, robot.name))
    ]
    if request.payload is None:
        found = _from_poses(robot, request, bare, request.options)
    else:
        found = _from_payload(robot, request, (bare, loaded), request.payload, request.options)
    return compare_with_known(robot, replace(found, notes=(*notes, *found.notes)))


def _read(robot: RobotModel, request: GainRequest, bags: Sequence[Path]) -> list[Recording]:
    return [
        read_recording(
            bag, robot.joint_names, topic=request.topic, names=request.joint_names,
            encoders=robot.encoders,
        )
        for bag in bags
    ]


def _measured(
    robot: RobotModel, request: GainRequest, recordings: Sequence[Recording]
) -> str:
    """Return where measured currents are: a channel, or the effort."""
    if all(len(recording.channels.get('actual_current', ())) for recording in recordings):
        return 'actual_current'
    unit = choose_effort_unit(request.effort_unit, recordings, robot)
    if unit != 'A':
        raise NotIdentifiableError(
            f'{recordings[0].source}: effort is in N m and no actual_current was recorded: '
            'without a current there is no drive gain to find'
        )
    return 'effort'


def _from_poses(
    robot: RobotModel, request: GainRequest, recordings: Sequence[Recording],
    options: GainOptions,
) -> DriveGains:
    torque, torque_from = _torque_source(robot, request.torque_from)
    has = {
        name: all(len(recording.channels.get(name, ())) for recording in recordings)
        for name in ('target_torque', 'target_current')
    }
    if torque is None and not has['target_torque']:
        raise NotIdentifiableError(
            f'{", ".join(recording.source for recording in recordings)}: the scale is not '
            'observable. Currents alone do not tell torques: record target_moment with the joint '
            'states, give a known payload (--payload, --loaded), or trust masses (--torque-from)'
        )
    wanted = request.current
    if wanted is None:
        wanted = 'target' if torque is None and has['target_current'] else 'measured'
    current = 'target_current' if wanted == 'target' else _measured(robot, request, recordings)
    readings = read_rests(recordings, options, torque or 'target_torque', current)
    notes = []
    if torque is None and wanted == 'target':
        notes += _compare_currents(robot, request, recordings, options)
    return gains_from_poses(
        robot.joint_names, average_approaches(readings), options, method='poses',
        torque_from=torque_from, current_from=_words(current), notes=notes,
    )


def _compare_currents(
    robot: RobotModel, request: GainRequest, recordings: Sequence[Recording],
    options: GainOptions,
) -> list[str]:
    """Return how far measured currents are from their targets at rest: eq. 32 takes them equal."""
    try:
        measured = read_rests(
            recordings, options, 'target_current', _measured(robot, request, recordings)
        )
    except (NotIdentifiableError, UsageError):
        return []
    points = average_approaches(measured)
    differences = [
        max(abs(point.current - point.torque) for point in of_joint) for of_joint in points
    ]
    worst = int(np.argmax(differences))
    return [
        f'measured and target currents at rest, both approaches averaged, differ by up to '
        f'{differences[worst]:.3g} A ({robot.joint_names[worst]})'
    ]


def _torque_source(
    robot: RobotModel, source: str
) -> tuple[Callable[[FloatArray], FloatArray] | None, str]:
    """Return what gives torques of poses, None for the targets, and its name."""
    if source == 'target':
        return None, "the controller's target torque"
    if source == 'urdf':
        theta, words = prior_inertial_parameters(robot), 'gravity of the masses in the URDF'
    else:
        model = load_model(Path(source))
        if model.relative_scale:
            raise UsageError(
                f'{source} has a relative scale: its torques are per unknown gain, and cannot '
                'give the gains'
            )
        if model.robot.joint_names != robot.joint_names:
            raise UsageError(
                f'{source} is of the joints {", ".join(model.robot.joint_names)}, not of '
                f'{", ".join(robot.joint_names)}'
            )
        theta, words = model.theta_lifted[: 10 * robot.n], f'gravity of {source}'

    def torque(q: FloatArray) -> FloatArray:
        return (static_regressor(robot, q) @ theta).reshape(q.shape)

    return torque, words


def _words(current: str) -> str:
    return {
        'target_current': "the controller's target current",
        'actual_current': 'measured current (actual_current)',
        'effort': 'measured current (effort)',
    }[current]


def _from_payload(
    robot: RobotModel,
    request: GainRequest,
    runs: tuple[Sequence[Recording], Sequence[Recording]],
    payload: Payload,
    options: GainOptions,
) -> DriveGains:
    current = _measured(robot, request, [*runs[0], *runs[1]])
    if request.use != 'motion':
        try:
            bare, loaded = (
                read_rests(recordings, options, np.zeros_like, current) for recordings in runs
            )
            points = payload_differences(robot, bare, loaded, payload)
        except NotIdentifiableError:
            if request.use == 'poses':
                raise
            points = ()
        shared = len(points[0]) if points else 0
        if request.use == 'poses' and not shared:
            raise NotIdentifiableError(
                'the runs without and with the payload have no pose in common: rest at the same '
                'poses in both, or choose --use motion'
            )
        if request.use == 'poses' or shared >= FEWEST_SHARED_POSES:
            return gains_from_poses(
                robot.joint_names, points, options, method='payload_poses',
                torque_from=f'known payload of {payload.mass:g} kg', current_from=_words(current),
            )
    if current != 'effort':
        raise UsageError(
            'gains from a payload in motion need the current as the effort of the joint states, '
            'which here is in N m: rest at the same poses in both runs instead (--use poses)'
        )
    datasets = tuple(
        [process(recording, KinematicFilter(), 'A', robot=robot) for recording in recordings]
        for recordings in runs
    )
    return gains_from_motion(robot, datasets[0], datasets[1], payload)
