# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Drive gains for people and programs: drive_gains.json, results.txt and report.html."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.files import write_results
from robot_identification.model import RobotModel
from robot_identification.report import (
    draw_panel, json_text, Meaning, MEASURED, number, percent, Picture, PREDICTED, render_page,
    RESIDUAL, text_table, wrap,
)
from robot_identification.studies.drive_gains.estimate import DriveGain, DriveGains
from robot_identification.studies.drive_gains.study import GainRequest

DRIVE_GAINS_SCHEMA = 1
GAIN_FILES = ('drive_gains.json', 'results.txt', 'report.html')
METHODS = {
    'poses': 'static poses',
    'payload_poses': 'a known payload at static poses',
    'payload_motion': 'a known payload in motion',
}


def usable_gains(robot: RobotModel, found: DriveGains) -> tuple[list[float], tuple[str, ...]]:
    """
    Return a gain for every joint, and the joints whose gain is the one known before.

    Returns
    -------
    gains : list of float
        [N m/A]; empty if a joint has neither.
    known_before : tuple of str
        Joints whose gain is the robot's own.

    """
    known = robot.drives.drive_gain
    gains = np.where(np.isfinite(found.values), found.values, known)
    if not np.all(np.isfinite(gains)):
        return [], ()
    return [float(f'{gain:.6g}') for gain in gains], found.unseen


def option_text(robot: RobotModel, found: DriveGains) -> str:
    """Return what to add to other commands; empty if a joint has no gain."""
    gains, _ = usable_gains(robot, found)
    return f'--drive-gains {" ".join(f"{gain:g}" for gain in gains)}' if gains else ''


def drive_gains_content(
    robot: RobotModel, found: DriveGains, request: GainRequest
) -> dict[str, Any]:
    """Return the content of drive_gains.json; NaN is null in the file."""
    payload = request.payload
    _, known_before = usable_gains(robot, found)
    return {
        'schema_version': DRIVE_GAINS_SCHEMA,
        'robot': robot.name,
        'method': found.method,
        'torque_from': found.torque_from,
        'current_from': found.current_from,
        'bags': [str(bag) for bag in request.bags],
        'loaded_bags': [str(bag) for bag in request.loaded],
        'payload': None if payload is None else {
            'frame': payload.frame,
            'mass': payload.mass,
            'center_of_mass': payload.center_of_mass,
            'inertia': payload.inertia,
        },
        'joint_names': [joint.joint for joint in found.joints],
        'drive_gains': found.values,
        'standard_errors': [joint.standard_error for joint in found.joints],
        'unseen': list(found.unseen),
        'option': option_text(robot, found) or None,
        'known_before': list(known_before),
        'joints': [
            {
                'joint': joint.joint,
                'gain': joint.gain,
                'standard_error': joint.standard_error,
                'bias_bound': joint.bias_bound,
                'spread': joint.spread,
                'intercept': joint.intercept,
                'points': joint.points,
                'both_sides': joint.both_sides,
                'holding_torque': joint.holding_torque,
                'largest_torque': joint.largest_torque,
                'reason': joint.reason,
            }
            for joint in found.joints
        ],
        'poses': [
            {
                'joint': joint.joint,
                'torque': point.torque,
                'current': point.current,
                'holding': point.holding,
                'side': point.side,
            }
            for joint, points in zip(found.joints, found.points, strict=False) for point in points
        ],
        'notes': list(found.notes),
    }


def _table(found: DriveGains) -> tuple[tuple[str, ...], list[list[str]]]:
    """Return header and rows; of static friction only poses can tell."""
    of_poses = found.method != 'payload_motion'
    header = ('joint', 'gain [N m/A]', 'std. error', *(
        ('bias at most', 'spread', 'both sides', 'holding [N m]') if of_poses
        else ('torque up to [N m]',)
    ))
    rows = []
    for joint in found.joints:
        if not joint.is_seen:
            rows.append([joint.joint, 'not seen', *[''] * (len(header) - 2)])
            continue
        rows.append([
            joint.joint, number(joint.gain, 5), number(joint.standard_error), *(
                (
                    number(joint.bias_bound), percent(joint.spread),
                    f'{joint.both_sides} of {joint.points}', number(joint.holding_torque),
                ) if of_poses else (number(joint.largest_torque),)
            ),
        ])
    return header, rows


def _advice(robot: RobotModel, found: DriveGains) -> list[str]:
    """Return what is to be done with the gains, in sentences."""
    gains, known_before = usable_gains(robot, found)
    if not gains:
        return [
            f'The gain of {", ".join(found.unseen)} is neither seen nor known before: record '
            'poses at which gravity acts on it, or use a known payload in motion.'
        ]
    sentences = []
    if known_before:
        sentences.append(
            f'The gain of {", ".join(known_before)} cannot be seen here; the option below has the '
            'one that was known before.'
        )
    return sentences


def gain_meaning(robot: RobotModel, found: DriveGains) -> Meaning:
    """Return what the gains mean: how many are seen, how well, and how to use them."""
    seen = [joint for joint in found.joints if joint.is_seen]
    sentences = [
        f'{len(seen)} of {len(found.joints)} gains were found, from {METHODS[found.method]}',
    ]
    if seen:
        worst = max(seen, key=lambda joint: joint.standard_error / abs(joint.gain))
        sentences.append(
            f'the least certain of them is that of {worst.joint}: {number(worst.gain, 4)} +- '
            f'{number(worst.standard_error, 2)} N m/A, '
            f'{percent(worst.standard_error / abs(worst.gain))}'
        )
    usable = bool(option_text(robot, found))
    return Meaning(
        'All gains found' if not found.unseen else 'Some gains found' if seen else 'No gain found',
        'good' if not found.unseen else 'usable' if usable else 'bad',
        (*sentences, *_advice(robot, found)),
        'give the option below to identify, and compare with a second recording' if usable
        else 'record poses at which gravity acts on every joint, or use a known payload in motion',
    )


def drive_gains_text(robot: RobotModel, found: DriveGains) -> str:
    """Return drive gains as plain text."""
    lines = [
        *wrap(f'Drive gains of {robot.name}, from {METHODS[found.method]}'),
        *wrap(f'torque: {found.torque_from}; current: {found.current_from}'),
        '',
        *text_table(*_table(found)),
        '',
    ]
    for joint in found.joints:
        if not joint.is_seen:
            lines += wrap(f'{joint.joint}: {joint.reason}', first='  - ')
    for note in (*_advice(robot, found), *found.notes):
        lines += wrap(note, first='  - ')
    option = option_text(robot, found)
    if option:
        lines += ['', 'For other commands:', f'  {option}']
    return '\n'.join(lines).rstrip() + '\n'


def render_drive_gains_report(
    robot: RobotModel, found: DriveGains, bags: Sequence[Path], command_line: str = ''
) -> str:
    """
    Return the report of drive gains, one HTML file that needs no network.

    Parameters
    ----------
    robot : RobotModel
        The arm.
    found : DriveGains
        What was found.
    bags : sequence of Path
        What it was found in.
    command_line : str
        What was typed.

    """
    header, rows = _table(found)
    return render_page(
        'drive_gains.html.j2',
        robot=robot,
        meaning=gain_meaning(robot, found),
        found=found,
        header=header,
        rows=rows,
        option=option_text(robot, found),
        bags=[str(bag) for bag in bags],
        command_line=command_line,
        pictures=[
            _picture(joint, points)
            for joint, points in zip(found.joints, found.points, strict=False)
            # Without torque there is nothing but rounding to draw.
            if joint.points
        ],
    )


def _picture(joint: DriveGain, points: Sequence[Any]) -> Picture:
    """Draw current over torque at the poses of one joint, and the line of its gain."""
    torque = np.array([point.torque for point in points])
    current = np.array([point.current for point in points])
    both = np.array([point.both for point in points])
    series = [(torque[both], current[both], PREDICTED), (torque[~both], current[~both], RESIDUAL)]
    line = None
    if joint.is_seen:
        ends = np.array([min(torque.min(), 0.0), max(torque.max(), 0.0)])
        line = (ends, ends / joint.gain + joint.intercept, MEASURED)
    return draw_panel(
        series, line, ('torque [N m]', 'current [A]'), joint.joint,
        f'Current over torque of {joint.joint} at {len(points)} poses',
    )


def save_drive_gains(
    directory: Path, robot: RobotModel, found: DriveGains, request: GainRequest,
    command_line: str, *, force: bool,
) -> None:
    """
    Write the files of drive gains into a folder.

    Raises
    ------
    UsageError
        If one of them exists already and `force` is not set.

    """
    write_results(directory, {
        'drive_gains.json': json_text(drive_gains_content(robot, found, request)),
        'results.txt': drive_gains_text(robot, found),
        'report.html': render_drive_gains_report(
            robot, found, [*request.bags, *request.loaded], command_line
        ),
    }, force)
