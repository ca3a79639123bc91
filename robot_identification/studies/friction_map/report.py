# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A friction map as text, CSV, JSON, YAML and report.html."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from robot_identification.files import dump_yaml, to_finite
from robot_identification.report import (
    attributes, box, bullets, Drawing, fixed, FONT_SIZE, MARGINS, NOT_AVAILABLE, number,
    Panel, Picture, render_page, text_at, text_table, WIDE_LABELS, WIDTH, wrap,
)
from robot_identification.studies.friction_map.curves import FrictionCurve
from robot_identification.studies.friction_map.estimate import (
    FrictionMap, FrictionPoint, GRAVITY_WORDS,
)
from robot_identification.texts import csv_cell

SCHEMA_VERSION = 1  # of the file
FRICTION_MAP_FILES = (
    'friction_map.json', 'friction_map.csv', 'friction_curves.yaml', 'report.html', 'results.txt',
)
# Columns of the CSV file, keys of a point in the JSON file, with the attribute of `FrictionPoint`.
COLUMNS = {
    'standard_error' if item.name == 'error' else item.name: item.name
    for item in fields(FrictionPoint)
}
CURVE_HEADER = ('joint', 'curve', 'coefficient', 'value', 'std. error', 'unit')
TRIAL_HEADER = ('joint', 'curve', 'speeds left out [N m]', 'fit [N m]', '')
CONDITION_HEADER = ('bag', 'joint', 'payload [kg]', '[deg C]', 'load [N m]', 'speeds', 'points')
# Temperatures are drawn from blue to vermilion, distinguishable in every kind of colour vision.
COLOURS = ('#0072b2', '#56b4e9', '#e69f00', '#d55e00')
LEGEND_EDGE = 8.0  # between the axis and the legend [points]
# Samples of a drawn curve, each way.
CURVE_SAMPLES = 150


def curve_content(curve: FrictionCurve) -> dict[str, Any]:
    """Return a curve as it stands in files."""
    errors = {(one.law, one.name): one for one in curve.constants}
    return {
        'curve': curve.name,
        **attributes(curve, 'speeds', 'load', 'temperature', 'deviation'),
        'laws': [
            {
                'law': law.name,
                'constants': law.constants(),
                'constants_found': [
                    name for name in law.shape if errors[law.name, name].determined
                ],
                'coefficients': [
                    attributes(term, 'symbol', 'unit', 'value', standard_error='error')
                    for term in curve.terms if term.law == law.name
                ],
            }
            for law in curve.laws
        ],
    }


def friction_map_content(found: FrictionMap) -> dict[str, Any]:
    """Return the content of friction_map.json (docs/measuring_friction.md)."""
    return {
        'schema_version': SCHEMA_VERSION,
        'robot': found.robot,
        'joints': [
            {
                'joint': joint,
                **({} if curve is None else curve_content(curve)),
                'trials': [] if curve is None else [
                    attributes(trial, 'left_out', 'deviation', curve='name')
                    for trial in curve.trials
                ],
                'points': [attributes(point, **COLUMNS) for point in found.of_joint(joint)],
            }
            for joint in found.joint_names
            for curve in [found.curves.get(joint)]
        ],
        'notes': list(found.notes),
    }


def friction_map_csv(found: FrictionMap) -> str:
    """Return the points as CSV with one header line; what does not exist is an empty cell."""
    lines = [','.join(COLUMNS)]
    lines += [
        ','.join(_cell(value) for value in attributes(point, **COLUMNS).values())
        for point in found.points
    ]
    return '\n'.join(lines) + '\n'


def friction_curves_yaml(found: FrictionMap) -> str:
    """Return the curves as YAML, for controllers and simulators."""
    return dump_yaml(to_finite({
        'schema_version': SCHEMA_VERSION,
        'robot': found.robot,
        'joints': {joint: curve_content(curve) for joint, curve in found.curves.items()},
    }))


def curve_rows(found: FrictionMap) -> list[tuple[str, ...]]:
    """Return the coefficients and constants of all curves; titles are CURVE_HEADER."""
    rows: list[tuple[str, ...]] = []
    for joint, curve in found.curves.items():
        rows += [
            (joint, curve.name, f'{term.symbol} ({term.law})', number(term.value, 4),
             number(term.error, 2), term.unit)
            for term in curve.terms
        ]
        rows += [
            (joint, curve.name, f'{one.name} ({one.law})', number(one.value, 3),
             number(one.standard_error, 2), '' if one.name.endswith('exponent')
             else found.unit('rad/s', joint))
            for one in curve.constants if one.determined
        ]
    return rows


def trial_rows(found: FrictionMap) -> list[tuple[str, ...]]:
    """Return how well each curve did, the chosen one marked; titles are TRIAL_HEADER."""
    return [
        (joint, trial.name, number(trial.left_out), number(trial.deviation),
         'taken' if trial.name == curve.name else '')
        for joint, curve in found.curves.items() for trial in curve.trials
    ]


def condition_rows(found: FrictionMap) -> list[tuple[str, ...]]:
    """Return under what conditions points were found; titles are CONDITION_HEADER."""
    rows: list[tuple[str, ...]] = []
    for joint in found.joint_names:
        points = found.of_joint(joint)
        for bag in dict.fromkeys(point.bag for point in points):
            own = [point for point in points if point.bag == bag]
            sizes = [abs(point.speed) for point in own]
            rows.append((
                bag, joint, fixed(own[0].payload, 2),
                fixed(float(np.mean([point.temperature for point in own])), 1),
                number(float(np.mean([point.load for point in own]))),
                f'{number(min(sizes), 2)} to {number(max(sizes), 2)}', str(len(own)),
            ))
    return rows


def gravity_sentences(found: FrictionMap) -> list[str]:
    """Return for which joints gravity came from where."""
    sentences = []
    for kind, words in GRAVITY_WORDS.items():
        joints = [
            joint for joint in found.joint_names
            if any(point.gravity == kind for point in found.of_joint(joint))
        ]
        if joints:
            sentences.append(f'{", ".join(joints)}: {words}.')
    return sentences


def friction_map_text(found: FrictionMap) -> str:
    """Return a map as plain text, at most 100 columns wide."""
    lines = [
        *wrap(f'Friction map of {found.robot}: {len(found.points)} points at constant velocity'),
        '',
        *text_table(CONDITION_HEADER, condition_rows(found)), '',
        *text_table(CURVE_HEADER, curve_rows(found)), '',
        *wrap('Root mean square error at speeds left out of the fit, and of the fit of all; the '
              'simplest curve that is as good as the best is taken:'),
        *text_table(TRIAL_HEADER, trial_rows(found)), '',
        *bullets([*gravity_sentences(found), *found.notes]),
    ]
    return '\n'.join(lines) + '\n'


def render_friction_map_report(
    found: FrictionMap, bags: Sequence[str], command_line: str = ''
) -> str:
    """Return the report of a map, one HTML file that needs no network."""
    return render_page(
        'friction_map.html.j2',
        found=found,
        condition_header=CONDITION_HEADER,
        condition_rows=condition_rows(found),
        curve_header=CURVE_HEADER,
        curve_rows=curve_rows(found),
        trial_header=TRIAL_HEADER,
        trial_rows=trial_rows(found),
        gravity=gravity_sentences(found),
        pictures=[
            friction_picture(
                joint, found.of_joint(joint), found.curves.get(joint),
                (found.unit('N m', joint), found.unit('rad/s', joint)),
            )
            for joint in found.joint_names if found.of_joint(joint)
        ],
        bags=list(bags),
        command_line=command_line,
    )


def friction_picture(
    joint: str, points: Sequence[FrictionPoint], curve: FrictionCurve | None,
    units: tuple[str, str] = ('N m', 'rad/s'),
) -> Picture:
    """
    Draw friction over speed with two standard errors, and its curve, bag by bag.

    Both directions go to the right, over the logarithm of the speed: what bends, bends at slow
    speeds. `units` are those of friction and speed.
    """
    torque, speed = units
    drawing = Drawing(WIDTH, 3.6)
    panel, = drawing.panels((WIDE_LABELS, *MARGINS[1:]))
    panel.x.logarithmic = True
    panel.x.margin = 0.03
    left, line = panel.left + LEGEND_EDGE, panel.top
    for place, bag in enumerate(_by_temperature(points)):
        own = [point for point in points if point.bag == bag]
        colour = COLOURS[place % len(COLOURS)]
        line += 1.3 * FONT_SIZE
        conditions = _conditions(own[0].payload, float(np.mean([one.temperature for one in own])))
        drawing.add(box(
            left, line - 0.5 * FONT_SIZE, FONT_SIZE, 0.25 * FONT_SIZE, f'fill="{colour}"'
        ))
        drawing.add(text_at(left + 1.5 * FONT_SIZE, line, conditions))
        for sign in (1.0, -1.0):
            _draw_direction(panel, [one for one in own if sign * one.speed > 0.0], sign, colour)
            if curve is not None:
                _draw_curve(panel, own, curve, sign, colour)
    # Room for the legend above the curves.
    low, high = panel.y.ends()
    free = (line - panel.top + FONT_SIZE) / panel.y.length
    panel.y.set_limits(low, low + (high - low) / (1.0 - free))
    panel.label(f'friction against\nthe motion [{torque}]', f'speed [{speed}]')
    return drawing.picture(
        joint,
        f'Friction of {joint} over its speed at {len(points)} points'
        + ('' if curve is None else f', with the curve {curve.name}'),
    )


def _draw_direction(
    panel: Panel, points: Sequence[FrictionPoint], sign: float, colour: str
) -> None:
    """Draw the points of one bag and direction with two standard errors."""
    if not points:
        return
    speed, friction, error = np.array([
        (point.speed, point.friction, point.error) for point in points
    ]).T
    panel.error_bars(sign * speed, sign * friction, 2.0 * error, colour)
    panel.dots(sign * speed, sign * friction, colour, 4.0 if sign > 0.0 else 2.5)


def _draw_curve(
    panel: Panel, points: Sequence[FrictionPoint], curve: FrictionCurve, sign: float, colour: str
) -> None:
    """Draw a curve at the mean load and temperature of some points."""
    load, mean = np.mean([(point.load, point.temperature) for point in points], axis=0)
    speed = np.geomspace(*curve.speeds, CURVE_SAMPLES)
    temperature = float(mean) if np.isfinite(mean) else None
    torque = sign * curve.torque(sign * speed, float(load), temperature)
    panel.curve(
        speed, torque, colour, 1.0, name='forwards' if sign > 0.0 else 'backwards',
        dashed=sign < 0.0,
    )


def _by_temperature(points: Sequence[FrictionPoint]) -> list[str]:
    """Return the bags, the coldest first; those without temperatures as they come."""
    bags = dict.fromkeys(point.bag for point in points)

    def temperature(bag: str) -> float:
        values = [point.temperature for point in points if point.bag == bag]
        return float(np.nan_to_num(np.mean(values)))

    return sorted(bags, key=temperature)


def _conditions(payload: float, temperature: float) -> str:
    """Return payload and temperature in a few words, without any of the user's text."""
    words = [
        text for text, value in (
            (f'{payload:.3g} kg', payload), (f'{temperature:.1f} °C', temperature)
        ) if np.isfinite(value)
    ]
    return ', '.join(words) or NOT_AVAILABLE


def _cell(value: str | float) -> str:
    if isinstance(value, str):
        # Names of files may hold a comma or a quote.
        text = csv_cell(value)
        return '"' + text.replace('"', '""') + '"' if set(text) & set(',"') else text
    return f'{value:.9g}' if np.isfinite(value) else ''
