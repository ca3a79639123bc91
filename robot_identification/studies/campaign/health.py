# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Friction of the arms of a campaign against temperature and date, from what its runs found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DataError
from robot_identification.model import load_joint_drives, load_model
from robot_identification.studies.campaign.campaign_file import Campaign
from robot_identification.studies.campaign.friction_trend import (
    COULOMB, DAYS_PER_YEAR, FleetFriction, FrictionHistory, judge_fleet, TORQUE, VISCOUS,
)
from robot_identification.studies.campaign.runs import MODEL_FILE
from robot_identification.studies.comparison import compare_joints_of_size, JointsOfSize

State = Mapping[str, Any]


def judge_health(campaign: Campaign, states: Sequence[State]) -> FleetFriction:
    """Return trends and alarms of the friction of the arms, from the states of the runs."""
    return judge_fleet(
        [
            history
            for arm in campaign.arms
            for history in _histories(
                arm.name, campaign.speeds, _of_one_scale(_of_arm(arm.name, states))
            )
        ],
        campaign.false_alarm_rate,
    )


def years_of(date: str | None) -> float:
    """Return a date of a state in years since 1970; NaN where it is not known."""
    if date is None:
        return float('nan')
    return datetime.fromisoformat(date).timestamp() / (86400.0 * DAYS_PER_YEAR)


def compare_sizes(
    campaign: Campaign, states: Sequence[State], folder: Path
) -> tuple[tuple[JointsOfSize, ...], str]:
    """
    Compare joints of one size by the latest run of each arm in the folder of a campaign.

    The first value holds the sizes that two joints or more have; the second says why there are
    none.
    """
    models, drives, ratios = [], [], []
    for arm in campaign.arms:
        done = [state for state in _of_arm(arm.name, states) if not state['relative_scale']]
        if not done or arm.robot is None:
            continue
        model = load_model(folder / 'runs' / done[-1]['name'] / MODEL_FILE)
        models.append(model)
        drives.append(load_joint_drives(arm.robot))
        ratios.append(model.robot.drives.gear_ratio)
    if not models:
        return (), ''
    try:
        found = compare_joints_of_size(models, drives, ratios)
    except DataError as error:
        # Of one arm it is not expected.
        return (), f'joints of one size are not compared: {error}' if len(models) > 1 else ''
    return tuple(size for size in found if len(size.joints) > 1), ''


def _of_arm(arm: str, states: Sequence[State]) -> list[State]:
    """Return the runs of an arm that have a model, the earliest first, unknown dates before."""
    done = [state for state in states if state['arm'] == arm and state['files']]
    return sorted(done, key=lambda state: np.nan_to_num(years_of(state['date']), nan=-np.inf))


def _of_one_scale(states: Sequence[State]) -> list[State]:
    """Return the runs whose torques are in the unit of the latest: all in N m, or none."""
    return [state for state in states if state['relative_scale'] == states[-1]['relative_scale']]


def _histories(
    arm: str, speeds: Sequence[float], states: Sequence[State]
) -> list[FrictionHistory]:
    names = list(dict.fromkeys(joint['joint'] for state in states for joint in state['joints']))
    found = []
    for name in names:
        rows = [
            (state, joint) for state in states for joint in state['joints']
            if joint['joint'] == name
        ]
        runs = tuple(str(state['name']) for state, _ in rows)
        years = np.array([years_of(state['date']) for state, _ in rows])
        joints = [joint for _, joint in rows]
        temperature = _column(joints, 'temperature')
        figures = [
            (TORQUE, speed, _entry(joints, 'torque', k), _entry(joints, 'torque_error', k))
            for k, speed in enumerate(speeds)
        ]
        figures += [
            (plain, float('nan'), _column(joints, plain), _column(joints, f'{plain}_error'))
            for plain in (COULOMB, VISCOUS)
        ]
        found += [
            FrictionHistory(
                arm, name, quantity, speed, runs, years, temperature, values, errors,
                joints[-1].get('position_unit', 'rad'),
            )
            for quantity, speed, values, errors in figures
        ]
    return found


def _column(joints: Sequence[Mapping[str, Any]], key: str) -> FloatArray:
    return _numbers([joint[key] for joint in joints])


def _entry(joints: Sequence[Mapping[str, Any]], key: str, index: int) -> FloatArray:
    return _numbers([joint[key][index] for joint in joints])


def _numbers(values: Sequence[float | None]) -> FloatArray:
    return np.array([np.nan if value is None else value for value in values], dtype=float)
