# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification excite --after`: the next motion after an identification."""

from __future__ import annotations

import argparse
from dataclasses import replace
import math
import textwrap
from typing import Any

from robot_identification import load_model
from robot_identification.cli.excite_text import WIDTH
from robot_identification.cli.options import model_file, robot_from_options
from robot_identification.cli.output import warn
from robot_identification.errors import DescriptionError, UsageError
from robot_identification.excitation import (
    Experiment, Knowledge, knowledge_of_model, next_experiment, WEAK_SHARE, Weakness,
)
from robot_identification.model import gravity_of_mounting, RobotModel

# Parameters in the table at least, and those that are weak at most.
SHOWN_PARAMETERS, MOST_PARAMETERS = 5, 20
# Longer motions are no plan.
LONGEST_MINUTES = 24.0 * 60.0


def add_after_option(parser: argparse._ActionsContainer) -> None:
    """Add --after."""
    parser.add_argument(
        '--after', type=model_file, metavar='MODEL',
        help='identified model: design the motion that most reduces its uncertainty, and list '
        'the weak parameters and the recording time required; with --evaluate, list those '
        'of an existing motion; without --robot and --urdf the arm is that of the model',
    )


def robot_from_after(args: argparse.Namespace) -> RobotModel:
    """
    Return the arm that the options name, else the one in the model of --after.

    Options of an arm that is not named raise a `UsageError`.
    """
    if args.after is None or args.robot is not None or args.urdf is not None:
        return robot_from_options(args)
    if args.joints or args.drive_gains or args.xacro_arguments:
        raise UsageError(
            '--joints, --drive-gains and --xacro-arguments are for an arm of --robot or --urdf; '
            'that of --after has its own'
        )
    robot = load_model(args.after).robot
    robot = robot.with_gravity(robot.mounting_gravity)
    if args.mounting is not None:
        return robot.with_gravity(gravity_of_mounting(*args.mounting))
    return robot if args.gravity is None else robot.with_gravity(args.gravity)


def knowledge_from_option(
    args: argparse.Namespace, robot: RobotModel, experiment: Experiment
) -> tuple[Experiment, Knowledge | None]:
    """Return the experiment of the next motion and what --after knows; None without it."""
    if args.after is None:
        return experiment, None
    experiment, changes = next_experiment(experiment)
    model = load_model(args.after)
    try:
        known = knowledge_of_model(model, robot, experiment)
    except (UsageError, DescriptionError) as error:
        raise type(error)(f'{args.after}: {error}') from error
    for note in changes:
        warn(note)
    return experiment, replace(known, notes=(*changes, *known.notes))


def describe_weakness(weakness: Weakness) -> str:
    """Return what is weak after a motion, and the recording time required, in words."""
    order, weak = weakness.order, int(weakness.weak.sum())
    shown = order[: min(max(weak, SHOWN_PARAMETERS), MOST_PARAMETERS)]
    lines = [
        f'standard errors before this motion and after its {weakness.duration:g} s',
        f'  {"parameter":<10} {"unit":<12} {"value":>10} {"before":>10} {"after":>10} '
        f'{"allowed":>10}  in all',
    ]
    for i in shown:
        errors = (weakness.before[i], weakness.after[i], weakness.allowed[i])
        # A value that nothing is known about is not the zero that stands for it.
        value = weakness.theta[i] if math.isfinite(weakness.before[i]) else math.nan
        lines.append(
            f'  {weakness.names[i]:<10} {weakness.units[i]:<12} '
            + ' '.join(f'{_number(number):>10}' for number in (value, *errors))
            + f'  {_minutes(weakness.minutes[i])}'
        )
    if weak > len(shown):
        lines.append(f'  and {weak - len(shown)} more that are weak')
    remarks = [
        _verdict(weakness),
        *(f'note: {note}' for note in weakness.notes),
        f'allowed are {WEAK_SHARE:.0%} of the value, or of the value whose torque is as large as '
        'the noise; errors assume white noise, but measured noise is correlated in time: they are '
        'too small, all by about the same factor, and times by its square',
    ]
    for remark in remarks:
        lines += textwrap.wrap(
            remark, WIDTH, initial_indent='  ', subsequent_indent='    ',
            break_long_words=False, break_on_hyphens=False,
        )
    return '\n'.join(lines)


def weakness_content(weakness: Weakness) -> dict[str, Any]:
    """Return what is weak after a motion for --json; what is infinite becomes null."""
    return {
        'parameters': [
            {
                'name': weakness.names[i],
                'unit': weakness.units[i],
                'value': weakness.theta[i],
                'standard_error_before': weakness.before[i],
                'standard_error_after': weakness.after[i],
                'allowed': weakness.allowed[i],
                'weak': bool(weakness.weak[i]),
                'minutes': weakness.minutes[i],
            }
            for i in weakness.order
        ],
        'notes': list(weakness.notes),
    }


def _verdict(weakness: Weakness) -> str:
    weak = [i for i in weakness.order if weakness.weak[i]]
    if not weak:
        return f'none of {len(weakness.names)} parameters is weak after it'
    never = [i for i in weak if not weakness.minutes[i] <= LONGEST_MINUTES]
    text = f'{len(weak)} of {len(weakness.names)} parameters are weak after it: '
    text += ', '.join(weakness.names[i] for i in weak)
    minutes = [weakness.minutes[i] for i in weak if i not in never]
    if minutes:
        kept = 'all' if not never else 'the others'
        text += f'; {max(minutes):.1f} minutes of it suffice for {kept}'
    if never:
        text += f'; no time of it suffices for {", ".join(weakness.names[i] for i in never)}'
    return text


def _number(value: float) -> str:
    return f'{value:.3g}' if math.isfinite(value) else 'unknown'


def _minutes(value: float) -> str:
    if value <= 0.0:
        return '-'
    if not math.isfinite(value):
        return 'never'
    if value > LONGEST_MINUTES:
        return 'over a day'
    return f'{value:.1f} min' if value >= 1.0 else f'{60.0 * value:.0f} s'
