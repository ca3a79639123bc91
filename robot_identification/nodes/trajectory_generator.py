# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Designs an excitation trajectory on request, with progress and a preview."""

from __future__ import annotations

from dataclasses import replace
import os
import sys

import numpy as np
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from robot_identification.excitation import (
    Budget, describe_certificate_gaps, design_excitation, DesignArguments, dump_trajectory,
    Experiment, FEW_HELD, find_experiment_holding, GENERIC, load_experiment,
    make_generic_experiment, Progress, Trajectory,
)
from robot_identification.execution import trajectory_knots
from robot_identification.files import check_writable, write_atomically
from robot_identification.model import describe_placeholders, RobotModel, STANDARD_GRAVITY
from robot_identification.nodes.common import (
    declare, declare_robot, LATCHED, run_node, serve, serve_with_arguments,
)
from robot_identification.nodes.conversions import knots_to_message
from robot_identification.nodes.long_work import AbortedError, LongWork
from robot_identification.nodes.robot import robot_from_parameters, RobotDescription
from robot_identification.nodes.roots import declare_roots, readable_experiment, write_path
from robot_identification.options import from_values, options_of
from robot_identification.parallel import BACKGROUND_NICENESS
from trajectory_msgs.msg import JointTrajectory

try:
    from robot_identification.nodes.preview import MarkerArray, preview_markers
except ImportError:
    # A desktop installation has it, a robot computer may not.
    MarkerArray = None

PREVIEW_RATE = 20.0  # points a second of motion [Hz]; chosen: smooth to look at
LOG_INTERVAL = 5.0  # [s] (docs/nodes.md); chosen: shows progress, and no flood
# Neither the driver on the same computer nor its watchdogs may wait for a search; evaluations are
# a limit in addition to time.
DEFAULTS = {'processes': 1, 'max_evaluations': Budget().evaluations}


class TrajectoryGenerator(Node):
    """Answers ~/generate when the trajectory file is written."""

    def __init__(self) -> None:
        super().__init__('trajectory_generator')
        declare_roots(self)
        declare_robot(self)
        declare(self, 'generate.output', '', 'trajectory file to write')
        for one in options_of(DesignArguments):
            default = DEFAULTS.get(one.key)
            declare(
                self, f'generate.{one.key}',
                one.parameter_default if default is None else default,
                one.parameter_description if default is None else one.text,
                minimum=one.minimum, maximum=one.maximum,
            )
        self._prefix = declare(
            self, 'tf_prefix', '', "prefix of the driver's names of joints and links",
            longest=128, read_only=True,
        )
        self._description = RobotDescription(self, used=True, prefix=self._prefix)
        group = ReentrantCallbackGroup()
        self._work = LongWork(self, 'design', group)
        self._preview = self.create_publisher(JointTrajectory, '~/trajectory', LATCHED)
        self._markers = None
        if MarkerArray is not None:
            self._markers = self.create_publisher(MarkerArray, '~/preview', LATCHED)
        else:
            self.get_logger().info('no ~/preview for RViz: visualization_msgs is not installed')
        serve_with_arguments(
            self, '~/generate', lambda take: self._work.run(self._design, take),
            callback_group=group,
        )
        serve(self, '~/abort', self._work.abort, callback_group=group)

    def close(self) -> bool:
        """End the search; return whether it has ended."""
        return self._work.close()

    def _design(self) -> str:
        path = write_path(self, 'generate.output')
        self._work.enter('DESIGNING', f'{path} for {self.get_parameter("robot").value}')
        check_writable(path, force=False, remedy='remove it')
        robot = robot_from_parameters(self, self._description.read())
        experiment = self._experiment(robot)
        if not np.allclose(robot.gravity, STANDARD_GRAVITY):
            # The mounting of the node wins over that of the file.
            experiment = replace(experiment, gravity=robot.gravity)
        self._warn_before(robot, experiment)
        design = from_values(
            DesignArguments, lambda key: self.get_parameter(f'generate.{key}').value or None
        )
        trajectory = design_excitation(
            robot, experiment, seed=design.seed, budget=design.budget, report=self._report,
            processes=design.processes or 1,
        )
        write_atomically(path, dump_trajectory(trajectory))
        self._show(robot, experiment, trajectory)
        self._work.report(1.0)
        gaps = describe_certificate_gaps(trajectory.certificate, trajectory.joint_names)
        for gap in gaps:
            self.get_logger().warning(gap)
        self._work.enter(
            'DONE', '; '.join([f'{path} is written', *gaps]), has_gaps=bool(gaps)
        )
        return f'{path} sha256 {trajectory.sha256}'

    def _experiment(self, robot: RobotModel) -> Experiment:
        if self.get_parameter('generate.experiment').value != GENERIC:
            return load_experiment(readable_experiment(self, 'generate.experiment'))
        made = make_generic_experiment(robot)
        for note in made.notes:
            self.get_logger().warning(note)
        return made.experiment

    def _warn_before(self, robot: RobotModel, experiment: Experiment) -> None:
        """Log what makes a search uncertain: made-up masses, poses that cannot be held."""
        masses = describe_placeholders(robot)
        holding = find_experiment_holding(robot, experiment)
        if masses:
            self.get_logger().warning(masses)
        if 0.0 < holding.held < FEW_HELD:
            self.get_logger().warning(holding.describe())

    def _show(self, robot: RobotModel, experiment: Experiment, trajectory: Trajectory) -> None:
        preview = knots_to_message(robot, trajectory_knots(trajectory, PREVIEW_RATE))
        preview.joint_names = [self._prefix + joint for joint in preview.joint_names]
        self._preview.publish(preview)
        if self._markers is not None:
            self._markers.publish(preview_markers(
                robot, trajectory, experiment.obstacles, self.get_clock().now().to_msg(),
                self._prefix,
            ))

    def _report(self, progress: Progress) -> None:
        if self._work.is_aborted:
            raise AbortedError('the design was aborted, nothing is written')
        best = f'{progress.best:.6g}' if np.isfinite(progress.best) else 'none yet'
        self._work.report(progress.share, **{
            'best criterion': best,
            'evaluations': progress.evaluations,
            'feasible': progress.feasible,
            'time left [s]': f'{progress.seconds_left:.0f}',
        })
        self.get_logger().info(
            f'{progress.share:.0%}, {progress.evaluations} evaluations, {progress.feasible} '
            f'feasible, best {best}, {progress.seconds_left:.0f} s left',
            throttle_duration_sec=LOG_INTERVAL,
        )


def main() -> None:
    """Run the node."""
    os.nice(BACKGROUND_NICENESS)
    sys.exit(run_node(TrajectoryGenerator, threads=3))


if __name__ == '__main__':
    main()
