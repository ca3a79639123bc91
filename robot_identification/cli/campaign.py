# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification campaign`."""

from __future__ import annotations

import argparse
from pathlib import Path
import sys
import time
from typing import Any

from robot_identification.cli.command import add_command
from robot_identification.cli.options import add_json_option
from robot_identification.cli.output import (
    end_progress_line, print_json, progress_line, say, show, warn,
)
from robot_identification.files import write_atomically
from robot_identification.parallel import LOCAL
from robot_identification.studies.campaign import (
    CampaignOutcome, health_content, health_text, load_campaign, render_campaign_report,
    run_campaign, run_row, sizes_content,
)


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, 'campaign', 'identify many bags of many arms, and watch their friction',
        'robot-identification campaign fleet.yaml -o fleet', run,
    )
    parser.add_argument(
        'file', type=Path, metavar='FILE', help='campaign file (docs/formats/campaign.md)'
    )
    parser.add_argument(
        '-o', '--output', type=Path, required=True, metavar='DIR',
        help='folder of the campaign; started again with it, the command goes on where it stopped',
    )
    parser.add_argument(
        '--scheduler', default=LOCAL, metavar='WHO',
        help=f'where runs are computed: {LOCAL} (processes on this machine, the default), or the '
        'address of a Dask scheduler, tcp://HOST:8786, whose workers see bags and folder',
    )
    parser.add_argument(
        '--processes', type=int, metavar='N',
        help=f'of --scheduler {LOCAL}; by default one for each processor',
    )
    parser.add_argument(
        '--retry', action='store_true',
        help='do runs again that failed, though nothing of them has changed',
    )
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Do what is left of the campaign, and write the health report."""
    campaign = load_campaign(args.file)
    progress = Progress()
    try:
        outcome = run_campaign(
            campaign, args.output, progress.report, args.scheduler, args.processes,
            retry=args.retry,
        )
    finally:
        end_progress_line()
    page = args.output / 'report.html'
    write_atomically(page, render_campaign_report(
        campaign.name, [run_row(state) for state in outcome.states], outcome.health,
        outcome.sizes, outcome.notes, args.command_line,
    ))
    for note in outcome.notes:
        warn(note)
    if args.json:
        print_json(_content(outcome, args.output))
        return 0
    show(
        f'{campaign.name}: {len(outcome.states) - len(outcome.failed)} of {len(outcome.states)} '
        'runs have a model'
    )
    for state in outcome.failed:
        show(f'  failed: {state["name"]} (exit code {state["exit_code"]}): {state["error"]}')
    show(health_text(outcome.health), end='')
    show(f'report: {page}')
    return 0


class Progress:
    """Tells on stderr what is done, and when the rest will be."""

    def __init__(self) -> None:
        self._begun = time.monotonic()

    def report(self, done: int, total: int, text: str) -> None:
        """
        Report what is done.

        Parameters
        ----------
        done, total : int
            Runs that are done, of those that were to do.
        text : str
            What there is to say of the last one.

        """
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


def _content(outcome: CampaignOutcome, folder: Path) -> dict[str, Any]:
    return {
        'output': folder,
        'campaign': outcome.campaign.name,
        'runs': [
            {
                'name': state['name'], 'arm': state['arm'], 'status': state['status'],
                'exit_code': state['exit_code'], 'error': state['error'],
                'verdict': state.get('verdict'), 'date': state.get('date'),
                'kept': state['name'] in outcome.kept,
            }
            for state in outcome.states
        ],
        'health': health_content(outcome.health),
        'joint_sizes': sizes_content(outcome.sizes),
        'notes': outcome.notes,
    }
