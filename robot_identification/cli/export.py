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

"""`robot-identification export`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from robot_identification.cli.command import add_command
from robot_identification.cli.options import add_json_option
from robot_identification.cli.output import print_json
from robot_identification.export.urdf import export_urdf
from robot_identification.files import check_writable
from robot_identification.files import write_atomically
from robot_identification.model.model_file import load_identified_model


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, 'export', 'write a model for other programs',
        'robot-identification export result/identified_model.yaml --urdf ur5_identified.urdf',
        run,
    )
    parser.add_argument('model', type=Path, metavar='MODEL', help='identified_model.yaml')
    parser.add_argument(
        '--urdf', type=Path, required=True, metavar='OUT', help='URDF with identified inertials'
    )
    parser.add_argument('--force', action='store_true', help='overwrite what is there already')
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Export the model."""
    check_writable(args.urdf, args.force)
    write_atomically(args.urdf, export_urdf(load_identified_model(args.model)))
    if args.json:
        print_json({'urdf': args.urdf})
    else:
        print(f'written to {args.urdf}')
    return 0
