# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Designs an excitation trajectory on request, with progress and a preview."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
import sys
import threading

import numpy as np
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.qos import QoSProfile
from robot_identification.errors import IdentificationError
from robot_identification.excitation.design import design_excitation
from robot_identification.excitation.execution import trajectory_knots
from robot_identification.excitation.experiment_file import find_experiment
from robot_identification.excitation.experiment_file import load_experiment
from robot_identification.excitation.optimizers.optimizer import Budget
from robot_identification.excitation.optimizers.optimizer import Progress
from robot_identification.excitation.trajectory import dump_trajectory
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.files import check_writable
from robot_identification.files import write_atomically
from robot_identification.model.robot_model import STANDARD_GRAVITY
from robot_identification.nodes.common import declare
from robot_identification.nodes.common import declare_robot
from robot_identification.nodes.common import LATCHED
from robot_identification.nodes.common import named_file
from robot_identification.nodes.common import run_node
from robot_identification.nodes.conversions import knots_to_message
from robot_identification.nodes.robot import robot_from_parameters
from robot_identification.nodes.robot import RobotDescription
from std_msgs.msg import Float32
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

PREVIEW_RATE = 20.0


class TrajectoryGenerator(Node):
    """Answers ~/generate when the trajectory file is written."""

    def __init__(self) -> None:
        super().__init__('trajectory_generator')
        declare_robot(self)
        declare(self, 'generate.experiment', 'demo', 'experiment file, or name of a shipped one')
        declare(self, 'generate.output', '', 'trajectory file to write')
        declare(self, 'generate.seed', 0, 'same seed, same trajectory', minimum=0,
                maximum=2**31 - 1)
        declare(self, 'generate.max_evaluations', Budget().evaluations,
                'evaluations of the criterion', minimum=1, maximum=10_000_000)
        self._description = RobotDescription(self, used=True)
        self._busy = threading.Lock()
        self._progress = self.create_publisher(Float32, '~/progress', QoSProfile(depth=10))
        self._preview = self.create_publisher(JointTrajectory, '~/trajectory', LATCHED)
        self.create_service(
            Trigger, '~/generate', self._on_generate, callback_group=ReentrantCallbackGroup()
        )

    def _on_generate(
        self, request: Trigger.Request, response: Trigger.Response
    ) -> Trigger.Response:
        if not self._busy.acquire(blocking=False):
            response.message = 'BUSY: a trajectory is being designed'
            return response
        try:
            path = Path(named_file(self, 'generate.output'))
            trajectory = self._generate(path)
            response.success = True
            response.message = f'{path} sha256 {trajectory.sha256}'
        except (IdentificationError, OSError) as error:
            self.get_logger().error(str(error))
            response.message = str(error)
        finally:
            self._busy.release()
        return response

    def _generate(self, path: Path) -> Trajectory:
        check_writable(path, force=False)
        robot = robot_from_parameters(self, self._description.read())
        experiment = load_experiment(
            find_experiment(self.get_parameter('generate.experiment').value)
        )
        if not np.allclose(robot.gravity, STANDARD_GRAVITY):
            # The node was told how the arm is mounted: that wins over the file.
            experiment = replace(experiment, gravity=robot.gravity)
        trajectory = design_excitation(
            robot, experiment,
            seed=self.get_parameter('generate.seed').value,
            budget=Budget(self.get_parameter('generate.max_evaluations').value),
            report=self._report,
        )
        write_atomically(path, dump_trajectory(trajectory))
        self._preview.publish(
            knots_to_message(robot, trajectory_knots(trajectory, PREVIEW_RATE))
        )
        self._progress.publish(Float32(data=1.0))
        return trajectory

    def _report(self, progress: Progress) -> None:
        self._progress.publish(Float32(data=progress.share))


def main() -> None:
    """Run the node."""
    sys.exit(run_node(TrajectoryGenerator, threads=3))


if __name__ == '__main__':
    main()
