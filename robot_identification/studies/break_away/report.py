# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Write what break-away tests found: a file for scripts, a text and a page with box plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import UsageError
from robot_identification.files import dump_yaml, to_plain, write_results
from robot_identification.report import (
    bullets, Drawing, fixed, FONT_SIZE, MARGINS, MEASURED, number, Panel, percent, Picture,
    POINTS_PER_INCH, PREDICTED, render_page, RESIDUAL, text_at, text_table, WIDE_LABELS, WIDTH,
    wrap,
)
from robot_identification.studies.break_away.estimate import (
    BoxStatistics, break_away_content, BreakAway, corrected_torque, CORRECTIONS, load_break_away,
)

BREAK_AWAY_FILES = ('break_away.yaml', 'results.txt', 'report.html')
DIRECTIONS = {1: '+', -1: '-'}
# Of a picture [in].
HEIGHT = 2.8
# Width of a box, and that over which repeats are drawn, so that equal ones are seen; in distances
# of boxes.
BOX = 0.7
WIDTH_OF_REPEATS = 0.35
# Scales show at least this share of the torque; chosen: less is no news.
LEAST_SCALE = 0.01
TABLE_WORDS = (
    'Torques are in N m (of a joint that slides in N), signs those of the direction. From, to: '
    'the interval of the median, by bootstrap of the repeats, 95 %. IQR: Q3 less Q1, over the '
    'median. Outliers are more than 1.5 IQR beyond the quartiles; the median counts them. '
    'Uncorrected: the median of the torques commanded when the joint passed the threshold, as '
    'Rajagopal 2017 reports it; what accelerated the joint until then is in it.'
)
# What the two panels of a picture show.
CORRECTION_WORDS = {
    'onset': 'at the onset of motion', 'inertia': 'at the threshold, less inertia',
    'none': 'at the threshold',
}
_HEADER = (
    'joint', 'sign', 'ramps', 'median', 'from', 'to', 'Q1', 'Q3', 'IQR', 'outliers',
    'uncorrected',
)
_COMPARED = (
    'joint', 'sign',
    *('none (uncorrected)' if name == 'none' else name for name in CORRECTIONS),
)


def _rows(found: Sequence[BreakAway]) -> list[list[str]]:
    """Return a row for each joint and direction."""
    return [
        [
            joint.run.joint, DIRECTIONS[direction], str(box.count), number(box.median, 4),
            number(box.interval[0], 4), number(box.interval[1], 4),
            number(box.lower_quartile, 4), number(box.upper_quartile, 4),
            percent(box.interquartile_range / box.median) if box.median else '',
            str(len(box.outliers)), number(joint.uncorrected[direction].median, 4),
        ]
        for joint in found for direction, box in joint.boxes.items()
    ]


def _compared(found: Sequence[BreakAway]) -> list[list[str]]:
    """Return the medians by every correction, for each joint and direction."""
    return [
        [joint.run.joint, DIRECTIONS[direction], *(
            number(float(np.median([
                corrected_torque(repeat, joint.run.settings.inertia, correction)
                for repeat in joint.run.towards(direction)
            ])), 4) for correction in CORRECTIONS
        )]
        for joint in found for direction in joint.boxes
    ]


def _how(joint: BreakAway) -> str:
    """State in a sentence how a joint was tested."""
    settings, unit = joint.run.settings, joint.run.settings.unit
    pose = {
        'free': 'in a gravity-free pose', 'subtracted': 'with the moment of gravity subtracted',
    }[joint.run.gravity]
    return (
        f'{joint.run.joint}: {len(joint.run.repeats)} ramps of {number(settings.rate)} '
        f'{unit("N m/s")} up to {number(settings.torque_cap)} {unit("N m")}, threshold '
        f'{number(settings.threshold)} {unit("rad/s")} in {settings.confirming_samples} '
        f'samples, {pose}; correction {joint.correction}, inertia '
        f'{number(settings.inertia)} {unit("kg m^2")}'
    )


def break_away_text(robot: str, found: Sequence[BreakAway]) -> str:
    """Return the results of some joints as plain text; `robot` may be empty."""
    lines = [
        *wrap(f'Break-away torque{f" of {robot}" if robot else ""}'),
        '',
        *text_table(_HEADER, _rows(found)),
        '',
        *wrap(TABLE_WORDS),
        '',
        'Medians by correction:',
        *text_table(_COMPARED, _compared(found)),
        '',
    ]
    for joint in found:
        lines += bullets([_how(joint), *(f'{joint.run.joint}: {note}' for note in joint.notes)])
    return '\n'.join(lines).rstrip() + '\n'


def render_break_away_report(robot: str, found: Sequence[BreakAway]) -> str:
    """Return the report, one HTML file that needs no network; the robot may be empty."""
    return render_page(
        'break_away.html.j2',
        robot=robot,
        header=_HEADER,
        rows=_rows(found),
        words=TABLE_WORDS,
        compared_header=_COMPARED,
        compared=_compared(found),
        pictures=[draw_boxes(joint) for joint in found],
        how=[_how(joint) for joint in found],
        notes=[f'{joint.run.joint}: {note}' for joint in found for note in joint.notes],
    )


def draw_boxes(joint: BreakAway) -> Picture:
    """Draw the box of each direction and every repeat as a point; on the right uncorrected."""
    panels = [(joint.correction, joint.boxes, joint.values)]
    if joint.correction != 'none':
        torques = {
            direction: np.array([repeat.torque for repeat in joint.run.towards(direction)])
            for direction in joint.uncorrected
        }
        panels.append(('none', joint.uncorrected, torques))
    unit = joint.run.settings.unit('N m')
    drawing = Drawing(WIDTH, HEIGHT)
    span = max(
        *(float(np.ptp(np.concatenate([*values.values()]))) for _, _, values in panels),
        LEAST_SCALE * abs(joint.torque),
    )
    # Scales begin elsewhere: the scatter of the repeats is less than what the panels differ by.
    margins = (WIDE_LABELS, *MARGINS[1:3], 2.0 * FONT_SIZE / POINTS_PER_INCH)
    placed = drawing.panels(margins, columns=len(panels), gaps=(MARGINS[0], 0.0))
    for panel, (correction, boxes, values) in zip(placed, panels, strict=True):
        _draw_panel(drawing, panel, boxes, values)
        every = np.concatenate([*values.values()])
        middle = 0.5 * float(every.min() + every.max())
        panel.y.set_limits(middle - 0.55 * span, middle + 0.55 * span)
        panel.label('' if panel is not placed[0] else f'torque [{unit}]', 'direction')
        drawing.add(text_at(
            panel.left + 0.5 * panel.x.length, panel.top - 0.5 * FONT_SIZE,
            CORRECTION_WORDS[correction], anchor='middle',
        ))
    medians = ' and '.join(
        f'{fixed(box.median)} {unit} in direction {DIRECTIONS[direction]} '
        f'(uncorrected {fixed(joint.uncorrected[direction].median)} {unit})'
        for direction, box in joint.boxes.items()
    )
    return drawing.picture(
        joint.run.joint,
        f'Box plots of the break-away torque of {joint.run.joint}: medians {medians}',
    )


def _draw_panel(
    drawing: Drawing, panel: Panel, boxes: Mapping[int, BoxStatistics],
    values: Mapping[int, FloatArray],
) -> None:
    panel.x.set_limits(-0.6, len(boxes) - 0.4)
    panel.x.ticked = False
    for place, (direction, one) in enumerate(boxes.items()):
        left, right = place - 0.5 * BOX, place + 0.5 * BOX
        low, high = one.lower_quartile, one.upper_quartile
        for x, y in (
            ((left, right, right, left, left), (low, low, high, high, low)),
            ((place, place), (one.lower_whisker, low)),
            ((place, place), (high, one.upper_whisker)),
        ):
            panel.curve(np.array(x, dtype=float), np.array(y), MEASURED, 1.0)
        panel.curve(np.array([left, right]), np.full(2, one.median), RESIDUAL, 1.6)
        at = place + WIDTH_OF_REPEATS * np.linspace(-0.5, 0.5, len(values[direction]))
        panel.dots(at, values[direction], PREDICTED, 3.0)
        along, = panel.x.place(np.array([float(place)]))
        drawing.add(text_at(
            panel.left + float(along), panel.top + panel.y.length + 1.3 * FONT_SIZE,
            DIRECTIONS[direction], anchor='middle',
        ))


def other_joints(directory: Path, robot: str, joint: str) -> list[BreakAway]:
    """
    Return what a folder holds of other joints of a robot; one folder is for all of them.

    Raises UsageError if it holds results of another robot.
    """
    path = directory / BREAK_AWAY_FILES[0]
    if not path.exists():
        return []
    whose, found = load_break_away(path)
    if whose != robot:
        raise UsageError(
            f'{path} is of the robot {whose!r}, this one is {robot!r}: name another output'
        )
    return [one for one in found if one.run.joint != joint]


def check_holds_no(directory: Path, robot: str, joint: str) -> None:
    """Raise UsageError if a folder holds results of a joint, or of another robot."""
    path, others = directory / BREAK_AWAY_FILES[0], other_joints(directory, robot, joint)
    if path.exists() and len(load_break_away(path)[1]) > len(others):
        raise UsageError(
            f'{path} holds results of {joint} already: set overwrite, or name another output'
        )


def save_break_away(
    directory: Path, robot: str, found: Sequence[BreakAway], *, force: bool
) -> None:
    """
    Write the files of break-away tests into a folder, all of them or none.

    Raises UsageError if one of them exists already and `force` is not set.
    """
    write_results(directory, {
        'break_away.yaml': dump_yaml(to_plain(break_away_content(robot, found))),
        'results.txt': break_away_text(robot, found),
        'report.html': render_break_away_report(robot, found),
    }, force)
