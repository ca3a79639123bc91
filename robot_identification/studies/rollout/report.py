# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The drift of simulations in a report: a table, its course, and simulated with measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.report import (
    Drawing, GAP, MARGINS, MEASURED, Picture, PREDICTED, single_panel, URDF_COLOUR, WIDE_LABELS,
    WIDTH,
)
from robot_identification.studies.rollout.drift import (
    CLOSED, HIGH_SHARE, MJCF, MODEL, OPEN, quantile, Rollout, Simulated, URDF, VELOCITY, WORDS,
)

# Green of Okabe and Ito's, different from the colours of the other figures.
GREEN = '#009e73'
COLOURS = {MODEL: PREDICTED, URDF: URDF_COLOUR, MJCF: GREEN, VELOCITY: MEASURED}
LOOPS = {OPEN: 'open loop', CLOSED: 'with the PD'}
# Rollouts drawn next to each other in a picture of a joint; chosen: no two are at one time.
DRAWN_ROLLOUTS = 6
JOINT_HEIGHT = 2.0  # [inch]


@dataclass(frozen=True)
class RolloutSection:
    """Section of the rollouts of one recording."""

    bag: str
    facts: tuple[str, ...]
    # Of the table: a row is a model in a loop, a joint or the tool, and cells by horizon.
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    course: Picture | None
    joints: tuple[Picture, ...]
    not_checked: tuple[str, ...]


def rollout_section(rollout: Rollout) -> RolloutSection:
    """Return the section of the rollouts of a recording."""
    plan = rollout.plan
    drawn = bool(plan.horizons)
    return RolloutSection(
        plan.bag,
        _facts(rollout) if drawn else (),
        ('simulated', 'loop', 'drift of', *(f'{horizon:g} s' for horizon in plan.horizons)),
        tuple(row for one in rollout.simulated for row in _rows(rollout, one)),
        course_picture(rollout) if drawn else None,
        joint_pictures(rollout) if drawn else (),
        rollout.not_checked,
    )


def _facts(rollout: Rollout) -> tuple[str, ...]:
    plan = rollout.plan
    servo = ', '.join(
        f'{name} {stiffness:.3g} and {damping:.3g}' for name, stiffness, damping in zip(
            plan.joints, rollout.stiffness, rollout.damping, strict=True
        )
    )
    halving = ', '.join(
        f'{1e3 * change:.2g} mrad after {horizon:g} s' if np.isfinite(change)
        else f'not known after {horizon:g} s'
        for change, horizon in zip(rollout.halving, plan.horizons, strict=True)
    )
    return (
        f'{len(plan.rows)} rollouts begin at measured states, evenly spread, and are driven by '
        'the measured effort. The identified model is that of the physically consistent '
        'parameters with all its friction; the URDF has no friction, and rotors only where the '
        f'robot YAML states them; the tool is {rollout.tool}.',
        f'Our step is {1e3 * rollout.step:g} ms; half of it changes the open loop of the model by '
        f'{halving} (median of the joint where it is largest).',
        f'The PD has {rollout.frequency:g} Hz and damping 1 on the identified inertia of each '
        f'joint; stiffness and damping in SI units: {servo}.',
    )


def _rows(rollout: Rollout, one: Simulated) -> list[tuple[str, ...]]:
    """Return the rows of one model in one loop, in mm at the tool, in mrad or mm of the joints."""
    stated = rollout.plan.stated
    places = [('tool', 'mm', 1e3 * one.tool)] + [
        (name, 'mm' if slides else 'mrad', 1e3 * np.abs(one.drift[:, :, joint]))
        for joint, (name, slides) in enumerate(
            zip(rollout.plan.joints, rollout.prismatic, strict=True)
        )
    ]
    return [
        (
            WORDS[one.name], LOOPS[one.loop], f'{name} [{unit}]',
            *(
                f'{_cell(middle)} ({_cell(high)})' for middle, high in zip(
                    quantile(values, 0.5)[stated], quantile(values, HIGH_SHARE)[stated],
                    strict=True,
                )
            ),
        )
        for name, unit, values in places
    ]


def _cell(value: float) -> str:
    return f'{value:.3g}' if np.isfinite(value) else 'lost'


def course_picture(rollout: Rollout) -> Picture:
    """Draw the median drift at the tool over time, open loop above, with the PD below."""
    drawing = Drawing(WIDTH, 3.6)
    panels = drawing.panels((WIDE_LABELS, *MARGINS[1:]), rows=(1.0, 1.0), gaps=(0.0, 2.0 * GAP))
    times = rollout.plan.times[1:]
    for panel, loop in zip(panels, (OPEN, CLOSED), strict=True):
        panel.y.logarithmic = True
        for one in rollout.simulated:
            if one.loop == loop:
                middle, high = (
                    _finite(quantile(1e3 * one.tool, share)[1:]) for share in (0.5, HIGH_SHARE)
                )
                panel.curve(times, middle, COLOURS[one.name], 1.4)
                panel.curve(times, high, COLOURS[one.name], 0.5)
        panel.label(f'tool [mm]\n{LOOPS[loop]}', '')
        panel.x.set_limits(0.0, float(times[-1]))
    panels[0].x.numbered = False
    panels[1].label(f'tool [mm]\n{LOOPS[CLOSED]}', 'time after the start [s]')
    return drawing.picture('', (
        'Distance of the simulated tool from the measured one over time, median and 90 % of the '
        'rollouts: blue the identified model, green the exported MJCF, purple the URDF alone, '
        'grey no model at all, but a constant velocity'
    ))


def joint_pictures(rollout: Rollout) -> tuple[Picture, ...]:
    """Draw measured and simulated positions of every joint, in an open loop."""
    chosen = _successive(rollout)
    pictures = []
    for joint, name in enumerate(rollout.plan.joints):
        drawing, panel = single_panel(JOINT_HEIGHT)
        panel.y.include(rollout.measured[:, chosen, joint].ravel())
        limits = panel.y.ends()
        room = 0.5 * (limits[1] - limits[0])
        panel.y.set_limits(limits[0] - room, limits[1] + room)
        for number in chosen:
            t = rollout.plan.stamps[number] + rollout.plan.times
            panel.curve(t, rollout.measured[:, number, joint], MEASURED, 2.4)
            for what in (URDF, MODEL):
                one = rollout.find(what, OPEN)
                if one is not None:
                    panel.curve(t, _within(one.q[:, number, joint], panel.y.ends()),
                                COLOURS[what], 1.1)
        unit = 'm' if rollout.prismatic[joint] else 'rad'
        panel.label(f'position [{unit}]', 'time [s]')
        pictures.append(drawing.picture(name, (
            f'Position of {name}: grey measured, blue simulated by the identified model, purple '
            'by the URDF alone, each from measured states under the measured effort'
        )))
    return tuple(pictures)


def _successive(rollout: Rollout) -> list[int]:
    """Return some rollouts of which none begins before another has ended."""
    length, last = float(rollout.plan.times[-1]), -np.inf
    found: list[int] = []
    for number, stamp in enumerate(rollout.plan.stamps.tolist()):
        if stamp - last >= length and len(found) < DRAWN_ROLLOUTS:
            found.append(number)
            last = stamp
    return found


def _within(values: FloatArray, ends: tuple[float, float]) -> FloatArray:
    """Return a curve up to where it leaves the panel."""
    with np.errstate(invalid='ignore'):
        outside = ~((values >= ends[0]) & (values <= ends[1]))
    return np.where(np.logical_or.accumulate(outside), np.nan, values)


def _finite(values: FloatArray) -> FloatArray:
    return np.where(np.isfinite(values), values, np.nan)
