# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification completion`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from robot_identification.cli.command import make_parser
from robot_identification.cli.options import add_output_option, model_file
from robot_identification.cli.output import print_json
from robot_identification.errors import needing
from robot_identification.files import check_writable, write_atomically
from robot_identification.model import FRICTION_LAWS, known_robots, share_directory

EXAMPLE = (
    'robot-identification completion bash '
    '-o ~/.local/share/bash-completion/completions/robot-identification'
)
SHELLS = ('bash', 'zsh', 'tcsh')
_PREFIX = '_robot_identification'


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument('shell', choices=SHELLS, help='shell that reads the script')
    add_output_option(parser, 'script to write (default: print it)', required=False)


def run(args: argparse.Namespace) -> None:
    """Write or print the script."""
    script = completion_script(make_parser(), args.shell)
    if args.output is not None:
        check_writable(args.output, args.force)
        write_atomically(args.output, script)
    if args.json:
        where = {'script': script} if args.output is None else {'output': args.output}
        print_json({'shell': args.shell, **where})
    else:
        print(script if args.output is None else f'written to {args.output}')


def completion_script(parser: argparse.ArgumentParser, shell: str) -> str:
    """
    Return a script that completes the commands, options and arguments of a parser.

    Options with choices complete these; options for a robot, an experiment file or friction laws
    complete the known names; paths complete files. Raises MissingDependencyError if shtab is not
    installed.
    """
    with needing('shtab', 'completion in the shell'):
        import shtab
    known = {name: tuple(list_names()) for name, list_names in _KNOWN.items()}
    for action in _actions(parser):
        if action.dest in known and not action.choices:
            _complete(action, {
                **dict.fromkeys(('bash', 'zsh'), _function(action.dest)),
                'tcsh': f'({" ".join(known[action.dest])})',
            })
        elif action.type in (Path, model_file):
            _complete(action, shtab.FILE)
    # tcsh has no functions.
    preamble = '' if shell == 'tcsh' else '\n'.join(
        _FUNCTIONS[shell, name in _FILES].format(name=_function(name), words=' '.join(words))
        for name, words in known.items()
    )
    return str(shtab.complete(parser, shell, root_prefix=_PREFIX, preamble=preamble))


def _function(name: str) -> str:
    """Return the shell's function for an option; shtab quotes what is named as a file."""
    return f'{_PREFIX}_{"file_or" if name in _FILES else "word_of"}_{name}'


def _complete(action: argparse.Action, how: Mapping[str, object]) -> None:
    """Report shtab how an action is completed."""
    vars(action)['complete'] = how


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield the options and arguments of a parser and of its commands."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)


def _experiments() -> Iterator[str]:
    """Yield the names of the experiment files that are shipped."""
    for path in sorted((share_directory() / 'config' / 'experiments').glob('*.yaml')):
        yield path.stem


def _robots() -> Iterator[str]:
    """Yield the names of the known robots."""
    for robot in known_robots():
        yield robot.name


# What an option may name, by its destination.
_KNOWN: dict[str, Callable[[], Iterable[str]]] = {
    'robot': _robots,
    'experiment': _experiments,
    'plan': _experiments,
    'friction': lambda: ('auto', 'none', *FRICTION_LAWS),
}
# Those that may as well name a YAML file.
_FILES = ('robot', 'experiment', 'plan')
# By shell, and whether files are meant, too: known names first, then YAML files and folders.
_FUNCTIONS = {
    ('bash', True): """{name}() {{
  compgen -W "{words}" -- "$1"
  compgen -f -X '!*.yaml' -- "$1"
  compgen -d -- "$1"
}}""",
    ('bash', False): """{name}() {{
  compgen -W "{words}" -- "$1"
}}""",
    ('zsh', True): """{name}() {{
  _alternative "words:known name:({words})" 'files:file:_files -g "*.yaml"'
}}""",
    ('zsh', False): """{name}() {{
  _values "known name" {words}
}}""",
}
