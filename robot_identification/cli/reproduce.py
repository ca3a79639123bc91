# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""`robot-identification reproduce`."""

from __future__ import annotations

import argparse
from typing import Any

from robot_identification.cli.command import add_command
from robot_identification.cli.options import add_json_option
from robot_identification.cli.options import add_output_option
from robot_identification.cli.output import print_json
from robot_identification.cli.output import say
from robot_identification.files import check_writable
from robot_identification.reproductions.page import write_reproduction
from robot_identification.reproductions.reproduction import load_seed
from robot_identification.reproductions.reproduction import SEEDS


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, 'reproduce', "print a paper's tables beside ours, from a simulated arm",
        'robot-identification reproduce tika_2020 -o reproductions', run,
    )
    parser.add_argument('seed', choices=SEEDS, metavar='SEED', help=', '.join(SEEDS))
    add_output_option(
        parser, 'folder for SEED.html (the report), SEED.md, SEED.json and images/SEED'
    )
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Reproduce the paper."""
    for ending in ('json', 'md', 'html'):
        check_writable(args.output / f'{args.seed}.{ending}', args.force)
    seed = load_seed(args.seed)
    found = seed.reproduce(lambda share, stage: say(f'{100 * share:3.0f} %  {stage}'))
    files = write_reproduction(
        found, seed.TITLE, seed.REFERENCE, args.output, args.command_line, force=args.force
    )
    outcomes = [claim.outcome for claim in found.claims]
    if args.json:
        print_json({
            'seed': args.seed,
            'files': [args.output / name for name in files],
            'claims': [vars(claim) for claim in found.claims],
        })
        return 0
    for claim in found.claims:
        print(f'{claim.outcome:>14}  {claim.what}: paper {claim.printed}, here {claim.ours}')
    print(', '.join(
        f'{outcomes.count(outcome)} {outcome}' for outcome in dict.fromkeys(sorted(outcomes))
    ))
    print(f'written to {args.output / files[2]}')
    return 0
