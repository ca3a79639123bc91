# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification excite --evaluate BAG`: a motion as it was executed."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np
from robot_identification import read_recording
from robot_identification.cli.excite_text import describe_evaluation, evaluation_json
from robot_identification.cli.output import print_json, show, warn
from robot_identification.errors import DataError
from robot_identification.excitation import (
    evaluate_motion, evaluate_recording, Experiment, Trajectory,
)
from robot_identification.model import KinematicFilter, Motion, RobotModel
from robot_identification.processing import check_robot_name, Dataset, process, track, Tracking
from robot_identification.recording import parse_joint_names


def judge_recording(
    args: argparse.Namespace, robot: RobotModel, experiment: Experiment, motion: Trajectory | None
) -> int:
    """Judge a motion as it was recorded, and how it followed the planned `motion`."""
    dataset, notes = _load(args, robot)
    rows, made = dataset.fitted, dataset.motion
    moved = Motion(made.q[rows], made.dq[rows], made.ddq[rows])
    recorded = evaluate_recording(robot, experiment, moved, dataset.rate, args.torque_noise)
    planned, tracking = None, None
    if motion is not None:
        planned = evaluate_motion(robot, experiment, motion, args.torque_noise)
        tracking = track(motion, dataset)
    for note in notes:
        warn(note)
    if args.json:
        content: dict[str, Any] = {
            'bag': args.evaluate, 'samples': len(moved), 'rate': dataset.rate,
            'evaluation': evaluation_json(recorded),
        }
        if planned is not None:
            content |= {
                'planned': evaluation_json(planned),
                'tracking': _tracking_json(robot.joint_names, tracking),
            }
        print_json(content)
        return 0
    show(f'{robot.name}: {args.evaluate}, {len(moved)} samples in motion, {dataset.rate:.0f} Hz')
    show(describe_evaluation(recorded, None if planned is None else {'planned': planned.dense}))
    if planned is not None:
        show(_describe_tracking(robot, tracking))
    return 0


def _load(args: argparse.Namespace, robot: RobotModel) -> tuple[Dataset, tuple[str, ...]]:
    """Return the executed motion of a bag, smoothed as `identify` does by default."""
    recording = read_recording(
        args.evaluate, robot.joint_names, topic=args.topic,
        names=parse_joint_names(args.joint_names), encoders=robot.encoders,
    )
    note = check_robot_name(recording, robot.name)
    # A motion is judged by itself: mock hardware publishes no effort, or zero.
    dataset = process(
        recording, KinematicFilter(), 'Nm', start=args.start, stop=args.stop,
        with_effort=bool(np.any(np.nan_to_num(recording.effort))),
    )
    if not dataset.fitted.any():
        raise DataError(f'{args.evaluate}: no joint moves: record a motion, or widen the window')
    return dataset, tuple(text for text in (note, *dataset.notes) if text)


def _describe_tracking(robot: RobotModel, tracking: Tracking | None) -> str:
    """Return how a recording followed what was planned, in words."""
    if tracking is None:
        return '  tracking error: not known, the recording does not hold the planned motion'
    lines = [f'  tracking error, the motion began {tracking.start:.3f} s after the first sample:']
    lines += [
        f'    {joint}: rms {rms:.3g} {unit}, at most {worst:.3g} {unit}'
        for joint, unit, rms, worst in zip(
            robot.joint_names, robot.position_units, tracking.rms, tracking.worst, strict=True
        )
    ]
    return '\n'.join(lines)


def _tracking_json(joint_names: Sequence[str], tracking: Tracking | None) -> dict[str, Any] | None:
    """Return a tracking error as JSON has it."""
    if tracking is None:
        return None
    return {
        'start': tracking.start, 'joints': list(joint_names), 'rms': tracking.rms,
        'worst': tracking.worst,
    }
