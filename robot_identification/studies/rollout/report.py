# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The drift of simulations in words, in validation.json, and in the report of a validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
import math
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray, IntArray
from robot_identification.files import to_finite
from robot_identification.report import (
    attributes, Drawing, GAP, MARGINS, MEASURED, Picture, PREDICTED, single_panel, URDF_COLOUR,
    WIDE_LABELS, WIDTH,
)
from robot_identification.studies.rollout.drift import Simulated
from robot_identification.studies.rollout.study import (
    CLOSED, MJCF, MODEL, OPEN, Rollout, URDF, VELOCITY, WORDS,
)
from robot_identification.validation import BAD, Limit, SIMULATION, Validation

# A drift that is smaller is near the recording, for any drift of a constant velocity [rad or m];
# chosen: half of the runner's tolerance of tracking.
LEAST_STRAY = 0.05
# Of the starts, below which the larger of the two stated drifts is.
HIGH_SHARE = 0.9
# Green of Okabe and Ito's, different from the colours of the other figures.
GREEN = '#009e73'
COLOURS = {MODEL: PREDICTED, URDF: URDF_COLOUR, MJCF: GREEN, VELOCITY: MEASURED}
LOOPS = {OPEN: 'open loop', CLOSED: 'with the PD'}
# Rollouts drawn next to each other in a picture of a joint; chosen: no two are at one time.
DRAWN_ROLLOUTS = 6
JOINT_HEIGHT = 2.0  # [inch]


def quantile(values: FloatArray, share: float) -> FloatArray:
    """Return what a share of the starts (axis 1) does not exceed: one of the values."""
    found: FloatArray = np.quantile(values, share, axis=1, method='higher')
    return found


def median_and_high(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the two stated quantiles over the starts of values [m], [rad], in mm or mrad."""
    return 1e3 * quantile(values, 0.5), 1e3 * quantile(values, HIGH_SHARE)


def describe_rollout(rollout: Rollout) -> list[str]:
    """Return the drift in words, the most telling first."""
    plan = rollout.plan
    if not plan.horizons:
        return [f'drift: not checked ({"; ".join(rollout.not_checked)})']
    at = min(1, len(plan.horizons) - 1)
    words = []
    for loop, under in (
        (OPEN, 'under the measured effort alone'),
        (CLOSED, f'with a PD of {rollout.frequency:g} Hz beside it'),
    ):
        drifts = [
            f'{WORDS[one.name]} {_drift_words(one, rollout, int(plan.stated[at]))}'
            for one in rollout.simulated if one.loop == loop
        ]
        if drifts:
            words.append(
                f'drift of a simulation {under}, {plan.horizons[at]:g} s after '
                f'{len(plan.rows)} measured states (median; 90 % below): {"; ".join(drifts)} '
                f'({plan.bag})'
            )
    return words + [f'drift not checked of {one}' for one in rollout.not_checked]


def find_strays(rollout: Rollout) -> list[str]:
    """Return the joints that a simulation holds worse than a constant velocity, in words."""
    plan = rollout.plan
    exported = rollout.find(MJCF, OPEN) or rollout.find(MODEL, OPEN)
    plain = rollout.find(VELOCITY, OPEN)
    if exported is None or plain is None or not plan.horizons:
        return []
    at = min(1, len(plan.horizons) - 1)
    ours, constant = (
        quantile(np.abs(one.drift), 0.5)[plan.stated[at]] for one in (exported, plain)
    )
    return [
        f'{WORDS[exported.name]} is {1e3 * ours[joint]:.3g} '
        f'{"mm" if rollout.prismatic[joint] else "mrad"} from the recording at '
        f'{plan.joints[joint]} after {plan.horizons[at]:g} s, {WORDS[VELOCITY]} '
        f'{1e3 * constant[joint]:.3g} ({plan.bag})'
        for joint in np.flatnonzero(ours > np.maximum(constant, LEAST_STRAY))
    ]


def _drift_words(one: Simulated, rollout: Rollout, at: int) -> str:
    """Return the drift at one instant: at the tool, and of the joint that drifts most."""
    tool, high = (float(found[at]) for found in median_and_high(one.tool))
    median = median_and_high(np.abs(one.drift))[0][at]
    worst = int(np.argmax(median))
    where = rollout.plan.joints[worst]
    unit = 'mm' if rollout.prismatic[worst] else 'mrad'
    joint = f'{median[worst]:.3g} {unit} at {where}'
    if not math.isfinite(median[worst]):
        joint = f'{where} lost, further away than {"a metre" if unit == "mm" else "half a turn"}'
    if not math.isfinite(tool):
        return 'breaks down'
    return f'{tool:.3g} mm ({high:.3g}) at the tool, {joint}'


def rollout_content(rollout: Rollout) -> dict[str, Any]:
    """Return the drift as plain numbers [mrad], [mm]; what is lost is None."""
    plan, stated = rollout.plan, rollout.plan.stated
    content: dict[str, Any] = to_finite({
        'bag': plan.bag,
        'joints': plan.joints,
        'starts': len(plan.rows),
        'horizons': plan.horizons,
        'tool': rollout.tool,
        'step': rollout.step,
        'halving': 1e3 * rollout.halving,
        'servo': attributes(rollout, 'frequency', 'stiffness', 'damping'),
        'models': [_drift_content(one, stated) for one in rollout.simulated if plan.horizons],
        'not_checked': rollout.not_checked,
    })
    return content


def _drift_content(one: Simulated, stated: IntArray) -> dict[str, Any]:
    joint_median, joint_high = median_and_high(np.abs(one.drift))
    tool_median, tool_high = median_and_high(one.tool)
    return {
        'model': one.name,
        'loop': one.loop,
        'joint_median': joint_median[stated],
        'joint_high': joint_high[stated],
        'tool_median': tool_median[stated],
        'tool_high': tool_high[stated],
        'lost': np.isinf(one.drift[stated]).any(axis=2).sum(axis=1),
    }


def with_rollouts(validation: Validation, rollouts: Sequence[Rollout]) -> Validation:
    """Return a validation with the drift of simulations, also in the verdict's words."""
    unseen = [one for one in rollouts if one.plan.bag not in validation.training] or rollouts
    words = [text for one in unseen for text in describe_rollout(one)]
    verdict = replace(validation.verdict, reasons=(*validation.verdict.reasons, *words)).limited([
        Limit(SIMULATION, BAD, text) for one in unseen for text in find_strays(one)
    ])
    return replace(
        validation, verdict=verdict, rollouts=tuple(rollout_content(one) for one in rollouts)
    )


def rollout_section(rollout: Rollout) -> dict[str, Any]:
    """
    Return the section of the report on the rollouts of a recording.

    A row of its table is a model in a loop, a joint or the tool, and cells by horizon.
    """
    plan = rollout.plan
    drawn = bool(plan.horizons)
    return {
        'bag': plan.bag,
        'facts': _facts(rollout) if drawn else (),
        'header': ('simulated', 'loop', 'drift of', *(f'{each:g} s' for each in plan.horizons)),
        'rows': [row for one in rollout.simulated for row in _rows(rollout, one)],
        'course': course_picture(rollout) if drawn else None,
        'joints': joint_pictures(rollout) if drawn else (),
        'not_checked': rollout.not_checked,
    }


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
    places = [('tool', 'mm', one.tool)] + [
        (name, 'mm' if slides else 'mrad', np.abs(one.drift[:, :, joint]))
        for joint, (name, slides) in enumerate(
            zip(rollout.plan.joints, rollout.prismatic, strict=True)
        )
    ]
    return [
        (
            WORDS[one.name], LOOPS[one.loop], f'{name} [{unit}]',
            *(
                f'{_cell(middle)} ({_cell(high)})'
                for middle, high in np.array(median_and_high(values)).T[stated]
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
                for found, width in zip(median_and_high(one.tool), (1.4, 0.5), strict=True):
                    known = np.where(np.isfinite(found), found, np.nan)
                    panel.curve(times, known[1:], COLOURS[one.name], width)
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
