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

"""Publishes the model's torque and the residual for every joint state."""

from __future__ import annotations

from pathlib import Path
import sys

import numpy as np
from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rclpy.qos import QoSProfile
from robot_identification.errors import DataError
from robot_identification.errors import IdentificationError
from robot_identification.model.identified_model import IdentifiedModel
from robot_identification.model.model_file import load_identified_model
from robot_identification.nodes.common import declare
from robot_identification.nodes.common import run_node
from robot_identification.nodes.conversions import joint_state
from robot_identification.nodes.conversions import joint_values
from robot_identification.nodes.conversions import to_seconds
from robot_identification.prediction.torque_predictor import DEFAULT_CUTOFF
from robot_identification.prediction.torque_predictor import TorquePredictor
from sensor_msgs.msg import JointState


class TorquePredictorNode(Node):
    """Silent until a model file is set; publishes nothing rather than nonsense."""

    def __init__(self) -> None:
        super().__init__('torque_predictor')
        self._model: IdentifiedModel | None = None
        self._predictor: TorquePredictor | None = None
        self._torque = self.create_publisher(JointState, '~/torque', QoSProfile(depth=10))
        self._residual = self.create_publisher(JointState, '~/residual', QoSProfile(depth=10))
        self._cutoff = declare(
            self, 'cutoff', DEFAULT_CUTOFF, 'of the causal low-pass [Hz]', minimum=1.0,
            maximum=200.0,
        )
        self.add_on_set_parameters_callback(self._on_parameters)
        declare(self, 'model_file', '', 'identified_model.yaml; may be set while running')
        self.create_subscription(
            JointState, 'joint_states', self._on_joint_state, qos_profile_sensor_data
        )

    def _on_parameters(self, parameters: list) -> SetParametersResult:
        for parameter in parameters:
            if parameter.name == 'model_file' and parameter.value:
                try:
                    model = load_identified_model(Path(parameter.value))
                    self._predictor = TorquePredictor(model, cutoff=self._cutoff)
                    self._model = model
                except IdentificationError as error:
                    return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _on_joint_state(self, message: JointState) -> None:
        model, predictor = self._model, self._predictor
        if model is None or predictor is None:
            return
        try:
            q, dq, effort = joint_values(
                message, model.robot.joint_names, model.robot.encoders
            )
        except DataError as error:
            self.get_logger().warning(str(error), throttle_duration_sec=5.0)
            return
        prediction = predictor.step(to_seconds(message.header.stamp), q, dq)
        if prediction is None:
            self.get_logger().warning(
                'a joint state repeats a stamp or is not finite: nothing is predicted',
                throttle_duration_sec=5.0,
            )
            return
        names = model.robot.joint_names
        self._torque.publish(joint_state(message.header, names, effort=prediction.torque))
        if np.all(np.isfinite(effort)):
            residual = effort / model.effort_per_torque - prediction.torque
            self._residual.publish(joint_state(message.header, names, effort=residual))


def main() -> None:
    """Run the node."""
    sys.exit(run_node(TorquePredictorNode))


if __name__ == '__main__':
    main()
