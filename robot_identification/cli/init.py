# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification init`."""

from __future__ import annotations

import argparse
from pathlib import Path
import sys
from typing import Any

from robot_identification import load_robot
from robot_identification.cli.command import add_command
from robot_identification.cli.init_guide import guide_text, Study, study_content
from robot_identification.cli.init_questions import CELL, Question, QUESTIONS
from robot_identification.cli.options import add_json_option
from robot_identification.cli.output import print_json, say
from robot_identification.errors import IdentificationError, UnsafeMotionError, UsageError
from robot_identification.excitation import Laboratory, plan_study
from robot_identification.files import check_writable, dump_yaml, read_yaml, write_results
from robot_identification.model import (
    find_urdf, known_robots, mount_tool, parse_urdf, read_description, RobotModel, tool_frame,
)

DEFAULT_FOLDER = Path('study')
ARM_YAML, ARM_URDF, GUIDE = 'arm.yaml', 'arm.urdf', 'guide.md'


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, 'init',
        'ask for arm, mounting, tool and cell, and write the experiment files of a whole study '
        'with a guide',
        'robot-identification init --robot ur5e --tool 1.2 0 0 0.06 --wall back:0.6 --defaults '
        '-o study', run,
    )
    for question in QUESTIONS:
        parser.add_argument(
            f'--{question.name}', nargs='+', metavar=question.metavar.split()[0],
            help=question.about,
        )
    parser.add_argument(
        '--defaults', action='store_true', help='take the default where an option is not given'
    )
    parser.add_argument(
        '--no-collision-check', action='store_true',
        help='for an arm without collision shapes, with nothing in its reach',
    )
    parser.add_argument(
        '-o', '--output', type=Path, default=DEFAULT_FOLDER, metavar='FOLDER',
        help='where the files go (default: %(default)s)',
    )
    parser.add_argument('--force', action='store_true', help='overwrite what is there already')
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Ask, plan and write."""
    check_writable(args.output / GUIDE, args.force)
    texts = {
        question.name: ' '.join(given) for question in QUESTIONS
        if (given := getattr(args, question.name.replace('-', '_'))) is not None
    }
    study, files = _Interview(args, texts).finish()
    files[GUIDE] = guide_text(study)
    write_results(args.output, files, args.force)
    content = study_content(study)
    if args.json:
        print_json(content)
        return 0
    for step in content['steps']:
        print(f'{step["minutes"]:6.1f} min  {step["file"]}')
    print(f'{content["minutes"]:6.1f} min  in all, each once at full speed')
    print(f'what to do, in order: {args.output / GUIDE}')
    return 0


class _Interview:
    """The answers, from options, from a person, or the defaults."""

    def __init__(self, args: argparse.Namespace, texts: dict[str, str]) -> None:
        self._args, self._given = args, dict(texts)
        self._texts: dict[str, str] = {}
        self._asks = sys.stdin.isatty() and not args.defaults
        if not self._asks and not args.defaults:
            missing = [
                f'--{question.name}' for question in QUESTIONS
                if question.name not in texts
                and (question.name != 'tool-size' or texts.get('tool', 'none') != 'none')
            ]
            if missing:
                raise UsageError(
                    f'no terminal to ask at: give {", ".join(missing)}, or take the defaults with '
                    '--defaults'
                )

    def finish(self) -> tuple[Study, dict[str, str]]:
        """Return the study and its files but the guide."""
        answers: dict[str, Any] = {}
        for question in QUESTIONS:
            self._answer(question, answers)
        while True:
            try:
                return self._plan(answers)
            except IdentificationError as error:
                open_questions = [
                    question for question in QUESTIONS
                    if question.name in CELL and question.name not in self._given
                ]
                if not self._asks or not open_questions:
                    raise
                say(f'  {error}')
                say('  once more, what the arm has room in:')
                for question in open_questions:
                    self._answer(question, answers)

    def _answer(self, question: Question, answers: dict[str, Any]) -> None:
        """Put an answer that can be used among the others."""
        if not question.applies(answers):
            answers[question.name] = None
            return
        default = question.default(answers)
        if question.name in self._given or not self._asks:
            text = self._given.get(question.name, default)
            try:
                answers[question.name] = question.parse(text, answers)
            except IdentificationError as error:
                raise type(error)(f'--{question.name}: {error}') from error
            self._texts[question.name] = text
            return
        while True:
            text = _ask(question.words, self._texts.get(question.name, default))
            try:
                answers[question.name] = question.parse(text, answers)
            except IdentificationError as error:
                say(f'  {error}')
                continue
            self._texts[question.name] = text
            return

    def _plan(self, answers: dict[str, Any]) -> tuple[Study, dict[str, str]]:
        names = ('table', 'wall', 'ceiling', 'cell')
        check = not self._args.no_collision_check
        laboratory = Laboratory(
            mounting=answers['mounting'],
            # The default table is none of the user's making.
            obstacles=tuple(
                obstacle for name in names for obstacle in answers[name]
                if check or name in self._given
            ),
            window=answers['window'],
            effort_unit=answers['effort-unit'],
            source=answers['source'],
            collision=check,
        )
        robot: RobotModel = answers['robot']
        files: dict[str, str] = {}
        name = self._texts['robot']
        if answers['tool'] is not None:
            robot, files = _arm_with_tool(name, robot, answers['tool-size'])
            name = str(self._args.output / ARM_YAML)
        try:
            motions = plan_study(robot, laboratory)
        except UnsafeMotionError as error:
            if 'collision shapes' in str(error):
                raise UnsafeMotionError(f'{error} (--no-collision-check)') from error
            raise
        for motion in motions:
            files[f'{motion.name}.yaml'] = dump_yaml(motion.content)
        options = ' '.join(f'--{key} {text}' for key, text in self._texts.items())
        return Study(
            self._args.output, name, robot, answers['tool-size'], laboratory, motions, options
        ), files


def _ask(words: str, default: str) -> str:
    """
    Return the answer that a person types, the default for an empty line.

    Raises UsageError if the input has ended.
    """
    print(f'{words}\n  [{default}] ', end='', file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    if not line:
        say('')
        raise UsageError('the answers ended before the questions: nothing was written')
    return line.strip() or default


def _arm_with_tool(
    name: str, robot: RobotModel, tool: Any
) -> tuple[RobotModel, dict[str, str]]:
    """Return an arm that carries a tool, and the files that describe it."""
    urdf = find_urdf(name)
    text = mount_tool(read_description(urdf), str(urdf), tool_frame(robot), tool)
    known = {entry.name: entry.yaml for entry in known_robots()}
    content = {
        **read_yaml(known.get(name, Path(name))),
        'description': f'{robot.name} with a tool of {tool.mass:g} kg',
        'urdf': ARM_URDF,
    }
    carrying = load_robot(name, urdf=parse_urdf(text, ARM_URDF, urdf.parent))
    return carrying, {ARM_YAML: dump_yaml(content), ARM_URDF: text}
