# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Entry point of `robot-identification`."""

import argparse
from collections.abc import Sequence
import io
import os
from pathlib import Path
import shlex
import sys

from robot_identification.cli.command import CommandLineError, make_parser
from robot_identification.cli.output import print_json
from robot_identification.cli.signals import ended_as_by_interrupt
from robot_identification.errors import IdentificationError, UsageError

# A description that stands where no option names it is known by these.
URDF_SUFFIXES, YAML_SUFFIXES = ('.urdf', '.xacro'), ('.yaml', '.yml')
INTERRUPTED = 130  # exit code: 128 + SIGINT, as shells do


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    for stream in (sys.stdout, sys.stderr):
        # A terminal without a letter of a name must not end the command.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors='backslashreplace')
    args = argparse.Namespace(json='--json' in given)
    try:
        args = parse_arguments(given)
        # Worker processes are ended on the way out; nothing else would end them.
        with ended_as_by_interrupt():
            return int(args.run(args) or 0)
    except IdentificationError as error:
        return _report(error, args)
    except BrokenPipeError:
        # The reader of our output has gone; leave quietly, as other tools do.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _report(UsageError(_describe_refusal(error, args)), args)
    except KeyboardInterrupt:
        print('interrupted', file=sys.stderr)
        return INTERRUPTED


def parse_arguments(given: Sequence[str]) -> argparse.Namespace:
    """Return the arguments of a command line; raise CommandLineError if it is not understood."""
    parser = make_parser([word for word in given if not word.startswith('-')][:1])
    args, rest = parser.parse_known_args(given)
    if rest:
        rest = take_arm(args, rest)
    elif hasattr(args, 'bags'):
        args.bags = [Path(word) for word in take_arm(args, [str(path) for path in args.bags])]
    if rest:
        parser.commands[args.command].refuse_unknown(rest)
    args.command_line = shlex.join(['robot-identification', *given])
    return args


def take_arm(args: argparse.Namespace, words: list[str]) -> list[str]:
    """
    Take a description among positional words for the arm, where --urdf or --robot is not given.

    Commands that take an arm accept its URDF, xacro or robot YAML without the option. Returns the
    words that are left.
    """
    # The --urdf of other commands is an output.
    if not {'urdf', 'xacro_arguments'} <= set(vars(args)):
        return words
    left = []
    for word in words:
        suffix = Path(word).suffix
        if suffix in URDF_SUFFIXES and args.urdf is None:
            args.urdf = Path(word)
        elif suffix in YAML_SUFFIXES and getattr(args, 'robot', word) is None:
            args.robot = word
        else:
            left.append(word)
    return left


def _report(error: IdentificationError, args: argparse.Namespace) -> int:
    """Print an error on stderr, with --json as an object on stdout as well; return its code."""
    print(f'error: {error}', file=sys.stderr)
    if isinstance(error, CommandLineError):
        print(error.usage, file=sys.stderr)
    if getattr(args, 'json', False):
        print_json({'error': str(error), 'exit_code': error.exit_code})
    return error.exit_code


def _describe_refusal(error: OSError, args: argparse.Namespace) -> str:
    """Return in words what the system refused."""
    if error.filename is not None:
        return f'{error.strerror}: {error.filename}'
    # A full disk says so when it is written to, and names no file.
    output = getattr(args, 'output', 'a file')
    return (
        f'{output} cannot be written ({error.strerror or error}): make room, or name another place'
    )


if __name__ == '__main__':
    sys.exit(main())
