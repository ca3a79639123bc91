# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification completion`."""

import argparse
from pathlib import Path

from robot_identification.cli.command import make_parser, Parser
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
# By shell: known names first, then YAML files and folders. tcsh has no functions.
_FUNCTIONS = {
    'bash': """{name}() {{
  compgen -W "{words}" -- "$1"
  compgen -f -X '!*.yaml' -- "$1"
  compgen -d -- "$1"
}}
""",
    'zsh': """{name}() {{
  _alternative "words:known name:({words})" 'files:file:_files -g "*.yaml"'
}}
""",
    'tcsh': '',
}


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


def completion_script(parser: Parser, shell: str) -> str:
    """
    Return a script that completes the commands, options and arguments of a parser.

    Options with choices complete these; options for a robot, an experiment file or friction laws
    complete the known names; paths complete files. The parser is changed for that, and parses no
    longer what its options may name beside. Raises MissingDependencyError if shtab is not
    installed.
    """
    with needing('shtab', 'completion in the shell'):
        import shtab
    experiments = share_directory() / 'config' / 'experiments'
    plans = ' '.join(sorted(path.stem for path in experiments.glob('*.yaml')))
    robots = ' '.join(robot.name for robot in known_robots())
    # Known names by the destination of options that take them, or a YAML file.
    known = {'robot': robots, 'experiment': plans, 'plan': plans}
    for action in (one for command in parser.commands.values() for one in command._actions):
        if action.dest == 'friction':
            action.choices = ('auto', 'none', *FRICTION_LAWS)
        elif action.dest in known:
            # shtab reads it there, and quotes what is named as a file.
            function = f'{_PREFIX}_file_or_{action.dest}'
            vars(action)['complete'] = {
                'bash': function, 'zsh': function, 'tcsh': f'({known[action.dest]})',
            }
        elif action.type in (Path, model_file):
            vars(action)['complete'] = shtab.FILE
    preamble = ''.join(
        _FUNCTIONS[shell].format(name=f'{_PREFIX}_file_or_{name}', words=words)
        for name, words in known.items()
    )
    return str(shtab.complete(parser, shell, root_prefix=_PREFIX, preamble=preamble))
