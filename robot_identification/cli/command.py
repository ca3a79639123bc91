# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Registration of a command with the command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any


def add_command(
    subparsers: Any, name: str, summary: str, example: str,
    run: Callable[[argparse.Namespace], int],
) -> argparse.ArgumentParser:
    """Add a command with its one-line summary and an example; return its parser."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + '.',
        epilog=f'example:\n  {example}',
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser
