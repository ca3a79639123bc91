# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification payload`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from robot_identification import load_model, read_recording
from robot_identification.cli.command import add_command
from robot_identification.cli.options import add_json_option, add_output_option, add_window_options
from robot_identification.cli.output import print_json, show, warn
from robot_identification.errors import DataError
from robot_identification.files import check_writable
from robot_identification.model import IdentifiedModel
from robot_identification.processing import check_robot_name, load_for_model
from robot_identification.recording import Recording
from robot_identification.studies.drive_gains import StaticPoseOptions
from robot_identification.studies.payload import (
    CHANGES, estimate_payload, loaded_run, LoadedRun, MODEL_FILE, payload_content, PAYLOAD_FILES,
    payload_text, PayloadOptions, resting_run, save_payload,
)


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, 'payload', 'find mass, centre of mass and inertia of a payload',
        'robot-identification payload result/identified_model.yaml loaded_bag -o payload', run,
    )
    parser.add_argument(
        'model', type=Path, metavar='MODEL', help='identified_model.yaml of the bare arm'
    )
    parser.add_argument(
        'bags', nargs='+', type=Path, metavar='BAG',
        help='rosbag2 folder or file of the arm with the payload',
    )
    parser.add_argument(
        '--static', action='store_true', help='use rests alone: mass and centre of mass'
    )
    parser.add_argument(
        '--changes', choices=list(CHANGES), default='offset',
        help='what of every joint may differ from the model: nothing, the offset (default), or '
        'offset and friction',
    )
    parser.add_argument(
        '--frame', metavar='LINK',
        help="link to state the payload in, fixed to the last one; by default the tool's (tool0, "
        'flange, ..), else the last link',
    )
    shortest = StaticPoseOptions().shortest
    parser.add_argument(
        '--shortest-dwell', type=float, default=shortest, metavar='S',
        help='shorter rests are no poses (default: %(default)s); the last half is averaged',
    )
    add_window_options(parser)
    add_output_option(
        parser, 'folder for payload.json, the report and a model of the arm with the payload'
    )
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Find the payload and write the results."""
    for name in (*PAYLOAD_FILES, MODEL_FILE):
        check_writable(args.output / name, args.force)
    options = PayloadOptions(
        changes=args.changes, static=args.static, frame=args.frame,
        dwells=StaticPoseOptions(shortest=args.shortest_dwell),
    )
    model = load_model(args.model)
    runs, notes = (_rests if args.static else _motions)(model, args, options)
    found = estimate_payload(model, runs, options)
    save_payload(
        args.output, model, found, runs[0], args.model, args.bags, args.command_line,
        force=args.force,
    )
    for note in (*notes, *found.notes):
        warn(note)
    if args.json:
        print_json(payload_content(model, found, args.model, args.bags))
    else:
        show(payload_text(model, found), end='')
        show(f'report: {args.output / "report.html"}')
    return 0


def _motions(
    model: IdentifiedModel, args: argparse.Namespace, options: PayloadOptions
) -> tuple[list[LoadedRun], list[str]]:
    runs: list[LoadedRun] = []
    notes: list[str] = []
    for bag in args.bags:
        dataset, said = load_for_model(model, bag, start=args.start, stop=args.stop)
        runs.append(loaded_run(model, dataset))
        notes += said
    return runs, notes


def _rests(
    model: IdentifiedModel, args: argparse.Namespace, options: PayloadOptions
) -> tuple[list[LoadedRun], list[str]]:
    source = model.source
    recordings: list[Recording] = []
    notes: list[str] = []
    for bag in args.bags:
        recording = read_recording(
            bag, model.robot.joint_names, topic=source.topic or None, names=source.joint_names,
            encoders=model.robot.encoders,
        )
        note = check_robot_name(recording, model.robot.name)
        notes += [note] if note else []
        unit = recording.metadata.get('effort_unit', model.effort_unit)
        if unit != model.effort_unit:
            raise DataError(
                f'{bag} has effort in {unit}, the model was identified on effort in '
                f'{model.effort_unit}: record with the same driver setting'
            )
        recordings.append(recording.until(args.stop))
    run, said = resting_run(model, recordings, options.dwells, start=args.start)
    return [run], [*notes, *said]
