# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Output of commands: results on stdout, progress and warnings on stderr."""

import argparse
from collections.abc import Iterable
import sys
from typing import Any

from robot_identification.report import json_text
from robot_identification.texts import shown


def print_json(content: Any) -> None:
    """Print one machine-readable object; what is not finite becomes null."""
    print(json_text(content), end='')


def show(text: str) -> None:
    """Print a result; names in it cannot steer the terminal, nor fill it."""
    print(shown(text))


def say(text: str) -> None:
    """Report the user progress, on stderr; names in it cannot steer the terminal."""
    print(shown(text), file=sys.stderr, flush=True)


def warn(text: str) -> None:
    """Warn the user, on stderr."""
    say(f'warning: {text}')


def print_results(
    args: argparse.Namespace, content: Any, text: str, notes: Iterable[str] = ()
) -> None:
    """Print the notes on stderr, and a result as text or, with --json, as one object."""
    for note in notes:
        warn(note)
    if args.json:
        print_json(content)
    else:
        show(text.removesuffix('\n'))


def with_report(args: argparse.Namespace, text: str) -> str:
    """Return the text of a result with a line that names the report in --output."""
    return f'{text}report: {args.output / "report.html"}'


def progress_line(text: str) -> None:
    """Show progress in one line of a terminal, or nothing where stderr is a file."""
    if sys.stderr.isatty():
        print(f'\r\033[K{shown(text)}', end='', file=sys.stderr, flush=True)


def end_progress_line() -> None:
    """End the line that `progress_line` wrote."""
    if sys.stderr.isatty():
        print('\r\033[K', end='', file=sys.stderr, flush=True)
