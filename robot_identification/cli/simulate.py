# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification simulate`."""

import argparse
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from robot_identification.cli.options import add_robot_options, options_given, robot_from_options
from robot_identification.cli.output import print_results
from robot_identification.errors import UsageError
from robot_identification.excitation import load_trajectory
from robot_identification.files import LARGEST_INTEGER
from robot_identification.model import EFFORT_UNITS, RobotModel, STATED_UNITS
from robot_identification.options import add_arguments, check_options, option
from robot_identification.recording import simulate_repeats, write_simulated_bag
from robot_identification.simulation import NOISE_FREE, Sensors, SimulatedArmOptions

EXAMPLE = 'robot-identification simulate --robot ur5 --trajectory trajectory.yaml -o bag'


@dataclass(frozen=True)
class HiddenOptions:
    """Options of what a simulated arm hides."""

    truth_seed: int = option(
        int, 'seed of the hidden masses, friction and gains', default=0, minimum=0,
        maximum=LARGEST_INTEGER, metavar='S',
    )
    seed: int = option(
        int, 'seed of the sensor noise', default=0, minimum=0, maximum=LARGEST_INTEGER,
        metavar='S',
    )
    noise_free: bool | None = option(bool, 'perfect sensors')

    def __post_init__(self) -> None:
        check_options(self)


@dataclass(frozen=True)
class RecordingOptions:
    """Options of what is recorded of a simulated arm."""

    repeat: int = option(
        int, 'execute the trajectory N times, with continuing temperatures', default=1,
        minimum=1, metavar='N',
    )
    separate_bags: bool | None = option(
        bool, 'write each repetition to a bag of its own: BAG_1, BAG_2, ..'
    )

    def __post_init__(self) -> None:
        check_options(self)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_robot_options(parser)
    parser.add_argument(
        '--trajectory', type=Path, required=True, metavar='FILE',
        help='trajectory file that `excite` wrote',
    )
    parser.add_argument(
        '--effort-unit', choices=STATED_UNITS,
        help='unit of the recorded effort (default: that of the robot YAML, and Nm where drive '
        'gains are unknown)',
    )
    add_arguments(parser, HiddenOptions)
    add_arguments(parser, RecordingOptions)
    add_arguments(parser, SimulatedArmOptions)
    parser.add_argument(
        '-o', '--output', type=Path, required=True, metavar='BAG', help='rosbag2 folder (MCAP)'
    )


def run(args: argparse.Namespace) -> None:
    """Simulate and write the bag."""
    hidden = options_given(args, HiddenOptions)
    recorded = options_given(args, RecordingOptions)
    bags = [args.output]
    if recorded.separate_bags:
        bags = [
            args.output.with_name(f'{args.output.name}_{number + 1}')
            for number in range(recorded.repeat)
        ]
    for bag in bags:
        if bag.exists():
            raise UsageError(f'{bag} exists already: name another bag')
    robot = _with_effort_unit(robot_from_options(args), args.effort_unit)
    trajectory = load_trajectory(args.trajectory)
    if (trajectory.robot, trajectory.joint_names) != (robot.name, robot.joint_names):
        raise UsageError(
            f'{args.trajectory} is for {trajectory.robot} with the joints '
            f'{", ".join(trajectory.joint_names)}, not for {robot.name} with '
            f'{", ".join(robot.joint_names)}'
        )
    if args.gravity is None and args.mounting is None and 'gravity' in trajectory.certificate:
        robot = robot.with_gravity(trajectory.certificate['gravity'])
    whole, runs = simulate_repeats(
        robot, trajectory, options_given(args, SimulatedArmOptions).truth(
            robot, hidden.truth_seed
        ),
        NOISE_FREE if hidden.noise_free else Sensors(), recorded.repeat, seed=hidden.seed,
    )
    written = runs if recorded.separate_bags else [whole]
    for bag, result in zip(bags, written, strict=True):
        write_simulated_bag(bag, robot, result, trajectory)
    samples = sum(len(result.stamps) for result in written)
    times = '' if recorded.repeat == 1 else f'{recorded.repeat} times '
    text = (
        f'{", ".join(map(str, bags))}: {samples} joint states, {times}{trajectory.duration:g} s'
    )
    content = {'bag': bags[0], 'bags': bags, 'samples': samples,
               'duration': trajectory.duration, 'repeats': recorded.repeat}
    if whole.temperature is not None:
        content['temperatures'] = whole.temperature[-1]
        text += f'\njoints end at {np.array2string(whole.temperature[-1], precision=1)} deg C'
    print_results(args, content, text)


def _with_effort_unit(robot: RobotModel, unit: str | None) -> RobotModel:
    """Return the arm with the unit of its recorded effort, and with drive gains."""
    known = bool(np.all(np.isfinite(robot.drives.drive_gain)))
    unit = unit or robot.usual_effort_unit
    robot = replace(robot, effort_unit=unit)
    # An arm that measures torque has gains, too; which its driver does not show.
    needs_none = known or EFFORT_UNITS[unit].is_current
    return robot if needs_none else robot.with_drive_gains(np.ones(robot.n))
