# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification campaign`."""

import argparse
from pathlib import Path
import sys
import time

from robot_identification.cli.options import options_given
from robot_identification.cli.output import (
    end_progress_line, print_results, progress_line, say, with_report,
)
from robot_identification.files import ResultFolder
from robot_identification.options import add_arguments
from robot_identification.studies.campaign import (
    campaign_content, campaign_text, CampaignOptions, load_campaign, run_campaign,
)

EXAMPLE = 'robot-identification campaign fleet.yaml -o fleet'


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        'file', type=Path, metavar='FILE', help='campaign file (docs/formats/campaign.md)'
    )
    parser.add_argument(
        '-o', '--output', type=Path, required=True, metavar='DIR',
        help='folder of the campaign; in an existing one the command resumes',
    )
    add_arguments(parser, CampaignOptions)


def run(args: argparse.Namespace) -> None:
    """Do what is left of the campaign, and write the health report."""
    options = options_given(args, CampaignOptions)
    folder = ResultFolder(args.output, command_line=args.command_line)
    try:
        outcome = run_campaign(load_campaign(args.file), folder, options, Progress().report)
    finally:
        end_progress_line()
    content = {'output': args.output, **campaign_content(outcome)}
    print_results(args, content, with_report(args, campaign_text(outcome)), outcome.notes)


class Progress:
    """Progress on stderr: the runs that are done, and the time for the rest."""

    def __init__(self) -> None:
        self._begun = time.monotonic()

    def report(self, done: int, total: int, text: str) -> None:
        """Report the number of runs that are done, that of those to do, and messages."""
        end_progress_line()
        if not done:
            self._begun = time.monotonic()
            say(text)
            return
        left = (time.monotonic() - self._begun) / done * (total - done)
        rest = f', about {_duration(left)} left' if done < total else ''
        say(f'[{done}/{total}] {text}')
        if sys.stderr.isatty():
            progress_line(f'{done} of {total} runs done{rest}')
        elif rest:
            say(f'{done} of {total} runs done{rest}')


def _duration(seconds: float) -> str:
    minutes, hours = seconds / 60.0, seconds / 3600.0
    if minutes < 1.0:
        return f'{seconds:.0f} s'
    return f'{minutes:.0f} min' if hours < 2.0 else f'{hours:.1f} h'
