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

from collections import Counter
from dataclasses import dataclass
import sys

from diagnostic_msgs.msg import DiagnosticStatus
import numpy as np
from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import Clock
from rclpy.clock import ClockType
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.qos import ReliabilityPolicy
from robot_identification.errors import IdentificationError
from robot_identification.model.identified_model import IdentifiedModel
from robot_identification.model.model_file import load_identified_model
from robot_identification.nodes.common import declare
from robot_identification.nodes.common import run_node
from robot_identification.nodes.conversions import joint_state
from robot_identification.nodes.conversions import joint_values
from robot_identification.nodes.conversions import to_seconds
from robot_identification.nodes.diagnostics import Diagnostics
from robot_identification.nodes.roots import allowed_to_read
from robot_identification.nodes.roots import declare_roots
from robot_identification.prediction.torque_predictor import DEFAULT_CUTOFF
from robot_identification.prediction.torque_predictor import TorquePredictor
from sensor_msgs.msg import JointState

# Who is late gets what is new: older samples are dropped, not queued.
NEWEST = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)
DIAGNOSTICS_PERIOD = 1.0
# Of a second's samples, what may be dropped, and by how much more there may be than expected.
FEW, MORE = 0.01, 1.1
# A longer pause between stamps is one of the driver, or another clock [s].
LONGEST_PAUSE = 5.0


@dataclass(frozen=True, eq=False)
class Prepared:
    """
    A model and what follows from it.

    Attributes
    ----------
    model : IdentifiedModel
        The identified arm.
    predictor : TorquePredictor
        Its filters.
    names : tuple of str
        What the driver calls the joints, kinematic order.

    """

    model: IdentifiedModel
    predictor: TorquePredictor
    names: tuple[str, ...]


class TorquePredictorNode(Node):
    """Silent until a model file is set; publishes nothing rather than nonsense."""

    def __init__(self) -> None:
        super().__init__('torque_predictor')
        declare_roots(self)
        self._prepared: Prepared | None = None
        self._torque = self.create_publisher(JointState, '~/torque', QoSProfile(depth=10))
        self._residual = self.create_publisher(JointState, '~/residual', QoSProfile(depth=10))
        self._diagnostics = Diagnostics(self, 'prediction')
        self._cutoff = declare(
            self, 'cutoff', DEFAULT_CUTOFF, 'of the causal low-pass [Hz]', minimum=1.0,
            maximum=200.0, read_only=True,
        )
        self._prefix = declare(
            self, 'tf_prefix', '', "in front of the driver's joint names", longest=128,
            read_only=True,
        )
        # Counted since the start, and since diagnostics were published last.
        self._total: Counter[str] = Counter()
        self._recent: Counter[str] = Counter()
        self._problem = ''
        self._lags: list[float] = []
        self._stamps: list[float] = []
        self._last_stamp = np.nan
        self.add_on_set_parameters_callback(self._on_parameters)
        declare(self, 'model_file', '', 'identified_model.yaml; may be set while running')
        self.create_subscription(JointState, 'joint_states', self._on_joint_state, NEWEST)
        # The clock of a replay may stand still.
        self.create_timer(
            DIAGNOSTICS_PERIOD, self._diagnose, clock=Clock(clock_type=ClockType.STEADY_TIME)
        )

    def _on_parameters(self, parameters: list) -> SetParametersResult:
        for parameter in parameters:
            if parameter.name == 'model_file' and parameter.value:
                try:
                    self._prepared = self._prepare(parameter.value)
                except IdentificationError as error:
                    return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _prepare(self, path: str) -> Prepared:
        model = load_identified_model(allowed_to_read(self, 'model_file', path))
        called = {ours: theirs for theirs, ours in model.source.joint_names.items()}
        return Prepared(
            model,
            TorquePredictor(model, cutoff=self._cutoff),
            tuple(
                called.get(joint, self._prefix + joint) for joint in model.robot.joint_names
            ),
        )

    def _count(self, what: str, by: int = 1) -> None:
        self._total[what] += by
        self._recent[what] += by

    def _refuse(self, what: str, why: str) -> None:
        self._count(what)
        self._problem = why
        self.get_logger().warning(why, throttle_duration_sec=5.0)

    def _on_joint_state(self, message: JointState) -> None:
        self._count('received')
        prepared = self._prepared
        if prepared is None:
            return
        model, stamp = prepared.model, to_seconds(message.header.stamp)
        self._note_time(stamp, prepared.predictor.rate)
        problem = find_problem(message, prepared.names)
        if problem:
            self._refuse('unusable', problem)
            return
        q, dq, effort = joint_values(message, prepared.names, model.robot.encoders)
        if not (np.all(np.isfinite(q)) and np.all(np.isfinite(dq))):
            self._refuse('not finite', 'a joint state has a position or velocity of NaN or inf')
            return
        restarts = prepared.predictor.restarts
        prediction = prepared.predictor.step(stamp, q, dq)
        if prediction is None:
            self._count('repeated')
            return
        self._count('predicted')
        self._count('restarts', prepared.predictor.restarts - restarts)
        self._stamps.append(stamp)
        self._torque.publish(
            joint_state(message.header, prepared.names, effort=prediction.torque)
        )
        if len(message.effort) != len(message.name):
            self._count('without effort')
        elif not np.all(np.isfinite(effort)):
            self._refuse('not finite', 'a joint state has an effort of NaN or inf')
        else:
            residual = effort / model.effort_per_torque - prediction.torque
            self._residual.publish(joint_state(message.header, prepared.names, effort=residual))

    def _note_time(self, stamp: float, rate: float) -> None:
        """Count what is missing before a stamp, and note how late it is."""
        elapsed, self._last_stamp = stamp - self._last_stamp, stamp
        if 0.0 < elapsed < LONGEST_PAUSE:
            self._count('dropped', max(round(elapsed * rate) - 1, 0))
        self._lags.append(self.get_clock().now().nanoseconds * 1e-9 - stamp)

    def _diagnose(self) -> None:
        """Publish what became of the samples of the last second, and of all."""
        lags, level, text = self._lags, *self._judge(self._recent, self._stamps)
        self._recent, self._lags, self._stamps, self._problem = Counter(), [], [], ''
        values: dict[str, object] = {
            what: self._total[what] for what in (
                'received', 'predicted', 'dropped', 'repeated', 'restarts', 'not finite',
                'unusable', 'without effort',
            )
        }
        if lags:
            values |= {
                'lag, median [s]': f'{np.median(lags):.4f}', 'lag, longest [s]': f'{max(lags):.4f}'
            }
        self._diagnostics.publish(level, text, values)

    def _judge(self, recent: Counter[str], stamps: list[float]) -> tuple[bytes, str]:
        """Return level and message for a second's counts and predicted stamps."""
        if self._prepared is None:
            return DiagnosticStatus.OK, 'no model_file is set: nothing is predicted'
        predicted, rate = recent['predicted'], self._prepared.predictor.rate
        if self._problem:
            refused = recent['not finite'] + recent['unusable']
            return DiagnosticStatus.ERROR, (
                f'{refused} of {recent["received"]} joint states are refused: {self._problem}'
            )
        if not recent['received']:
            return DiagnosticStatus.STALE, 'no joint states come'
        # The first sample of all starts the filters, too.
        if recent['restarts'] and self._total['restarts'] > 1:
            return DiagnosticStatus.WARN, 'stamps jump or pause: the filters started anew'
        if predicted - 1 > MORE * rate * np.ptp(stamps or [0.0]) > 0.0:
            return DiagnosticStatus.WARN, (
                f'joint states come faster than at the {rate:g} Hz of the model: accelerations '
                'are predicted wrong; identify from a bag of this driver'
            )
        if recent['dropped'] > FEW * (predicted + recent['dropped']):
            return DiagnosticStatus.WARN, (
                f'{recent["dropped"]} samples were dropped while {predicted} were predicted at '
                f'{rate:g} Hz: is the processor busy, or the driver slower?'
            )
        if recent['without effort']:
            return DiagnosticStatus.WARN, (
                'joint states have not one effort for each joint: there is no residual'
            )
        return DiagnosticStatus.OK, 'predicting'


def find_problem(message: JointState, names: tuple[str, ...]) -> str:
    """
    Return why nothing can be predicted from a message, empty where it can.

    Parameters
    ----------
    message : JointState
        In any joint order; other joints may be in it, too.
    names : tuple of str
        Of the joints that are needed.

    """
    given = list(message.name)
    missing = [name for name in names if name not in given]
    if missing:
        return (
            f'a joint state lacks {", ".join(missing)}; it names {", ".join(given) or "nothing"}: '
            'set tf_prefix if the driver has one, or use the model of this arm'
        )
    for quantity in ('position', 'velocity'):
        count = len(getattr(message, quantity))
        if count != len(given):
            return f'a joint state has {count} values of {quantity} for {len(given)} joints'
    return ''


def main() -> None:
    """Run the node."""
    sys.exit(run_node(TorquePredictorNode))


if __name__ == '__main__':
    main()
