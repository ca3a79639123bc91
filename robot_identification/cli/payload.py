# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification payload`."""

import argparse
from pathlib import Path

from robot_identification.cli.options import (
    add_model_argument, add_output_option, options_given, result_folder,
)
from robot_identification.cli.output import print_results, with_report
from robot_identification.options import add_arguments
from robot_identification.studies.payload import (
    payload_content, payload_text, PayloadOptions, run_payload,
)

EXAMPLE = 'robot-identification payload result/identified_model.yaml loaded_bag -o payload'


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_model_argument(parser, 'identified_model.yaml of the bare arm')
    parser.add_argument(
        'bags', nargs='+', type=Path, metavar='BAG',
        help='recordings of the arm with the payload: bags or tables',
    )
    add_arguments(parser, PayloadOptions)
    add_output_option(
        parser, 'folder for payload.json, the report and a model of the arm with the payload'
    )


def run(args: argparse.Namespace) -> None:
    """Find the payload and write the results."""
    options = options_given(args, PayloadOptions)
    result = run_payload(args.model, args.bags, options, result_folder(args))
    print_results(
        args, payload_content(result), with_report(args, payload_text(result)),
        (*result.notes, *result.found.notes),
    )
