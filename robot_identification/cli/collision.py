# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification collision`."""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from robot_identification import load_model
from robot_identification.cli.options import (
    add_mapping_option, add_model_argument, add_output_option,
)
from robot_identification.cli.output import print_results, warn
from robot_identification.errors import UsageError
from robot_identification.files import check_writable, dump_yaml, file_sha256, write_atomically
from robot_identification.model import IdentifiedModel
from robot_identification.monitoring import (
    calibrate_on, CollisionCalibration, DEFAULT_BANDWIDTH, observe_recording,
)
from robot_identification.prediction import Measured, read_measured

EXAMPLE = (
    'robot-identification collision result/identified_model.yaml free_motion '
    '--check another_motion -o collision.yaml'
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_model_argument(parser)
    parser.add_argument(
        'bags', type=Path, nargs='+', metavar='BAG',
        help='recordings of free motion from which the model was not identified',
    )
    parser.add_argument(
        '--false-alarms-per-hour', type=float, default=0.1, metavar='RATE',
        help='allowed rate of all joints together, in motion like the recorded one (default: 0.1)',
    )
    parser.add_argument(
        '--bandwidth', type=float, default=DEFAULT_BANDWIDTH, metavar='RAD_PER_S',
        help=f'bandwidth of the momentum observer [rad/s] (default: {DEFAULT_BANDWIDTH:g})',
    )
    parser.add_argument(
        '--check', type=Path, nargs='+', default=[], metavar='BAG',
        help='count alarms in other recordings of free motion',
    )
    add_mapping_option(parser)
    add_output_option(parser, '.yaml for the torque predictor')


def run(args: argparse.Namespace) -> None:
    """Calibrate, check and write."""
    if args.output.suffix != '.yaml':
        raise UsageError(f'{args.output} must end in .yaml')
    names = [str(bag) for bag in args.bags]
    if len(set(names)) < len(names):
        raise UsageError(f'a recording is named twice: {", ".join(names)}')
    check_writable(args.output, args.force)
    model = load_model(args.model).with_mapping(args.mapping)
    recordings = {name: _read(model, bag) for name, bag in zip(names, args.bags, strict=True)}
    calibration, rest_note = calibrate_on(
        model, file_sha256(args.model), recordings,
        false_alarms_per_hour=args.false_alarms_per_hour, bandwidth=args.bandwidth,
    )
    for note in (rest_note, _describe_useless(model, calibration)):
        if note:
            warn(note)
    checks = {str(bag): _count_alarms(model, calibration, bag) for bag in args.check}
    write_atomically(args.output, dump_yaml(calibration.content()))
    print_results(
        args, {**calibration.content(), 'output': args.output, 'checks': checks},
        '\n'.join(_lines(args, calibration, checks)),
    )


def _lines(
    args: argparse.Namespace, calibration: CollisionCalibration,
    checks: dict[str, dict[str, float]],
) -> Iterator[str]:
    """Yield what is printed of a calibration."""
    yield (
        f'{calibration.duration / 60.0:.1f} minutes of free motion, '
        f'{args.false_alarms_per_hour:g} false alarms an hour allowed in motion like it'
    )
    for name, step, rest in zip(
        calibration.joint_names, calibration.smallest_step, calibration.rest, strict=True
    ):
        near_rest = f', {rest:.3g} N m more near rest' if rest > 0.0 else ''
        yield f'{name}: a step of {step:.3g} N m is detected within 50 ms{near_rest}'
    for name, found in checks.items():
        yield f'{name}: {found["alarms"]} alarms in {found["duration"] / 60.0:.1f} minutes'
    yield f'written to {args.output}; it is not a safety function'


def _describe_useless(model: IdentifiedModel, calibration: CollisionCalibration) -> str:
    """Return which joints cannot be seen to be touched, in words; nothing where all can."""
    useless = calibration.smallest_step > model.robot.limits.effort
    if not useless.any():
        return ''
    names = ', '.join(np.array(calibration.joint_names)[useless])
    return (
        f'{names}: only contacts above the torque limit of the joint are detected in time; the '
        'model does not fit these recordings, or they are too short: run `validate`, identify '
        'from more motion, or record minutes of free motion'
    )


def _read(model: IdentifiedModel, bag: Path) -> Measured:
    measured, notes = read_measured(model, bag)
    for note in notes:
        warn(note)
    return measured


def _count_alarms(
    model: IdentifiedModel, calibration: CollisionCalibration, bag: Path
) -> dict[str, float]:
    """Return how often an alarm begins in a recording, and how long that is [s]."""
    measured = _read(model, bag)
    touched = observe_recording(
        model, measured.stamps, measured.q, measured.dq,
        measured.effort / model.effort_per_torque, measured.temperature,
        bandwidth=calibration.bandwidth, thresholds=calibration.thresholds,
    ).touched
    begins = np.diff(touched.any(axis=1).astype(int), prepend=0) > 0
    return {
        'alarms': int(begins.sum()),
        'duration': float(measured.stamps[-1] - measured.stamps[0]),
    }
