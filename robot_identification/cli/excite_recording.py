# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Recordings of executed motions, as `excite --evaluate` judges them."""

import argparse

import numpy as np
from robot_identification import read_recording
from robot_identification.cli.excite_text import describe_evaluation, evaluation_json
from robot_identification.cli.output import print_results
from robot_identification.errors import DataError, UsageError
from robot_identification.excitation import (
    evaluate_motion, evaluate_recording, Experiment, Trajectory,
)
from robot_identification.model import KinematicFilter, Motion, RobotModel
from robot_identification.processing import check_robot_name, Dataset, process, track, Tracking
from robot_identification.recording import parse_joint_names


def judge_recording(
    args: argparse.Namespace, robot: RobotModel, experiment: Experiment, motion: Trajectory | None
) -> None:
    """Judge a motion as it was recorded, and how it followed the planned `motion`."""
    dataset, notes = _load(args, robot)
    rows, made = dataset.fitted, dataset.motion
    moved = Motion(made.q[rows], made.dq[rows], made.ddq[rows])
    recorded = evaluate_recording(robot, experiment, moved, dataset.rate, args.torque_noise)
    content = {
        'bag': args.evaluate, 'samples': len(moved), 'rate': dataset.rate,
        'evaluation': evaluation_json(recorded),
    }
    lines = [
        f'{robot.name}: {args.evaluate}, {len(moved)} samples in motion, {dataset.rate:.0f} Hz'
    ]
    if motion is None:
        lines.append(describe_evaluation(recorded))
    else:
        planned = evaluate_motion(robot, experiment, motion, args.torque_noise)
        tracking = track(motion, dataset)
        content |= {
            'planned': evaluation_json(planned),
            'tracking': None if tracking is None else {
                'start': tracking.start, 'joints': robot.joint_names, 'rms': tracking.rms,
                'worst': tracking.worst,
            },
        }
        lines += [
            describe_evaluation(recorded, {'planned': planned.dense}),
            *_tracking_lines(robot, tracking),
        ]
    print_results(args, content, '\n'.join(lines), notes)


def _load(args: argparse.Namespace, robot: RobotModel) -> tuple[Dataset, tuple[str, ...]]:
    """Return the executed motion of a bag, smoothed as `identify` does by default."""
    for name, value in (('--start', args.start), ('--stop', args.stop)):
        if value is not None and not 0.0 <= value < float('inf'):
            raise UsageError(f'{name} is {value:g} s, allowed are 0 and more')
    if None not in (args.start, args.stop) and not args.start < args.stop:
        raise UsageError(f'--start {args.start:g} must be before --stop {args.stop:g}')
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


def _tracking_lines(robot: RobotModel, tracking: Tracking | None) -> list[str]:
    """Return how a recording followed what was planned, in words."""
    if tracking is None:
        return ['  tracking error: not known, the recording does not hold the planned motion']
    return [
        f'  tracking error, the motion began {tracking.start:.3f} s after the first sample:',
        *(f'    {joint}: rms {rms:.3g} {unit}, at most {worst:.3g} {unit}'
          for joint, unit, rms, worst in zip(
              robot.joint_names, robot.position_units, tracking.rms, tracking.worst, strict=True
          )),
    ]
