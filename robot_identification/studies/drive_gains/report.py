# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Drive gains for people and programs: drive_gains.json, results.txt and report.html."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.model import Payload, RobotModel
from robot_identification.report import (
    attributes, bullets, draw_panel, Meaning, MEASURED, number, percent, Picture,
    PREDICTED, render_page, RESIDUAL, text_table, wrap,
)
from robot_identification.studies.drive_gains.estimate import (
    DriveGain, DriveGains, DriveGainsOptions, GainPoint,
)

DRIVE_GAINS_SCHEMA = 1  # of the file
GAIN_FILES = ('drive_gains.json', 'results.txt', 'report.html')
METHODS = {
    'poses': 'static poses',
    'payload_poses': 'a known payload at static poses',
    'payload_motion': 'a known payload in motion',
}


@dataclass(frozen=True, eq=False)
class DriveGainsResult:
    """Result of the study of drive gains."""

    robot: RobotModel  # the arm
    bags: tuple[Path, ...]  # recordings, without the payload if there is one
    options: DriveGainsOptions  # options of the study
    payload: Payload | None  # the known payload
    found: DriveGains  # the gains

    @property
    def usable_gains(self) -> list[float]:
        """Gain of every joint, or the one known before; empty if a joint has neither."""
        values = self.found.values
        gains = np.where(np.isfinite(values), values, self.robot.drives.drive_gain)
        return [float(f'{gain:.6g}') for gain in gains] if np.all(np.isfinite(gains)) else []

    @property
    def known_before(self) -> tuple[str, ...]:
        """Joints whose usable gain is the one known before."""
        return self.found.unseen if self.usable_gains else ()

    @property
    def option(self) -> str:
        """Option for other commands; empty if a joint has no gain."""
        gains = self.usable_gains
        return f'--drive-gains {" ".join(f"{gain:g}" for gain in gains)}' if gains else ''


def drive_gains_content(result: DriveGainsResult) -> dict[str, Any]:
    """Return the content of drive_gains.json; NaN is null in the file."""
    found, payload = result.found, result.payload
    return {
        'schema_version': DRIVE_GAINS_SCHEMA,
        'robot': result.robot.name,
        **attributes(found, 'method', 'torque_from', 'current_from', 'unseen', 'notes'),
        'bags': [str(bag) for bag in result.bags],
        'loaded_bags': [str(bag) for bag in result.options.loaded],
        'payload': payload and attributes(payload, 'frame', 'mass', 'center_of_mass', 'inertia'),
        'joint_names': [joint.joint for joint in found.joints],
        'drive_gains': found.values,
        'standard_errors': [joint.standard_error for joint in found.joints],
        'option': result.option or None,
        'known_before': list(result.known_before),
        # The key is older than the field.
        'joints': [
            {'spread' if key == 'standard_deviation' else key: value
             for key, value in asdict(joint).items()}
            for joint in found.joints
        ],
        'poses': [
            {'joint': joint.joint, **asdict(point)}
            for joint, points in zip(found.joints, found.points, strict=False) for point in points
        ],
    }


def _table(result: DriveGainsResult) -> tuple[tuple[str, ...], list[list[str]]]:
    """Return header and rows; static friction is known of poses only."""
    found = result.found
    of_poses = found.method != 'payload_motion'
    torque = result.robot.units('N m')
    header = (
        'joint', f'gain [{_units(result)}]', 'std. error',
        *(('bias at most', 'std. dev.', 'both sides', f'holding [{torque}]') if of_poses
          else (f'torque up to [{torque}]',)),
    )
    rows = []
    for joint in found.joints:
        if not joint.is_seen:
            rows.append([joint.joint, 'not seen', *[''] * (len(header) - 2)])
            continue
        rows.append([
            joint.joint, number(joint.gain, 5), number(joint.standard_error), *(
                (
                    number(joint.bias_bound), percent(joint.standard_deviation),
                    f'{joint.both_sides} of {joint.points}', number(joint.holding_torque),
                ) if of_poses else (number(joint.largest_torque),)
            ),
        ])
    return header, rows


def _recommendations(result: DriveGainsResult) -> list[str]:
    """Return what is to be done with the gains, in sentences."""
    if not result.usable_gains:
        return [
            f'The gain of {", ".join(result.found.unseen)} is neither seen nor known before: '
            'record poses at which gravity acts on it, or use a known payload in motion.'
        ]
    if result.known_before:
        return [
            f'The gain of {", ".join(result.known_before)} cannot be seen here; the option below '
            'has the one that was known before.'
        ]
    return []


def _unit(result: DriveGainsResult, joint: str) -> str:
    """Return the unit of the gain of a joint."""
    robot = result.robot
    return robot.unit(result.options.gain_unit, robot.joint_names.index(joint))


def _units(result: DriveGainsResult) -> str:
    """Return the units of the gains of all joints."""
    return result.robot.units(result.options.gain_unit)


def gain_meaning(result: DriveGainsResult) -> Meaning:
    """Return what the gains mean: how many are seen, how well, and how to use them."""
    found = result.found
    seen = [joint for joint in found.joints if joint.is_seen]
    sentences = [
        f'{len(seen)} of {len(found.joints)} gains were found, from {METHODS[found.method]}',
    ]
    if seen:
        worst = max(seen, key=lambda joint: joint.standard_error / abs(joint.gain))
        sentences.append(
            f'the least certain of them is that of {worst.joint}: {number(worst.gain, 4)} +- '
            f'{number(worst.standard_error, 2)} {_unit(result, worst.joint)}, '
            f'{percent(worst.standard_error / abs(worst.gain))}'
        )
    usable = bool(result.option)
    return Meaning(
        'All gains found' if not found.unseen else 'Some gains found' if seen else 'No gain found',
        'good' if not found.unseen else 'usable' if usable else 'bad',
        (*sentences, *_recommendations(result)),
        'give the option below to identify, and compare with a second recording' if usable
        else 'record poses at which gravity acts on every joint, or use a known payload in motion',
    )


def drive_gains_text(result: DriveGainsResult) -> str:
    """Return drive gains as plain text."""
    found = result.found
    lines = [
        *wrap(f'Drive gains of {result.robot.name}, from {METHODS[found.method]}'),
        *wrap(f'torque: {found.torque_from}; current: {found.current_from}'),
        '',
        *text_table(*_table(result)),
        '',
        *bullets(f'{one.joint}: {one.reason}' for one in found.joints if not one.is_seen),
        *bullets([*_recommendations(result), *found.notes]),
    ]
    if result.option:
        lines += ['', 'For other commands:', f'  {result.option}']
    return '\n'.join(lines).rstrip() + '\n'


def render_drive_gains_report(result: DriveGainsResult, command_line: str = '') -> str:
    """Return the report of drive gains, one HTML file that needs no network."""
    found = result.found
    header, rows = _table(result)
    return render_page(
        'drive_gains.html.j2',
        robot=result.robot,
        meaning=gain_meaning(result),
        found=found,
        unit=_units(result),
        header=header,
        rows=rows,
        option=result.option,
        made=[
            ('Torque', found.torque_from), ('Current', found.current_from),
            *(('Recording', bag) for bag in (*result.bags, *result.options.loaded)),
        ],
        command_line=command_line,
        pictures=[
            _picture(joint, points, result.robot.unit('N m', index))
            for index, (joint, points) in enumerate(
                zip(found.joints, found.points, strict=False)
            )
            # Without torque there is nothing but rounding to draw.
            if joint.points
        ],
    )


def _picture(joint: DriveGain, points: Sequence[GainPoint], unit: str) -> Picture:
    """Draw current over torque at the poses of one joint, and the line of its gain."""
    torque = np.array([point.torque for point in points])
    current = np.array([point.current for point in points])
    both = np.array([point.both for point in points])
    series = [(torque[both], current[both], PREDICTED), (torque[~both], current[~both], RESIDUAL)]
    line = None
    if joint.is_seen:
        ends = np.array([min(torque.min(), 0.0), max(torque.max(), 0.0)])
        line = (ends, ends / joint.gain + joint.intercept, MEASURED)
    return draw_panel(series, line, (f'torque [{unit}]', 'current [A]')).picture(
        joint.joint, f'Current over torque of {joint.joint} at {len(points)} poses',
    )
