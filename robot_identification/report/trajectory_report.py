# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Report of a trajectory: is it proved safe, what will it show, and how to run it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import math
from typing import Any

from robot_identification.excitation import (
    CRITERIA, describe_certificate_gaps, describe_waived_collision, Evaluation, Experiment,
    Trajectory, UNITS_NOTE, WeakParameter,
)
from robot_identification.model import describe_placeholders, RobotModel
from robot_identification.report.formatting import NOT_AVAILABLE, number, percent
from robot_identification.report.page import render_page
from robot_identification.report.parameters import WEAK_SHARE
from robot_identification.report.trajectory_figure import joint_pictures, path_pictures
from robot_identification.validation import Verdict

LIMIT_UNITS = {
    'position': 'rad', 'velocity': 'rad/s', 'acceleration': 'rad/s²', 'torque': 'N m',
    'jerk': 'rad/s³',
}


@dataclass(frozen=True)
class LimitRow:
    """Margin of a motion to one kind of limit."""

    # The limit, its unit, and the joint that comes nearest.
    kind: str
    unit: str
    joint: str
    # What the joint reaches, the limit with its margin, and the part of it that is used.
    value: float
    limit: float
    share: float
    when: str  # in words


def render_trajectory_report(
    robot: RobotModel,
    trajectory: Trajectory,
    experiment: Experiment,
    evaluation: Evaluation,
    *,
    path: str = '',
    refused: str = '',
    command_line: str = '',
) -> str:
    """
    Return the report of a trajectory, one HTML file that needs no network.

    `path` is where the trajectory was written, empty if it was not; `refused` is why it has no
    certificate, empty if it has one.
    """
    certificate = {} if refused else trajectory.certificate
    before = certificate.get('search', {}).get('criteria_before')
    columns = criteria_columns(evaluation, {'random start': before} if before else None)
    return render_page(
        'trajectory.html.j2',
        robot=robot,
        trajectory=trajectory,
        certificate=certificate,
        experiment=experiment,
        evaluation=evaluation,
        verdict=judge_trajectory(
            robot, trajectory, evaluation, refused, describe_placeholders(robot)
        ),
        refused=refused,
        not_checked=describe_certificate_gaps(certificate, trajectory.joint_names),
        limits=limit_rows(robot, certificate),
        criteria_titles=tuple(columns),
        # Name, meaning and values of each.
        criteria=[
            (
                name.replace('_', ' '), criterion.meaning,
                [_cell(values.get(name)) for values in columns.values()],
            )
            for name, criterion in CRITERIA.items()
        ],
        units_note=UNITS_NOTE,
        weak=evaluation.weak,
        hardly_shown=hardly_shown(evaluation),
        joints=joint_pictures(robot, trajectory, experiment),
        paths=path_pictures(robot, trajectory, experiment),
        path=path or 'trajectory.yaml',
        command_line=command_line,
    )


def judge_trajectory(
    robot: RobotModel, trajectory: Trajectory, evaluation: Evaluation, refused: str,
    masses: str = '',
) -> Verdict:
    """
    Return whether a motion may be run and is informative.

    `refused` says why there is no certificate, `masses` why the masses of the description look
    invented; both may be empty.
    """
    weak = hardly_shown(evaluation)
    shows = (
        f'{len(weak)} of {len(evaluation.weak)} parameters are hardly shown: '
        f'{", ".join(one.name for one in weak[:5])}'
        + (' and others' if len(weak) > 5 else '')
        if weak else f'all {len(evaluation.weak)} parameters with a value are shown'
    )
    if refused:
        return Verdict(
            'bad', (f'not certified: {refused}', *([masses] if masses else []), shows),
            'change the motion or the margins: nothing executes a motion without a certificate',
        )
    certificate = trajectory.certificate
    limits = limit_rows(robot, certificate)
    nearest = max(limits, key=lambda row: row.share, default=None)
    gaps = describe_certificate_gaps(certificate, trajectory.joint_names)
    reasons = [*gaps, *([masses] if masses else [])]
    if nearest is not None:
        reasons.append(
            f'every limit {"that is known " if gaps else ""}is kept with its margin; nearest is '
            f'the {nearest.kind} of {nearest.joint}, {percent(nearest.share)} of what the margin '
            'leaves'
        )
    reasons += [*_clearance_words(certificate), shows]
    reserve = certificate.get('torque_reserve')
    is_limited = certificate.get('collision') == 'off' or bool(gaps or masses)
    if reserve is not None and reserve < 0.2:
        reasons.append(
            f'only {percent(reserve)} of the torque limit is left for friction, which the '
            'description does not know'
        )
        is_limited = True
    return Verdict(
        'usable' if weak or is_limited else 'good', tuple(reasons),
        'simulate it, state what is missing, and certify it again: the runner of a real arm '
        'refuses a motion that was not checked in full' if gaps else
        'simulate it, then run it slowly with the hash below and the emergency stop in your hand',
    )


def hardly_shown(evaluation: Evaluation) -> tuple[WeakParameter, ...]:
    """Return the parameters that one run leaves unknown by more than half of their value."""
    return tuple(
        one for one in evaluation.weak
        if one.share > WEAK_SHARE or not math.isfinite(one.standard_error)
    )


def limit_rows(robot: RobotModel, certificate: Mapping[str, Any]) -> tuple[LimitRow, ...]:
    """Return how near a certified motion comes to each kind of limit."""
    places = {name: joint for joint, name in enumerate(robot.joint_names)}

    def unit_of(kind: str, joint: str) -> str:
        unit = LIMIT_UNITS.get(kind, '')
        return robot.unit(unit, places[joint]) if joint in places else unit

    return tuple(
        LimitRow(
            kind.replace('_', ' '),
            unit_of(kind, str(use['joint'])),
            str(use['joint']),
            float(use['value']),
            math.nan if use['limit'] is None else float(use['limit']),
            float(use['share']),
            'by its bound' if use['time'] is None else f'at {use["time"]:.2f} s',
        )
        for kind, use in certificate.get('limits', {}).items()
    )


def _clearance_words(certificate: Mapping[str, Any]) -> tuple[str, ...]:
    entry = certificate.get('collision')
    if not isinstance(entry, dict):
        waived = describe_waived_collision(certificate)
        return (waived,) if waived else ()
    if entry['nearest'] is None:
        return ('there is nothing that the arm could touch',)
    return (
        f'{entry["clearance"]:g} m to the arm itself and to obstacles is kept at every '
        f'instant; nearest come {" and ".join(entry["pair"])}, '
        f'{number(entry["nearest"])} m at {entry["time"]:.2f} s',
    )


def criteria_columns(
    evaluation: Evaluation, more: Mapping[str, Mapping[str, float | None]] | None = None
) -> dict[str, Mapping[str, float | None]]:
    """Return criteria by the titles of their columns, those of other motions (`more`) first."""
    columns = dict(more or {})
    columns['dense' if evaluation.optimized else 'recorded'] = evaluation.dense
    for one in evaluation.optimized:
        ends = 'with both ends' if one.both_ends else 'at k T/N'
        columns[f'{one.samples} {ends}'] = one.criteria
    return columns


def _cell(value: float | None) -> str:
    if value is None or math.isnan(value):
        return NOT_AVAILABLE
    return number(value, 4) if math.isfinite(value) else 'infinite'
