# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The health report of a campaign: friction over temperature and date, and its alarms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.report import (
    attributes, bullets, Drawing, fixed, MARGINS, MEASURED, NOT_AVAILABLE, number, percent,
    Picture, PREDICTED, render_page, RESIDUAL, WIDE_LABELS, WIDTH, wrap,
)
from robot_identification.studies.campaign.campaign_file import Campaign
from robot_identification.studies.campaign.runs import DONE
from robot_identification.studies.campaign.trend import (
    COULOMB, DAYS_PER_YEAR, FEWEST_RUNS, FleetFriction, FrictionTrend, TORQUE, VISCOUS,
)
from robot_identification.studies.comparison import (
    CONFIDENCE, JointsOfSize,
)
from robot_identification.studies.temperature import line_at
from robot_identification.texts import counted

# Joints that are drawn; those with alarms come first.
MOST_PICTURES = 60
HEADER = (
    'joint', 'figure', 'runs', 'value', 'unit', 'per K', 'drift in a year', 'interval',
    'drift in 1000 h', 'scatter',
)
UNITS = {TORQUE: 'N m', COULOMB: 'N m', VISCOUS: 'N m s/rad'}


@dataclass(frozen=True, eq=False)
class CampaignOutcome:
    """Results of a campaign."""

    campaign: Campaign  # what was asked for
    # Of all runs, in the order of the file (docs/formats/campaign.md).
    states: tuple[Mapping[str, Any], ...]
    kept: tuple[str, ...]  # runs that were there already
    health: FleetFriction  # friction over temperature and date
    sizes: tuple[JointsOfSize, ...] = ()  # joints of one size, compared
    notes: tuple[str, ...] = ()  # what a reader should know

    @property
    def failed(self) -> tuple[Mapping[str, Any], ...]:
        """States of the runs that failed."""
        return tuple(state for state in self.states if state['status'] != DONE)


def run_row(state: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return what the table says of a run, from its state (docs/formats/campaign.md).

    The temperature [deg C] and the held-out NRMSE are means over the joints, NaN where they are
    not known; `link` is that of its own report, empty where there is none.
    """
    joints = state.get('joints', [])
    known = [joint['temperature'] for joint in joints if joint['temperature'] is not None]
    nrmse = state.get('quality', {}).get('nrmse_mean')
    return {
        'name': state['name'], 'arm': state['arm'], 'date': state.get('date') or NOT_AVAILABLE,
        'temperature': float(np.mean(known)) if known else float('nan'),
        'verdict': state.get('verdict', 'failed'),
        'nrmse': float('nan') if nrmse is None else float(nrmse),
        'error': state['error'],
        'link': f'runs/{state["name"]}/report.html' if 'report.html' in state['files'] else '',
    }


def health_words(health: FleetFriction) -> tuple[str, str, str]:
    """Return level, label and sentence of a health report's verdict."""
    rate = percent(health.false_alarm_rate)
    if not health.tests:
        return (
            'usable', 'Not judged',
            f'No joint has {FEWEST_RUNS} runs with dates that differ: no alarm is possible yet.',
        )
    stated = (
        f'{health.tests} tests were made; where friction depends on temperature alone, the chance '
        f'of any alarm among them is at most {rate}.'
    )
    if not health.alarms:
        return 'good', 'No alarm', f'No change of friction that chance does not explain. {stated}'
    joints = len({alarm.place for alarm in health.alarms})
    return (
        'bad', 'Alarm',
        f'Friction of {counted(joints, "joint")} changed by more than temperature '
        f'and chance explain. {stated}',
    )


def health_content(health: FleetFriction) -> dict[str, Any]:
    """Return a judgement as plain values (docs/formats/campaign.md); NaN becomes null."""
    return {
        'level': health_words(health)[0],
        'false_alarm_rate': health.false_alarm_rate,
        'tests': health.tests,
        'alarms': [
            {
                **attributes(alarm.trend.history, 'arm', 'joint', 'speed'),
                **attributes(alarm, 'kind', 'change', 'p_value', 'interval'),
            }
            for alarm in health.alarms
        ],
        'trends': [
            {
                **attributes(trend.history, 'arm', 'joint', 'quantity', 'speed'),
                'runs': int(np.count_nonzero(trend.used)),
                **attributes(
                    trend, 'value', 'reference_temperature', 'per_kelvin', 'per_kelvin_error',
                    'per_year', 'per_year_error', 'drift', 'drift_interval', 'scatter', 'note',
                    degrees_of_freedom='freedom',
                ),
            }
            for trend in health.trends
        ],
    }


def campaign_content(outcome: CampaignOutcome) -> dict[str, Any]:
    """Return a campaign as plain values: runs, health and joints of one size."""
    return {
        'campaign': outcome.campaign.name,
        'runs': [
            {
                **{key: state[key] for key in ('name', 'arm', 'status', 'exit_code', 'error')},
                'verdict': state.get('verdict'), 'date': state.get('date'),
                'kept': state['name'] in outcome.kept,
            }
            for state in outcome.states
        ],
        'health': health_content(outcome.health),
        'joint_sizes': [asdict(size) for size in outcome.sizes],
        'notes': outcome.notes,
    }


def campaign_text(outcome: CampaignOutcome) -> str:
    """Return a campaign as plain text: runs that failed, and the health of the arms."""
    runs = len(outcome.states)
    lines = [f'{outcome.campaign.name}: {runs - len(outcome.failed)} of {runs} runs have a model']
    lines += [
        f'  failed: {state["name"]} (exit code {state["exit_code"]}): {state["error"]}'
        for state in outcome.failed
    ]
    return '\n'.join(lines) + '\n' + health_text(outcome.health)


def health_text(health: FleetFriction) -> str:
    """Return a judgement as plain text, at most 100 columns wide."""
    _, label, sentence = health_words(health)
    lines = [
        *wrap(f'{label}: {sentence}'), *bullets(alarm.describe() for alarm in health.alarms),
    ]
    return '\n'.join(lines) + '\n'


def trend_rows(trends: Sequence[FrictionTrend]) -> list[tuple[str, ...]]:
    """Return the cells of the table of trends; titles are HEADER."""
    rows: list[tuple[str, ...]] = []
    for trend in trends:
        history = trend.history
        low, high = trend.drift_interval
        known = np.isfinite(trend.drift)
        rows.append((
            history.joint, _figure_name(trend), str(int(np.count_nonzero(trend.used))),
            number(trend.value), history.unit(UNITS[history.quantity]),
            percent(trend.per_kelvin / trend.value) if trend.value else NOT_AVAILABLE,
            percent(trend.drift) if known else NOT_AVAILABLE,
            f'{percent(low)} to {percent(high)}' if known else NOT_AVAILABLE,
            percent(trend.drift * 1000.0 / (24.0 * DAYS_PER_YEAR)) if known else NOT_AVAILABLE,
            percent(trend.scatter / abs(trend.value)) if trend.value else NOT_AVAILABLE,
        ))
    return rows


def render_campaign_report(outcome: CampaignOutcome, command_line: str = '') -> str:
    """Return the health report of a campaign, one HTML file that needs no network."""
    health, rows = outcome.health, [run_row(state) for state in outcome.states]
    level, label, sentence = health_words(health)
    arms = list(dict.fromkeys(trend.history.arm for trend in health.trends))
    drawn = _drawn(health)
    pictures = [(trend.history.arm, _draw(trend)) for trend in drawn]
    return render_page(
        'campaign.html.j2',
        name=outcome.campaign.name,
        level=level, label=label, verdict=sentence,
        alarms=[alarm.describe() for alarm in health.alarms],
        runs=rows,
        failed=[row for row in rows if not row['link']],
        arms=[
            {
                'name': arm,
                'rows': trend_rows([t for t in health.trends if t.history.arm == arm]),
                'notes': _notes_of(health, arm),
                'pictures': [picture for owner, picture in pictures if owner == arm],
            }
            for arm in arms
        ],
        header=HEADER,
        confidence=percent(CONFIDENCE),
        fewest=FEWEST_RUNS,
        sizes=[_size_row(size) for size in outcome.sizes],
        notes=outcome.notes,
        command_line=command_line,
    )


def _figure_name(trend: FrictionTrend) -> str:
    history = trend.history
    if history.quantity == TORQUE:
        return f'torque at {history.speed_text}'
    return {COULOMB: 'Coulomb', VISCOUS: 'viscous'}[history.quantity]


def _notes_of(health: FleetFriction, arm: str) -> list[str]:
    """Return notes of an arm's torques, each with the joints that it is of."""
    found: dict[str, list[str]] = {}
    for trend in health.trends:
        if trend.history.arm == arm and trend.history.quantity == TORQUE and trend.note:
            joints = found.setdefault(trend.note, [])
            if trend.history.joint not in joints:
                joints.append(trend.history.joint)
    return [f'{", ".join(joints)}: {note}' for note, joints in found.items()]


def _size_row(size: JointsOfSize) -> tuple[str, ...]:
    return (
        size.size,
        ', '.join(f'{joint.joint} of {joint.robot}' for joint in size.joints),
        fixed(size.coulomb_spread, 2), number(size.coulomb_p, 2),
        fixed(size.viscous_spread, 2), number(size.viscous_p, 2),
    )


def _drawn(health: FleetFriction) -> list[FrictionTrend]:
    """Return which torque of each joint is drawn: that of an alarm, or the fastest known one."""
    alarmed = {alarm.place: alarm.trend.history.speed for alarm in health.alarms}
    best: dict[tuple[str, str], FrictionTrend] = {}
    for trend in health.trends:
        place = (trend.history.arm, trend.history.joint)
        if trend.history.quantity != TORQUE or not _plots(trend):
            continue
        if place in alarmed and trend.history.speed != alarmed[place]:
            continue
        before = best.get(place)
        if before is None or np.count_nonzero(trend.used) >= np.count_nonzero(before.used):
            best[place] = trend
    first = [trend for place, trend in best.items() if place in alarmed]
    chosen = first + [trend for place, trend in best.items() if place not in alarmed]
    return chosen[:MOST_PICTURES]


class _Plot(NamedTuple):
    """A torque of m runs over one quantity, and the line through it."""

    at: FloatArray  # (m,): of the quantity; NaN where it is not known
    values: FloatArray  # (m,): of the torque
    slope: float  # of the line, which has the trend's value at the reference; NaN without one
    reference: float
    words: str  # what it is over
    label: str  # of the quantity


def _plots(trend: FrictionTrend) -> list[_Plot]:
    """Return what can be drawn of a trend: runs may have neither temperature nor date."""
    history, used = trend.history, trend.used & np.isfinite(trend.history.values)
    plots = [_Plot(
        history.temperature, history.values, trend.per_kelvin, trend.reference_temperature,
        'its temperature', 'joint temperature [°C]',
    )]
    if np.isfinite(history.years[used]).any():
        first = float(np.nanmin(history.years[trend.used]))
        date = np.datetime64(round(first * DAYS_PER_YEAR * 86400.0), 's')
        plots.append(_Plot(
            DAYS_PER_YEAR * (history.years - first), trend.at_reference_temperature(),
            trend.per_year / DAYS_PER_YEAR, DAYS_PER_YEAR * (trend.reference_years - first),
            'the date without what temperature did to it',
            f'days after {np.datetime_as_string(date, "D")}, at the mean temperature',
        ))
    return [plot for plot in plots if np.isfinite(plot.at[used]).any()]


def _draw(trend: FrictionTrend) -> Picture:
    """Draw a torque over temperature and over date, as far as these are known."""
    history, plots = trend.history, _plots(trend)
    drawing = Drawing(WIDTH, 2.2 * len(plots))
    panels = drawing.panels(
        (WIDE_LABELS, *MARGINS[1:]), rows=(1.0,) * len(plots), gaps=(0.0, MARGINS[1])
    )
    for panel, plot in zip(panels, plots, strict=True):
        used = trend.used & np.isfinite(plot.at)
        at, values = plot.at[used], plot.values[used]
        panel.x.margin = 0.04
        panel.error_bars(at, values, history.errors[used], MEASURED)
        panel.dots(at, values, PREDICTED, 4.0)
        if np.isfinite(plot.slope):
            ends = np.array([at.min(), at.max()])
            line = line_at(ends, trend.value, plot.slope, plot.reference)
            panel.curve(ends, line, RESIDUAL, 1.2, name='line')
        panel.label(f'friction\n[{history.unit("N m")}]', plot.label)
    words = ' and '.join(plot.words for plot in plots)
    return drawing.picture(
        f'{history.joint}, {history.speed_text}',
        f'Friction torque of {history.joint} at {history.speed_text} over {words}',
    )
