# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Friction of the arms of a campaign against temperature and date, from what its runs found."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.campaign.campaign_file import Campaign
from robot_identification.campaign.runs import MODEL_FILE
from robot_identification.errors import DataError
from robot_identification.estimation.comparison.joint_sizes import compare_joints_of_size
from robot_identification.estimation.comparison.joint_sizes import JointsOfSize
from robot_identification.model.catalogue import load_joint_drives
from robot_identification.model.friction.law import FloatArray
from robot_identification.model.model_file import load_identified_model
from robot_identification.prediction.friction_trend import COULOMB
from robot_identification.prediction.friction_trend import FleetFriction
from robot_identification.prediction.friction_trend import FrictionHistory
from robot_identification.prediction.friction_trend import judge_fleet
from robot_identification.prediction.friction_trend import TORQUE
from robot_identification.prediction.friction_trend import VISCOUS

SECONDS_PER_YEAR = 365.25 * 86400.0
State = Mapping[str, Any]


def judge_health(campaign: Campaign, states: Sequence[State]) -> FleetFriction:
    """
    Return what the runs of a campaign say of the friction of its arms.

    Parameters
    ----------
    campaign : Campaign
        Arms, speeds and the rate of false alarms.
    states : sequence of mapping
        Of its runs.

    """
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
    return datetime.fromisoformat(date).timestamp() / SECONDS_PER_YEAR


def compare_sizes(
    campaign: Campaign, states: Sequence[State], folder: Path
) -> tuple[tuple[JointsOfSize, ...], str]:
    """
    Compare joints of one size by the latest run of each arm.

    Parameters
    ----------
    campaign : Campaign
        The arms.
    states : sequence of mapping
        Of their runs.
    folder : Path
        Of the campaign.

    Returns
    -------
    sizes : tuple of JointsOfSize
        Those that two joints or more have; empty where nothing can be said.
    note : str
        Why, or nothing.

    """
    models, drives, ratios = [], [], []
    for arm in campaign.arms:
        done = [state for state in _of_arm(arm.name, states) if not state['relative_scale']]
        if not done or arm.robot is None:
            continue
        model = load_identified_model(folder / 'runs' / done[-1]['name'] / MODEL_FILE)
        models.append(model)
        drives.append(load_joint_drives(arm.robot))
        ratios.append(model.robot.drives.gear_ratio)
    if not models:
        return (), ''
    try:
        found = compare_joints_of_size(models, drives, ratios)
    except DataError as error:
        # Of one arm nobody expects it.
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
            FrictionHistory(arm, name, quantity, speed, runs, years, temperature, values, errors)
            for quantity, speed, values, errors in figures
        ]
    return found


def _column(joints: Sequence[Mapping[str, Any]], key: str) -> FloatArray:
    return _numbers([joint[key] for joint in joints])


def _entry(joints: Sequence[Mapping[str, Any]], key: str, index: int) -> FloatArray:
    return _numbers([joint[key][index] for joint in joints])


def _numbers(values: Sequence[float | None]) -> FloatArray:
    return np.array([np.nan if value is None else value for value in values], dtype=float)
