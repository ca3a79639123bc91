# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification validate`."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from robot_identification import load_model, validate
from robot_identification.cli.options import (
    add_mapping_option, add_model_argument, add_output_option, options_given, RECORDING,
    result_folder,
)
from robot_identification.cli.output import print_results, with_report
from robot_identification.estimation import IdentifyOptions
from robot_identification.files import ResultFolder
from robot_identification.options import add_arguments
from robot_identification.report import render_validation_report, validation_text
from robot_identification.studies.rollout import (
    rollout_section, RolloutOptions, run_rollout, with_rollouts,
)
from robot_identification.validation import (
    predict_effort, Score, validation_content, validation_json,
)

EXAMPLE = 'robot-identification validate result/identified_model.yaml other_bag -o validation'
RESULT_FILES = ('validation.json', 'report.html')


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_model_argument(parser)
    parser.add_argument('bags', nargs='+', type=Path, metavar='BAG', help=RECORDING)
    parser.add_argument(
        '--consistent', action='store_true',
        help='score the physically consistent parameters, which exports and simulators use',
    )
    parser.add_argument(
        '--rollout', action='store_true',
        help='simulate from measured states under the measured effort, and state the drift: of '
        'the physically consistent parameters, of the URDF alone, of the exported MJCF (a minute)',
    )
    add_arguments(parser, RolloutOptions)
    add_arguments(parser, IdentifyOptions, ('start', 'stop'))
    add_mapping_option(parser)
    add_output_option(parser, 'folder for validation.json and the report')


def run(args: argparse.Namespace) -> None:
    """Validate and write the results."""
    folder = result_folder(args)
    folder.check(RESULT_FILES)
    model = load_model(args.model).with_mapping(args.mapping)
    if args.consistent:
        model = model.with_consistent_parameters()
    score = validate(model, args.bags, start=args.start, stop=args.stop)
    sections: list[Any] = []
    if args.rollout:
        options = options_given(args, RolloutOptions)
        rollouts = run_rollout(model, score.datasets, options)
        score = replace(score, validation=with_rollouts(score.validation, rollouts))
        sections = [rollout_section(rollout) for rollout in rollouts]
    write_validation(score, folder, rollouts=sections)
    text = with_report(args, f'{validation_text(model, score.validation)}\n')
    print_results(args, validation_content(score.validation), text, score.notes)


def write_validation(
    score: Score, folder: ResultFolder, truth: Any = None, rollouts: Sequence[Any] = ()
) -> None:
    """
    Write figures and report of a validation.

    `truth` is that of a simulated robot, `rollouts` are the report's sections of drift.
    """
    report = render_validation_report(
        score.model, score.validation, score.datasets,
        [predict_effort(score.model, dataset) for dataset in score.datasets], score.notes,
        command_line=folder.command_line, truth=truth, rollouts=list(rollouts),
    )
    folder.write({'validation.json': validation_json(score.validation), 'report.html': report})
