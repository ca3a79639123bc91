# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The commands, and the parser of the command line.

The module of a command has an `EXAMPLE`, adds its options to a parser by `add_options`, and makes
them happen by `run`, which returns an exit code where that is not 0.
"""

import argparse
from collections.abc import Container
import importlib
import re
from typing import Any, NoReturn

import robot_identification
from robot_identification.errors import UsageError
from robot_identification.removed import describe_unknown, REMOVED
from robot_identification.texts import suggestion

# What each does, in a line. Each is a module of this folder, loaded when it is asked for: what one
# command needs takes as long to load as Pinocchio does, what all of them need several times that.
COMMANDS = {
    'demo': 'identify and validate a simulated arm through its ROS nodes, in about a minute',
    'robots': 'list the known robots and their files',
    'base-parameters': 'list the identifiable (base) parameters of an arm',
    'urdf': 'write a URDF from a link table, a xacro or a calibrated arm',
    'excite': 'design and certify an excitation trajectory, or evaluate a motion',
    'simulate': 'record a trajectory on a simulated robot',
    'simulate-ur': 'simulate a controller of Universal Robots with its network interfaces',
    'doctor': 'check bags, URDFs, xacros and configuration files',
    'identify': 'identify an arm from its bags',
    'auto': 'check recordings, identify, validate on held-out data, report and export',
    'validate': 'validate a model on unseen bags',
    'predict': 'predict the effort of a bag',
    'export': 'write a model for other programs',
    'drive-gains': 'identify drive gains (joint torque per motor current)',
    'payload': 'identify mass, centre of mass and inertia of a payload',
    'temperature': 'fit friction against temperature',
    'compare': 'list significant differences between models',
    'friction-map': 'map friction over speed, payload and temperature',
    'collision': 'find the external-torque threshold for contact detection',
    'campaign': 'identify many bags of many arms, and monitor their friction',
    'init': 'ask for arm, mounting, tool and cell, and write the experiment files of a whole '
    'study with a guide',
    'completion': 'write a script that completes commands in a shell',
}
# What it writes is all that there is to say, and it does not end by itself.
WITHOUT_JSON = ('urdf', 'simulate-ur')
# Of a usage that stands below an error; chosen: the error stays in view.
MOST_USAGE_LINES = 3


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Shows the words that belong together, such as ROLL PITCH YAW, once."""

    def _format_args(self, action: argparse.Action, default_metavar: str) -> str:
        if isinstance(action.metavar, str) and ' ' in action.metavar:
            return action.metavar
        return super()._format_args(action, default_metavar)


class CommandLineError(UsageError):
    """The command line cannot be understood; `usage` points to the help of the command."""

    def __init__(self, message: str, usage: str) -> None:
        super().__init__(message)
        self.usage = usage


class Parser(argparse.ArgumentParser):
    """A parser whose errors are raised, so that they are reported as all others are."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.commands: dict[str, Parser] = {}  # parsers of its commands
        # -90deg is a value and no option, as -1.57 is.
        self._negative_number_matcher = re.compile(r'-\.?\d.*')

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Raise an ArgumentError for a wrong choice; the nearest is named."""
        if action.choices is None or value in action.choices:
            return
        if value in REMOVED:
            option = '/'.join(action.option_strings)
            raise argparse.ArgumentError(None, describe_unknown(option, value, ()))
        near = suggestion(value, action.choices) or f'known are {", ".join(action.choices)}'
        raise argparse.ArgumentError(action, f'invalid choice: {value}: {near}')

    def error(self, message: str) -> NoReturn:
        """Raise a CommandLineError."""
        usage = self.format_usage()
        if usage.count('\n') > MOST_USAGE_LINES:
            usage = ''
        raise CommandLineError(message, f'{usage}{self.prog} --help explains every option')

    def refuse_unknown(self, words: list[str]) -> NoReturn:
        """Raise a CommandLineError on arguments that no option takes."""
        word = next((word for word in words if word.startswith('-')), words[0])
        option = word.partition('=')[0]
        if option in REMOVED:
            self.error(describe_unknown('option', option, ()))
        near = suggestion(option, self._option_string_actions)
        self.error(f'unknown argument {word}{": " if near else ""}{near}')


def make_parser(complete: Container[str] = COMMANDS) -> Parser:
    """Return the parser of the command line; the commands that are not `complete` lack options."""
    parser = Parser(
        prog='robot-identification',
        description='Dynamic-parameter identification of serial robots: from an excitation motion '
        'to a model that predicts joint torques.',
        epilog='Exit codes: 0 finished, 2 usage, 3 not identifiable, 4 data or description '
        'unusable, 5 unsafe, 130 interrupted. `robot-identification COMMAND --help` shows an '
        'example for each command.',
    )
    parser.add_argument(
        '-V', '--version', action='version', version=f'%(prog)s {robot_identification.__version__}'
    )
    subparsers = parser.add_subparsers(dest='command', metavar='COMMAND', required=True)
    parser.commands = subparsers.choices
    for name, summary in COMMANDS.items():
        command = subparsers.add_parser(
            name, help=summary, description=summary[0].upper() + summary[1:] + '.',
            formatter_class=HelpFormatter,
        )
        if name in complete:
            _complete(command, name)
    return parser


def _complete(parser: argparse.ArgumentParser, name: str) -> None:
    """Give the parser of a command its options, from the module of its name."""
    module = importlib.import_module(f'robot_identification.cli.{name.replace("-", "_")}')
    parser.epilog = f'example:\n  {module.EXAMPLE}'
    parser.set_defaults(run=module.run)
    module.add_options(parser)
    if name not in WITHOUT_JSON:
        parser.add_argument(
            '--json', action='store_true', help='print one machine-readable object on stdout'
        )
