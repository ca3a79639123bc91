# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification simulate-ur`."""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
from robot_identification.cli.options import add_robot_options, options_given, robot_from_options
from robot_identification.cli.simulate import HiddenOptions
from robot_identification.errors import UsageError
from robot_identification.files import dump_yaml, to_plain, write_atomically
from robot_identification.model import RobotModel
from robot_identification.options import add_arguments
from robot_identification.simulation import (
    kinematics_of, MujocoRobot, NetworkOptions, NOISE_FREE, Sensors, SimulatedArmOptions,
    UrOptions, UrRobot, UrServer, with_warming,
)

EXAMPLE = 'robot-identification simulate-ur --robot ur5e --truth truth.yaml'
# Of every joint where the robot YAML knows none [N m/A]; chosen: that of the CB3 arms, rounded.
ASSUMED_GAIN = 10.0
START = (0.0, -1.57, 1.57, -1.57, -1.57, 0.0)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_robot_options(parser)
    parser.add_argument(
        '--initial-positions', nargs='+', type=float, default=list(START), metavar='Q',
        help='positions of the joints at the start [rad], kinematic order',
    )
    parser.add_argument(
        '--truth', type=Path, metavar='FILE',
        help='file for the hidden masses, friction and gains, by which results can be judged',
    )
    for options in (UrOptions, NetworkOptions, HiddenOptions, SimulatedArmOptions):
        add_arguments(parser, options)


def run(args: argparse.Namespace) -> None:
    """Simulate until interrupted."""
    if args.robot is None:
        raise UsageError('--robot is missing: name a Universal Robots arm, such as ur5e')
    robot = robot_from_options(args)
    kinematics_of(robot)  # raises, if the arm is none of theirs, before gains are assumed
    options = options_given(args, UrOptions)
    robot = with_known_gains(robot)
    hidden = options_given(args, HiddenOptions)
    q = np.array(args.initial_positions)
    if q.shape != (robot.n,):
        raise UsageError(f'--initial-positions has {q.size} numbers, {robot.name} has {robot.n}')
    within = (robot.limits.lower <= q) & (q <= robot.limits.upper)
    if not np.all(within):
        joint = int(np.argmin(within))
        raise UsageError(
            f'--initial-positions has {q[joint]:g} rad for {robot.joint_names[joint]}, allowed '
            f'are {robot.limits.lower[joint]:g} to {robot.limits.upper[joint]:g} rad'
        )
    truth = options_given(args, SimulatedArmOptions).truth(robot, hidden.truth_seed)
    if truth.thermal is None:
        truth = with_warming(truth, viscous_slope=0.0)  # temperatures change, friction does not
    sensors = NOISE_FREE if hidden.noise_free else Sensors()
    arm = MujocoRobot(robot, truth, sensors, q, hidden.seed)
    controller = UrRobot(robot, truth, arm, options)
    if args.truth is not None:
        write_atomically(args.truth, dump_yaml(to_plain(controller.truth_record())))
    UrServer(
        controller, options_given(args, NetworkOptions), lambda line: print(line, flush=True)
    ).run()


def with_known_gains(robot: RobotModel) -> RobotModel:
    """Return an arm whose effort is a current, with drive gains."""
    robot = replace(robot, effort_unit='A')
    if np.all(np.isfinite(robot.drives.drive_gain)):
        return robot
    print(
        f'the drive gains of {robot.name} are unknown: those of this arm are near '
        f'{ASSUMED_GAIN:g} N m/A (--drive-gains for others)', flush=True,
    )
    return robot.with_drive_gains(np.full(robot.n, ASSUMED_GAIN))
