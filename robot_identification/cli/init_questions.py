# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Questions of `init`: each with its default, its option, and the accepted answers."""

from argparse import ArgumentTypeError
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification import load_robot
from robot_identification.errors import UsageError
from robot_identification.excitation import Obstacle, slab, SOURCES, usual_window
from robot_identification.model import gravity_of_mounting, RobotModel, STATED_UNITS, Tool
from robot_identification.options import angle

NONE, USUAL = 'none', 'usual'
# What is below and above the arm has options of its own.
WALL_SIDES = ('front', 'back', 'left', 'right')
RIGHT = 0.5 * np.pi
# Roll, pitch, yaw [rad]; of a wall with the axis of the base that points to the floor.
MOUNTINGS = {
    'upright': (0.0, 0.0, 0.0), 'ceiling': (np.pi, 0.0, 0.0),
    'wall:+x': (0.0, RIGHT, 0.0), 'wall:-x': (0.0, -RIGHT, 0.0),
    'wall:+y': (-RIGHT, 0.0, 0.0), 'wall:-y': (RIGHT, 0.0, 0.0),
}
MOUNTING_PICTURE = """
    upright        ceiling        wall:+x        wall:-x        wall:+y        wall:-y
       z           =======       |              |              |              |
       |              |          |---- z        |---- z        |---- z        |---- z
    =======           z          |  x down      |  x up        |  y down      |  y up
   0 0 0         180deg 0 0      0 90deg 0      0 -90deg 0     -90deg 0 0     90deg 0 0"""
DESCRIBED = 'described'  # answer that is the arm of --urdf
# The arm stands on it.
DEFAULT_TABLE = '-0.01'
DEFAULT_ROBOT = 'ur5e'
# Of a tool whose size was not said: this wide, and twice as long as its centre of mass is far.
TOOL_WIDTH, SHORTEST_TOOL = 0.1, 0.05
Answers = Mapping[str, Any]


@dataclass(frozen=True)
class Question:
    """One question, and the option that answers it."""

    name: str  # of the option, without dashes in front
    about: str  # what is asked, and what the option is
    # Text of the default, or what returns it from the answers so far.
    default: str | Callable[[Answers], str]
    # Takes a text and the answers so far and returns the answer; raises an `IdentificationError`
    # with the reason.
    parse: Callable[[str, Answers], Any]
    metavar: str  # how the option shows its value
    several: bool = False  # whether the option takes several words
    picture: str = ''  # below the question


def parse_robot(text: str, answers: Answers) -> RobotModel:
    """Return the arm of a known name or of a robot YAML, or the one that --urdf describes."""
    return answers[DESCRIBED] if DESCRIBED in answers else load_robot(text)


def parse_mounting(text: str, answers: Answers) -> tuple[float, float, float]:
    """Return roll, pitch, yaw [rad] from three numbers or a word."""
    if text in MOUNTINGS:
        return MOUNTINGS[text]
    if text.startswith('wall'):
        raise UsageError(
            f'{text!r} does not say how the arm hangs there: name the axis of its base that '
            'points to the floor, wall:+x, wall:-x, wall:+y or wall:-y, or give roll pitch yaw'
        )
    roll, pitch, yaw = _numbers(
        text, 3, f'roll pitch yaw in rad (or 90deg), or {", ".join(MOUNTINGS)}', angle
    )
    gravity_of_mounting(roll, pitch, yaw)  # checks the angles
    return roll, pitch, yaw


def parse_tool(text: str, answers: Answers) -> tuple[float, ...] | None:
    """Return mass [kg] and centre of mass [m], or None."""
    if text == NONE:
        return None
    mass, *center = _numbers(text, 4, 'mass [kg] and centre of mass x y z [m], or none')
    # Made once, so that its numbers are checked.
    Tool(mass, (center[0], center[1], center[2]), (1.0, 1.0, 1.0))
    return (mass, *center)


def parse_tool_size(text: str, answers: Answers) -> Tool:
    """Return the tool, of which mass and centre were asked before."""
    x, y, z = _numbers(text, 3, 'three edges in m')
    mass, *center = answers['tool']
    return Tool(mass, (center[0], center[1], center[2]), (x, y, z))


def default_tool_size(answers: Answers) -> str:
    """Return the size of a tool as its centre of mass lets expect it."""
    long = max(2.0 * abs(answers['tool'][3]), SHORTEST_TOOL)
    return f'{TOOL_WIDTH:g} {TOOL_WIDTH:g} {long:g}'


def _parse_height(name: str, side: str, sign: float, text: str) -> tuple[Obstacle, ...]:
    """Return what the arm stands on or hangs from, or what is above it."""
    if text == NONE:
        return ()
    (height,) = _numbers(text, 1, 'its height in m, or none')
    return (slab(name, side, sign * height),)


def parse_walls(text: str, answers: Answers) -> tuple[Obstacle, ...]:
    """Return walls from SIDE:DISTANCE ..."""
    needed = f'SIDE:DISTANCE is needed, with {", ".join(WALL_SIDES)}, and a distance in m'
    return _unique([
        slab(f'wall_{side}', side, metres)
        for side, (metres,) in _entries(text, 'wall', needed, 1, WALL_SIDES.__contains__)
    ])


def parse_boxes(text: str, answers: Answers) -> tuple[Obstacle, ...]:
    """Return boxes from NAME:SX,SY,SZ,X,Y,Z ..."""
    boxes = []
    needed = 'NAME:SX,SY,SZ,X,Y,Z is needed, with three edges and a centre in m'
    for name, (sx, sy, sz, x, y, z) in _entries(text, 'box', needed, 6, str.isidentifier):
        if min(sx, sy, sz) <= 0.0:
            raise UsageError(f'the edges of {name} are {sx:g}, {sy:g}, {sz:g} m: all above 0')
        boxes.append(Obstacle(name, (sx, sy, sz), (x, y, z), (0.0, 0.0, 0.0)))
    return _unique(boxes)


def parse_window(text: str, answers: Answers) -> dict[str, tuple[float, float]]:
    """Return position ranges from `usual`, `none`, or JOINT:LOWER,UPPER .. that change these."""
    robot: RobotModel = answers['robot']
    window = {} if text == NONE else usual_window(robot)
    needed = (
        f'JOINT:LOWER,UPPER in rad is needed; the joints of {robot.name} are '
        f'{", ".join(robot.joint_names)}'
    )
    ranges = NONE if text == USUAL else text
    for joint, (lower, upper) in _entries(
        ranges, 'range', needed, 2, robot.joint_names.__contains__
    ):
        if not lower < upper:
            raise UsageError(f'the range of {joint} is [{lower:g}, {upper:g}] rad, empty')
        window[joint] = (lower, upper)
    return window


def _entries(
    text: str, what: str, needed: str, count: int, is_name: Callable[[str], bool]
) -> Iterator[tuple[str, tuple[float, ...]]]:
    """Yield name and numbers of each word of a text, as NAME:NUMBER,NUMBER."""
    for word in [] if text == NONE else text.split():
        name, _, values = word.partition(':')
        if not values or not is_name(name):
            raise UsageError(f'{word!r} is no {what}: {needed}')
        yield name, _numbers(values.replace(',', ' '), count, needed)


def _numbers(
    text: str, count: int, needed: str, read: Callable[[str], float] = float
) -> tuple[float, ...]:
    try:
        values = tuple(read(word) for word in text.split())
    except (ValueError, ArgumentTypeError):
        values = ()
    if len(values) != count or not np.all(np.isfinite(values)):
        raise UsageError(f'{text!r} cannot be used: {needed}')
    return values


def _one_of(text: str, known: tuple[str, ...], what: str) -> str:
    if text not in known:
        raise UsageError(f'{text!r} is no {what}: it is one of {", ".join(known)}')
    return text


def _unique(obstacles: list[Obstacle]) -> tuple[Obstacle, ...]:
    names = [obstacle.name for obstacle in obstacles]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f'{", ".join(twice)} is given twice')
    return tuple(obstacles)


QUESTIONS = (
    Question(
        'robot', 'a known robot (`robot-identification robots`), or a robot YAML', DEFAULT_ROBOT,
        parse_robot, 'R',
    ),
    Question(
        'mounting', 'roll, pitch and yaw of the base in the world [rad], as 90deg 0 0; or '
        'upright, ceiling, or wall:+x, wall:-x, wall:+y or wall:-y, with the axis of the base '
        'that points to the floor', 'upright', parse_mounting, 'ROLL PITCH YAW', several=True,
        picture=MOUNTING_PICTURE,
    ),
    Question(
        'tool', "mass [kg] and centre of mass [m], in the tool's frame, of what stays on the "
        'flange; or none', NONE, parse_tool, 'MASS X Y Z', several=True,
    ),
    Question(
        'tool-size', 'edges of a box around the tool, from the flange outwards [m]',
        default_tool_size, parse_tool_size, 'LX LY LZ', several=True,
    ),
    Question(
        'table', "surface that the arm is mounted on: z in the base's frame [m], or none",
        DEFAULT_TABLE, lambda text, _: _parse_height('table', 'below', -1.0, text), 'HEIGHT',
    ),
    Question(
        'wall', "walls: front, back, left or right (+x, -x, +y, -y of the base's frame) and "
        'distance [m]; below and above are --table and --ceiling; or none', NONE, parse_walls,
        'SIDE:DISTANCE', several=True,
    ),
    Question(
        'ceiling', "what is above the arm: z in the base's frame [m], or none", NONE,
        lambda text, _: _parse_height('ceiling', 'above', 1.0, text), 'HEIGHT',
    ),
    Question(
        'cell', "further boxes, NAME:SX,SY,SZ,X,Y,Z: edges and centre in the base's frame [m]; "
        'or none', NONE, parse_boxes, 'BOX', several=True,
    ),
    Question(
        'window', 'position ranges [rad] that change the usual ones; usual; or none for the '
        'whole range', USUAL, parse_window, 'JOINT:LOWER,UPPER', several=True,
    ),
    Question(
        'effort-unit', f'unit of the recorded effort: {", ".join(STATED_UNITS)}',
        lambda answers: answers['robot'].usual_effort_unit,
        lambda text, _: _one_of(text, STATED_UNITS, 'effort unit'), 'UNIT',
    ),
    Question(
        'source', 'where data come from: ros, the driver; csv, tables of an arm that runs a '
        'program; simulated', SOURCES[0],
        lambda text, _: _one_of(text, SOURCES, 'source of data'), 'SOURCE',
    ),
)
# What makes the cell; asked again together where the arm has no room in it.
CELL = ('tool', 'tool-size', 'table', 'wall', 'ceiling', 'cell', 'window')
