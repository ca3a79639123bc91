# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification payload`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from robot_identification.cli.command import add_command
from robot_identification.cli.options import (
    add_json_option, add_model_argument, add_output_option, result_folder,
)
from robot_identification.cli.output import print_results
from robot_identification.options import add_arguments, from_values
from robot_identification.studies.payload import (
    payload_content, payload_text, PayloadOptions, run_payload,
)


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, 'payload',
        'robot-identification payload result/identified_model.yaml loaded_bag -o payload', run,
    )
    add_model_argument(parser, 'identified_model.yaml of the bare arm')
    parser.add_argument(
        'bags', nargs='+', type=Path, metavar='BAG',
        help='recordings of the arm with the payload: bags or tables',
    )
    add_arguments(parser, PayloadOptions)
    add_output_option(
        parser, 'folder for payload.json, the report and a model of the arm with the payload'
    )
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Find the payload and write the results."""
    options = from_values(PayloadOptions, lambda key: getattr(args, key))
    result = run_payload(args.model, args.bags, options, result_folder(args))
    print_results(
        args, (*result.notes, *result.found.notes), payload_content(result), payload_text(result)
    )
    return 0
