# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Drive gains of an arm from its bags: the study as one function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.blas import one_blas_thread
from robot_identification.errors import NotIdentifiableError, UsageError
from robot_identification.estimation import choose_effort_unit
from robot_identification.files import ResultFolder
from robot_identification.model import (
    check_shows_gravity, EFFORT_UNITS, KinematicFilter, load_model, Payload,
    prior_inertial_parameters, RobotModel, static_regressor,
)
from robot_identification.processing import process
from robot_identification.recording import Recording
from robot_identification.report import json_text, sliding_text
from robot_identification.studies.drive_gains.estimate import (
    average_approaches, compare_with_known, DriveGains, DriveGainsOptions, FEWEST_SHARED_POSES,
    fit_gains, payload_differences, read_rests,
)
from robot_identification.studies.drive_gains.motion import gains_from_motion
from robot_identification.studies.drive_gains.report import (
    drive_gains_content, drive_gains_text, DriveGainsResult, GAIN_FILES, render_drive_gains_report,
)

CURRENT_WORDS = {
    'target_current': "the controller's target current",
    'actual_current': 'measured current (actual_current)',
    'effort': 'measured current (effort)',
}


@one_blas_thread()
def run_drive_gains(
    robot: RobotModel, bags: Sequence[Path], options: DriveGainsOptions | None = None,
    folder: ResultFolder | None = None,
) -> DriveGainsResult:
    """
    Find the drive gains of an arm.

    `bags` contain static poses; if the options name a payload, they are those without it. Without
    `folder` nothing is written. Raises NotIdentifiableError if the bags do not show the scale,
    DataError or UsageError if a bag, an option or the folder cannot be used.
    """
    options = DriveGainsOptions() if options is None else options
    if folder is not None:
        folder.check(GAIN_FILES)
    payload = options.known_payload(robot)
    robot, recordings, notes = options.read(robot, [*bags, *options.loaded])
    bare, loaded = recordings[:len(bags)], recordings[len(bags):]
    if payload is None:
        found = _from_poses(robot, bare, options)
    else:
        found = _from_payload(robot, (bare, loaded), payload, options)
    notes += [text for text in [sliding_text(robot)] if text]
    found = compare_with_known(robot, replace(found, notes=(*notes, *found.notes)), options)
    result = DriveGainsResult(robot, tuple(bags), options, payload, found)
    if folder is not None:
        folder.write({
            'drive_gains.json': json_text(drive_gains_content(result)),
            'results.txt': drive_gains_text(result),
            'report.html': render_drive_gains_report(result, folder.command_line),
        })
    return result


def _measured(
    robot: RobotModel, recordings: Sequence[Recording], options: DriveGainsOptions
) -> str:
    """Return where measured currents are: a channel, or the effort."""
    if _all_have(recordings, 'actual_current'):
        return 'actual_current'
    unit = choose_effort_unit(options.effort_unit, recordings, robot)
    if not EFFORT_UNITS[unit].is_current:
        raise NotIdentifiableError(
            f'{recordings[0].source}: effort is in N m and no actual_current was recorded: '
            'without a current there is no drive gain to find'
        )
    return 'effort'


def _all_have(recordings: Sequence[Recording], channel: str) -> bool:
    return all(len(recording.channels.get(channel, ())) for recording in recordings)


def _from_poses(
    robot: RobotModel, recordings: Sequence[Recording], options: DriveGainsOptions
) -> DriveGains:
    """Return gains by torques at rest that something else knows."""
    torque, torque_from = torque_source(robot, options.torque_from)
    if torque is None and not _all_have(recordings, 'target_torque'):
        raise NotIdentifiableError(
            f'{", ".join(recording.source for recording in recordings)}: the scale is not '
            'observable. Currents alone do not determine torques: record target_moment with the '
            'joint states, give a known payload (--payload, --loaded), or trust masses '
            '(--torque-from)'
        )
    wanted = options.current
    if wanted is None:
        has_target = torque is None and _all_have(recordings, 'target_current')
        wanted = 'target' if has_target else 'measured'
    current = 'target_current' if wanted == 'target' else _measured(robot, recordings, options)
    readings = read_rests(recordings, options.shortest_rest, torque or 'target_torque', current)
    notes = []
    if torque is None and wanted == 'target':
        notes += _compare_currents(robot, recordings, options)
    points = average_approaches(readings)
    joints, warnings = fit_gains(robot.joints, points, options)
    return DriveGains(
        'poses', torque_from, CURRENT_WORDS[current], joints, points, (*notes, *warnings)
    )


def _compare_currents(
    robot: RobotModel, recordings: Sequence[Recording], options: DriveGainsOptions
) -> list[str]:
    """State how far measured currents are from their targets at rest: eq. 32 takes them equal."""
    try:
        measured = read_rests(
            recordings, options.shortest_rest, 'target_current',
            _measured(robot, recordings, options),
        )
    except (NotIdentifiableError, UsageError):
        return []
    differences = [
        max(abs(point.current - point.torque) for point in of_joint)
        for of_joint in average_approaches(measured)
    ]
    worst = int(np.argmax(differences))
    return [
        f'measured and target currents at rest, both approaches averaged, differ by up to '
        f'{differences[worst]:.3g} A ({robot.joint_names[worst]})'
    ]


def torque_source(
    robot: RobotModel, source: str
) -> tuple[Callable[[FloatArray], FloatArray] | None, str]:
    """Return the torques of poses as a function, None for the targets, and their name."""
    if source == 'target':
        return None, "the controller's target torque"
    if source == 'urdf':
        theta, words = prior_inertial_parameters(robot), 'gravity of the masses in the URDF'
    else:
        model = load_model(Path(source))
        check_shows_gravity(model, 'its torques at rest are not known')
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


def _from_payload(
    robot: RobotModel, runs: tuple[list[Recording], list[Recording]], payload: Payload,
    options: DriveGainsOptions,
) -> DriveGains:
    """Return gains by what a known payload adds to the currents, at rest or in motion."""
    current = _measured(robot, [*runs[0], *runs[1]], options)
    if options.use != 'motion':
        try:
            bare, loaded = (
                read_rests(run, options.shortest_rest, np.zeros_like, current) for run in runs
            )
            points = payload_differences(robot, bare, loaded, payload)
        except NotIdentifiableError:
            if options.use == 'poses':
                raise
            points = ()
        shared = len(points[0]) if points else 0
        if options.use == 'poses' and not shared:
            raise NotIdentifiableError(
                'the runs without and with the payload have no pose in common: rest at the same '
                'poses in both, or choose --use motion'
            )
        if options.use == 'poses' or shared >= FEWEST_SHARED_POSES:
            joints, notes = fit_gains(robot.joints, points, options)
            return DriveGains(
                'payload_poses', f'known payload of {payload.mass:g} kg', CURRENT_WORDS[current],
                joints, points, notes,
            )
    if current != 'effort':
        raise UsageError(
            'gains from a payload in motion need the current as the effort of the joint states, '
            'which here is in N m: rest at the same poses in both runs instead (--use poses)'
        )
    unit = choose_effort_unit(options.effort_unit, [*runs[0], *runs[1]], robot)
    without, carrying = (
        [process(recording, KinematicFilter(), unit, robot=robot) for recording in run]
        for run in runs
    )
    return gains_from_motion(robot, without, carrying, payload)
