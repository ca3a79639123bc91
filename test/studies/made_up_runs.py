# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""States of runs that nobody did, and small campaigns of a simulated arm."""

from datetime import datetime, timedelta, timezone
import os
from pathlib import Path
import signal

from builders import joint_states, write_bag
from identified_arms import WarmArm
import numpy as np
from robot_identification.files import dump_yaml
from robot_identification.report.formatting import json_text
from robot_identification.studies.campaign.campaign_file import Arm, Campaign, Run
from robot_identification.studies.campaign.report import CampaignOutcome
from robot_identification.studies.campaign.trend import judge_health

FIRST = datetime(2025, 1, 1, tzinfo=timezone.utc)
# Seconds of the clock at which the first bag begins; the others are a month later each.
START, MONTH = 1.7e9, 30 * 86400
JOINTS = ('pan', 'lift', 'reach')
SPEEDS = (0.1, 0.5)


def state(name, arm='left', *, days=0.0, temperature=25.0, torque=10.0, **changes):
    """Return the state of a run whose joints all have this torque at both speeds."""
    return {
        'schema_version': 1, 'name': name, 'arm': arm, 'serial': '17', 'key': f'key of {name}',
        'inputs': {}, 'speeds': list(SPEEDS), 'status': 'done', 'exit_code': 0, 'error': '',
        'date': (FIRST + timedelta(days=days)).isoformat(), 'date_from': 'bag',
        'temperature_from': 'bag', 'robot': 'arm', 'effort_unit': 'Nm', 'relative_scale': False,
        'verdict': 'good', 'reasons': [], 'notes': [],
        'quality': {'nrmse_mean': 0.03, 'base_parameters': 30, 'samples': 900, 'lost': []},
        'parameters': [
            {'name': 'Izz1', 'value': 1.5, 'standard_error': 0.1, 'unit': 'kg m^2'},
            {'name': 'fv1', 'value': 2.5, 'standard_error': 0.2, 'unit': 'N m s/rad'},
        ],
        'joints': [
            {
                'joint': joint, 'temperature': temperature,
                'coulomb': 0.8 * torque, 'coulomb_error': 0.1,
                'viscous': 0.4 * torque, 'viscous_error': 0.1,
                'torque': [torque, torque], 'torque_error': [0.1, 0.1],
            }
            for joint in JOINTS
        ],
        'files': {'identified_model.yaml': 'x', 'report.html': 'y', 'results.txt': 'z'},
        **changes,
    }


def failed_state(name, arm='left'):
    return {
        'schema_version': 1, 'name': name, 'arm': arm, 'serial': '17', 'key': f'key of {name}',
        'inputs': {}, 'speeds': list(SPEEDS), 'status': 'failed', 'exit_code': 4,
        'error': 'no effort in bag <3>', 'date': None, 'files': {},
    }


def year_of_runs(drift=0.0, months=14):
    """Return states of monthly runs of an arm whose friction follows temperature, and drifts."""
    rng = np.random.default_rng(3)
    states = []
    for k in range(months):
        warmth = 25.0 + 6.0 * float(rng.normal())
        truth = 10.0 * (1.0 - 0.015 * (warmth - 25.0) + drift * k / 12.0)
        torque = truth * (1.0 + 0.02 * float(rng.normal()))
        states.append(state(
            f'month_{k}', days=30.4 * k, temperature=warmth, torque=torque,
        ))
    return states


def campaign_of(states, **changes):
    arms = dict.fromkeys(one['arm'] for one in states)
    return Campaign(**{
        'name': 'made_up',
        'arms': tuple(Arm(name=name, urdf='arm.urdf') for name in arms),
        'runs': tuple(Run(one['name'], one['arm'], ('bag',)) for one in states),
        'speeds': SPEEDS, 'false_alarm_rate': 0.01, 'source': 'made_up.yaml', **changes,
    })


def outcome_of(states, sizes=(), **changes):
    campaign = campaign_of(states, **changes)
    return CampaignOutcome(campaign, tuple(states), (), judge_health(campaign, states), sizes)


def write_state(folder, content):
    path = folder / content['name'] / 'run.json'
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json_text(content), encoding='utf-8')
    return path.parent


def do_or_die(job):
    """Do as if a run was done, or end the process."""
    if job.name == 'deadly':
        os.kill(os.getpid(), signal.SIGKILL)
    write_state(
        Path(job.folder).parent,
        {**failed_state(job.name), 'inputs': job.inputs, 'error': 'made up'},
    )


def write_campaign(folder, bags, **changes):
    """Write bags of a simulated arm and a campaign file with a run for each; return the file."""
    arm = WarmArm(folder)
    for number in range(bags):
        made = arm.dataset(22.0 + 5.0 * number, number)
        write_bag(
            folder / f'bag_{number}',
            joint_states(
                made.joint_names, START + MONTH * number + made.stamps, made.motion.q,
                made.motion.dq, made.effort,
            ),
            {'robot': 'arm', 'effort_unit': 'Nm'},
        )
    (folder / 'quick.yaml').write_text(dump_yaml({
        'schema_version': 1, 'folds': 2, 'samples_in_choice': 500,
    }), encoding='utf-8')
    path = folder / 'fleet.yaml'
    path.write_text(dump_yaml({
        'schema_version': 1, 'name': 'small_fleet',
        'options': {
            'friction': 'coulomb,viscous,offset', 'cutoff': 9.0, 'recipe': 'quick.yaml',
        },
        'arms': [{'name': 'left', 'robot': 'arm.yaml', 'serial': 17}],
        'runs': [
            {
                'name': f'run_{number}', 'arm': 'left', 'bags': f'bag_{number}',
                'temperature': 22.0 + 5.0 * number,
            }
            for number in range(bags)
        ],
        **changes,
    }), encoding='utf-8')
    return path
