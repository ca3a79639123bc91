# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification init`."""

import argparse
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
import sys
from typing import Any

from robot_identification import load_robot
from robot_identification.cli.init_guide import GUIDE, guide_text, Study, study_content
from robot_identification.cli.init_questions import CELL, DESCRIBED, Question, QUESTIONS
from robot_identification.cli.options import (
    add_description_options, add_force_option, described_robot, description_words,
    parse_xacro_arguments,
)
from robot_identification.cli.output import print_results, say, warn
from robot_identification.errors import IdentificationError, UsageError
from robot_identification.excitation import (
    adapt_laboratory, find_open_choices, Laboratory, plan_study,
)
from robot_identification.files import (
    check_writable, dump_yaml, read_yaml, to_finite, write_results,
)
from robot_identification.model import (
    find_urdf, find_xacro_arguments, known_robots, mount_tool, parse_urdf, read_description,
    RobotModel, tool_frame,
)

EXAMPLE = 'robot-identification init --urdf arm.urdf --wall back:0.6 --defaults -o study'
DEFAULT_FOLDER = Path('study')
ARM_YAML, ARM_URDF = 'arm.yaml', 'arm.urdf'
OBSTACLES = ('table', 'wall', 'ceiling', 'cell')  # questions about them


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_description_options(parser)
    for question in QUESTIONS:
        parser.add_argument(
            f'--{question.name}', nargs='+' if question.several else None,
            metavar=question.metavar, help=question.about,
        )
    parser.add_argument(
        '--defaults', action='store_true', help='use the defaults of options that are not given'
    )
    parser.add_argument(
        '--no-collision-check', action='store_true',
        help='omit the check of collisions; the workspace of the arm must be empty',
    )
    parser.add_argument(
        '-o', '--output', type=Path, default=DEFAULT_FOLDER, metavar='FOLDER',
        help='folder of the files (default: %(default)s)',
    )
    add_force_option(parser)


def run(args: argparse.Namespace) -> None:
    """Ask, plan and write."""
    check_writable(args.output / GUIDE, args.force)
    study, files = _Interview(args).finish()
    files[GUIDE] = guide_text(study)
    write_results(args.output, files, args.force)
    content = study_content(study)
    print_results(args, content, '\n'.join([
        *(f'{step["minutes"]:6.1f} min  {step["file"]}' for step in content['steps']),
        f'{content["minutes"]:6.1f} min  in all, each once at full speed',
        f'what to do, in order: {args.output / GUIDE}',
    ]))


class _Interview:
    """The answers, from options, from a person, or the defaults."""

    def __init__(self, args: argparse.Namespace) -> None:
        self._args = args
        self._given = {
            question.name: given if isinstance(given, str) else ' '.join(given)
            for question in QUESTIONS
            if (given := getattr(args, question.name.replace('-', '_'))) is not None
        }
        if args.urdf is not None:
            self._given['robot'] = str(args.urdf)
        self._texts: dict[str, str] = {}
        self._asks = sys.stdin.isatty() and not args.defaults
        missing = [
            f'--{question.name}' for question in QUESTIONS
            if question.name not in self._given
            and (question.name != 'tool-size' or self._given.get('tool', 'none') != 'none')
        ]
        if missing and not self._asks and not args.defaults:
            raise UsageError(
                f'no terminal to ask at: give {", ".join(missing)}, or take the defaults with '
                '--defaults'
            )

    def finish(self) -> tuple[Study, dict[str, str]]:
        """Return the study and its files but the guide."""
        answers: dict[str, Any] = {}
        if self._args.urdf is not None:
            answers[DESCRIBED] = described_robot(self._args)
        for question in QUESTIONS:
            self._answer(question, answers)
        open_questions = [
            question for question in QUESTIONS
            if question.name in CELL and question.name not in self._given
        ]
        while True:
            try:
                return self._plan(answers['robot'], self._laboratory(answers), answers)
            except IdentificationError as error:
                if not self._asks or not open_questions:
                    raise
                say(f'  {error}')
                say('  once more, what the arm has room in:')
                for question in open_questions:
                    self._answer(question, answers)

    def _answer(self, question: Question, answers: dict[str, Any]) -> None:
        """Put an answer that can be used among the others."""
        name, default = question.name, question.default
        if name == 'tool-size' and answers['tool'] is None:
            answers[name] = None
            return
        if not isinstance(default, str):
            default = default(answers)
        asks = self._asks and name not in self._given
        while True:
            text = (
                _ask(question, self._texts.get(name, default)) if asks
                else self._given.get(name, default)
            )
            try:
                answers[name] = question.parse(text, answers)
            except IdentificationError as error:
                if not asks:
                    raise type(error)(f'--{name}: {error}') from error
                say(f'  {error}')
            else:
                self._texts[name] = text
                return

    def _laboratory(self, answers: dict[str, Any]) -> Laboratory:
        open_ = find_open_choices(answers['robot'])
        bare = open_.bare_links
        check = not (self._args.no_collision_check or bare)
        laboratory = Laboratory(
            mounting=answers['mounting'],
            # The default table is none of the user's making.
            obstacles=tuple(
                obstacle for name in OBSTACLES for obstacle in answers[name]
                if check or (name in self._given and not bare)
            ),
            window=answers['window'],
            effort_unit=answers['effort-unit'],
            source=answers['source'],
            collision=check,
            limits=open_.limits,
            generic=bool(open_.limits) or bool(bare and not self._args.no_collision_check),
        )
        if laboratory.generic:
            _warn_of_generic(open_.notes)
        return laboratory

    def _plan(
        self, robot: RobotModel, laboratory: Laboratory, answers: dict[str, Any]
    ) -> tuple[Study, dict[str, str]]:
        """Return a study, and its files: the arm's own where it is not known by its name."""
        files: dict[str, str] = {}
        described, texts = self._args.urdf is not None, dict(self._texts)
        name, tool = texts['robot'], answers['tool-size']
        if described or tool is not None:
            content, text = (
                _description_of_urdf(self._args, robot, laboratory.effort_unit) if described
                else _description_of_yaml(name)
            )
            if tool is not None:
                text = mount_tool(text, name, tool_frame(robot), tool)
                robot = replace(load_robot(
                    None if described else name, urdf=parse_urdf(text, ARM_URDF),
                    joints=robot.joint_names,
                ), name=robot.name)
                content['description'] = f'{robot.name} with a tool of {tool.mass:g} kg'
            files = {ARM_YAML: dump_yaml({**content, 'urdf': ARM_URDF}), ARM_URDF: text}
            name = str(self._args.output / ARM_YAML)
        laboratory, remarks = adapt_laboratory(robot, laboratory)
        _warn_of_generic(remarks)
        motions = plan_study(robot, laboratory)
        files |= {f'{motion.name}.yaml': dump_yaml(motion.content) for motion in motions}
        if described:
            del texts['robot']
        options = ' '.join(f'--{key} {text}' for key, text in texts.items())
        return Study(
            self._args.output, name, robot, tool, laboratory, motions,
            f'{description_words(self._args)} {options}' if described else options,
            has_ur_driver=not described and robot.name.startswith('ur'),
        ), files


def _warn_of_generic(remarks: Iterable[str]) -> None:
    for remark in remarks:
        warn(f'{remark}; the runner of a real arm refuses such a motion')


def _ask(question: Question, default: str) -> str:
    """Return the answer that a person types, the default for an empty line."""
    print(
        f'{question.name}: {question.about}{question.picture}\n  [{default}] ', end='',
        file=sys.stderr, flush=True,
    )
    line = sys.stdin.readline()
    if not line:
        say('')
        raise UsageError('the answers ended before the questions: nothing was written')
    return line.strip() or default


def _description_of_yaml(name: str) -> tuple[dict[str, Any], str]:
    """Return the robot YAML of a known arm and the text of its URDF."""
    urdf = find_urdf(name)
    known = {entry.name: entry.yaml for entry in known_robots()}
    content = read_yaml(known.get(name, Path(name)))
    # What is written is expanded.
    content.pop('xacro_arguments', None)
    return content, read_description(urdf, find_xacro_arguments(name))


def _description_of_urdf(
    args: argparse.Namespace, robot: RobotModel, unit: str
) -> tuple[dict[str, Any], str]:
    """
    Return a robot YAML for an arm that only a URDF describes, with the text of that.

    Limits that the URDF does not state are there to be filled in.
    """
    limits = robot.limits
    joints = {
        joint: {
            'position': [lower, upper], 'velocity': velocity, 'acceleration': acceleration,
            'effort': effort,
        }
        for joint, lower, upper, velocity, acceleration, effort in zip(
            robot.joint_names, limits.lower, limits.upper, limits.velocity, limits.acceleration,
            limits.effort, strict=True,
        )
    }
    content = {
        'schema_version': 1, 'name': robot.name,
        'description': f'{robot.name}, from {args.urdf.name}; null: not stated, fill it in',
        'urdf': ARM_URDF, 'effort_unit': unit, 'joints': to_finite(joints),
    }
    arguments = parse_xacro_arguments(args.xacro_arguments)
    return content, read_description(args.urdf, arguments)
