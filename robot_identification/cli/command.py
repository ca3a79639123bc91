# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Registration of a command with the command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable
import re
from typing import Any, NoReturn

from robot_identification.errors import UsageError
from robot_identification.texts import suggestion

_INVALID_CHOICE = re.compile(r"(argument .*: invalid choice: )'(.*?)' \(choose from (.*)\)")


class CommandLineError(UsageError):
    """The command line cannot be understood; `usage` is of the command that was meant."""

    def __init__(self, message: str, usage: str) -> None:
        super().__init__(message)
        self.usage = usage


class Parser(argparse.ArgumentParser):
    """A parser whose errors are raised, so that they are reported as all others are."""

    def error(self, message: str) -> NoReturn:
        """Raise a CommandLineError; of a wrong choice the nearest is named."""
        found = _INVALID_CHOICE.fullmatch(message)
        if found is not None:
            # Quoted or not, by the version of Python.
            known = [word.strip("'") for word in found[3].split(', ')]
            near = suggestion(found[2], known) or f'known are {", ".join(known)}'
            message = f'{found[1]}{found[2]}: {near}'
        raise CommandLineError(
            message, f'{self.format_usage()}{self.prog} --help explains every option'
        )

    def refuse_unknown(self, words: list[str]) -> NoReturn:
        """Raise a CommandLineError on arguments that no option takes."""
        word = next((word for word in words if word.startswith('-')), words[0])
        near = suggestion(word.partition('=')[0], self._option_string_actions)
        self.error(f'unknown argument {word}{": " if near else ""}{near}')


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
