# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Publishes what the model makes of joint states: torques, contacts, payload, friction health."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import replace
import gc
import math
import sys
import time

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import Inertia, InertiaStamped, Vector3
import numpy as np
from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile, ReliabilityPolicy
from robot_identification.errors import IdentificationError, UsageError
from robot_identification.monitoring import (
    JointHealth, NONE, PAYLOAD, PayloadChange, PayloadState, write_reference,
)
from robot_identification.nodes.common import (
    act_after_setting, declare, declare_options, LATCHED, run_node, serve, STEADY_CLOCK,
    WARNED_EVERY,
)
from robot_identification.nodes.conversions import to_time
from robot_identification.nodes.diagnostics import Diagnostics
from robot_identification.nodes.direct_subscription import DirectSubscription, within_bounds
from robot_identification.nodes.graph import JOINT_STATES
from robot_identification.nodes.joint_states import VectorPublisher
from robot_identification.nodes.live_prediction import (
    COUNTED, KEPT, LivePrediction, Outputs, REFUSED,
)
from robot_identification.nodes.prepared_model import (
    PredictorOptions, prepare_model, PreparedModel,
)
from robot_identification.nodes.robot_state import HOTTEST, TEMPERATURE_TOPICS
from robot_identification.nodes.roots import allowed_to_read, allowed_to_write, declare_roots
from robot_identification.nodes.topic_thread import TopicThread
from robot_identification.options import from_values
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Header

# What a node that stood still may find [messages], older ones are dropped; chosen: 0.1 s of a
# 500 Hz topic, more than a busy machine keeps a process waiting, and no delay that lasts.
NEWEST = QoSProfile(depth=50, reliability=ReliabilityPolicy.BEST_EFFORT)
ONE = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
# Of the thread of the joint states without any, in which it cannot end [s]; chosen: soon enough.
IDLE_PERIOD = 0.1
DIAGNOSTICS_PERIOD = 1.0  # [s]; chosen: samples are judged a second at a time
# For the first joint states [s]; chosen: above discovery, 0.3 to 3 s (docs/security.md).
FIRST_SECONDS = 5.0
DEFERRED_PERIOD = 0.25  # [s]; chosen: a few milliseconds of computation at a time
# Of a second's samples, the share that may be lost or missing, and by how much more there may be
# than expected; chosen: above the jitter of a driver.
FEW, MORE = 0.01, 1.1
NO_MODEL = 'waiting for a model: nothing is predicted until model_file is set'


class TorquePredictorNode(Node):
    """Silent until a model file is set; publishes nothing rather than nonsense."""

    def __init__(self) -> None:
        super().__init__('torque_predictor')
        declare_roots(self)
        self._prepared: PreparedModel | None = None
        self._calibration = ''
        self._collision = self.create_publisher(Bool, '~/collision', LATCHED)
        self._touched: frozenset[str] | None = None
        self._diagnostics = Diagnostics(self, 'prediction')
        self._health = Diagnostics(self, 'friction health')
        self._options = self._declared_options()
        # The model whose learned reference of friction health is kept already.
        self._kept: PreparedModel | None = None
        # Counts when diagnostics were published last.
        self._before: Counter[str] = Counter()
        self._payload = None
        if self._options.payload:
            self._payload = self.create_publisher(
                InertiaStamped, '~/payload', QoSProfile(depth=10)
            )
        self._payload_change: PayloadChange | None = None
        self._live = LivePrediction(self._outputs(), self._now, self._poll_reference)
        self._reference = DirectSubscription(self, JointState, '~/reference', ONE)
        self._on_reference = within_bounds(self, '~/reference', self._live.receive_reference)
        # What a set of parameters that is accepted changes: the model, and the calibration.
        self._pending: tuple[PreparedModel | None, str] = None, ''
        self._topic = self.resolve_topic_name(JOINT_STATES)
        # Since when the model in use waits for joint states [s], and what was predicted before.
        self._listening_since, self._predicted = math.inf, 0
        self.add_on_set_parameters_callback(self._prepare)
        act_after_setting(self, self._apply_pending)
        declare(self, 'model_file', '', 'identified_model.yaml; may be set while running')
        declare(self, 'collision_file', '',
                'output of `robot-identification collision` for the model; may be set while '
                'running')
        for topic in TEMPERATURE_TOPICS:
            self.create_subscription(JointState, topic, self._on_temperature, NEWEST)
        serve(self, '~/reset_friction_health', self._reset_health)
        self.create_timer(DEFERRED_PERIOD, self._run_deferred, clock=STEADY_CLOCK)
        self.create_timer(DIAGNOSTICS_PERIOD, self._diagnose, clock=STEADY_CLOCK)
        self._samples = TopicThread(self, IDLE_PERIOD)
        self._joint_states = self._samples.subscribe(
            JointState, JOINT_STATES, NEWEST, self._live.receive, read=bytes
        )
        self._samples.start()
        if not self.get_parameter('model_file').value:
            self.get_logger().info(NO_MODEL)

    def _outputs(self) -> Outputs:
        return Outputs(
            *(VectorPublisher(self, f'~/{name}') for name in (
                'torque', 'residual', 'standard_deviation', 'external_torque',
                'external_torque_band', 'feed_forward',
            )),
            touched=self._report_touched,
            warn=lambda why: self.get_logger().warning(why, throttle_duration_sec=5.0),
        )

    @property
    def failure(self) -> Exception | None:
        """Error that ended the thread of the joint states."""
        return self._samples.failure

    def destroy_node(self) -> None:
        """End the thread, then the node."""
        self._samples.stop()
        super().destroy_node()

    def _declared_options(self) -> PredictorOptions:
        declare_options(self, PredictorOptions, read_only=True)
        options = from_values(PredictorOptions, lambda key: self.get_parameter(key).value)
        kept = options.friction_reference
        if not kept:
            return options
        return replace(
            options, friction_reference=str(allowed_to_write(self, 'friction_reference', kept))
        )

    def _prepare(self, parameters: list) -> SetParametersResult:
        """Prepare the model that parameters name; another callback may yet refuse them."""
        given = {parameter.name: parameter.value for parameter in parameters}
        self._pending = None, self._calibration
        if not {'model_file', 'collision_file'} & set(given):
            return SetParametersResult(successful=True)
        model = given.get('model_file') or (self._prepared and str(self._prepared.path)) or ''
        calibration = given.get('collision_file', self._calibration)
        if not given.get('model_file') and calibration == self._calibration:
            return SetParametersResult(successful=True)
        try:
            paths = [
                allowed_to_read(self, name, path) if path else None
                for name, path in (('model_file', model), ('collision_file', calibration))
            ]
            prepared = None
            if paths[0] is not None:
                prepared = prepare_model(paths[0], self._options, paths[1])
                if given.get('collision_file') and not prepared.calibrated:
                    raise UsageError('; '.join(prepared.remarks))
        except IdentificationError as error:
            return SetParametersResult(successful=False, reason=str(error))
        self._pending = prepared, calibration
        return SetParametersResult(successful=True)

    def _apply_pending(self, parameters: Sequence[Parameter]) -> None:
        """Predict with the model that was prepared for the parameters that are set now."""
        prepared, self._calibration = self._pending
        self._pending = None, self._calibration
        if prepared is None:
            return
        self._prepared = self._live.prepared = prepared
        self._listening_since, self._predicted = time.monotonic(), self._live.counts['predicted']
        self.get_logger().info(
            f'predicting with {prepared.path}: joints {", ".join(prepared.names)}; joint states '
            f'at {prepared.predictor.rate:g} Hz are awaited on {self._topic}'
        )
        # What was loaded stays: no joint state is to wait until the collector has visited it.
        gc.unfreeze()
        gc.collect()
        gc.freeze()

    def _tell_beginning(self) -> None:
        """Log that the first joint states are predicted, or that none come."""
        waited = time.monotonic() - self._listening_since
        if self._live.counts['predicted'] > self._predicted:
            self._listening_since = math.inf
            self.get_logger().info(f'the first joint states of {self._topic} are predicted')
        elif waited > FIRST_SECONDS and not self._live.counts['received']:
            self.get_logger().warning(
                f'nothing came on {self._topic} for {waited:.0f} s: is the driver running, in '
                'this ROS_DOMAIN_ID? Another topic is taken by -r joint_states:=TOPIC',
                throttle_duration_sec=WARNED_EVERY,
            )

    def _on_temperature(self, message: JointState) -> None:
        self._live.temperature = self._now(), {
            joint: value for joint, value in zip(message.name, message.effort, strict=False)
            if abs(value) <= HOTTEST
        }

    def _poll_reference(self) -> None:
        """Read the wanted velocities that came last."""
        for data, _ in self._reference.take(1):
            self._on_reference(data)

    def _now(self) -> float:
        return self.get_clock().now().nanoseconds * 1e-9

    def _report_touched(self, touched: frozenset[str] | None) -> None:
        """Publish whether any joint is touched, unless that is unknown, None."""
        before, self._touched = bool(self._touched), touched
        if touched is not None:
            self._collision.publish(Bool(data=bool(touched)))
        if touched and not before:
            self.get_logger().warning(
                f'an external torque acts on {", ".join(sorted(touched))}',
                throttle_duration_sec=1.0,
            )

    def _run_deferred(self) -> None:
        """Give friction health and the payload the newest samples."""
        deferred = self._live.deferred
        while deferred:
            deferred.popleft()()

    def _diagnose(self) -> None:
        """Publish what became of the samples of the last second, and of all."""
        live = self._live
        if self._prepared is not None and self._listening_since < math.inf:
            self._tell_beginning()
        # What the middleware reports is taken note of here, beside the thread that takes messages.
        self._samples.report_events()
        total, lags, stamps = Counter(live.counts), live.lags, live.stamps
        total['lost'] = self._joint_states.lost
        live.lags, live.stamps = deque(maxlen=KEPT), deque(maxlen=KEPT)
        level, text = self._judge(total - self._before, list(stamps))
        if level == DiagnosticStatus.OK and self._prepared is not None:
            level, text = self._judge_payload(self._prepared) or (level, text)
        self._before = total
        values: dict[str, object] = {
            what: total[what] for what in ('lost', *COUNTED)
        }
        if lags:
            values |= {
                'lag, median [s]': f'{np.median(lags):.4f}', 'lag, longest [s]': f'{max(lags):.4f}'
            }
        if self._prepared is not None:
            values |= self._describe(self._prepared)
            values |= self._publish_payload(self._prepared)
        self._diagnostics.publish(level, text, values)
        if self._prepared is not None:
            self._health.publish(*judge_health(self._prepared.health.report()))
            self._keep_reference(self._prepared)

    def _judge_payload(self, prepared: PreparedModel) -> tuple[bytes, str] | None:
        """Return level and message of a change of the payload that is new."""
        changes = () if prepared.payload is None else prepared.payload.changes
        if not changes or changes[-1] is self._payload_change:
            return None
        change = self._payload_change = changes[-1]
        origin = 1e-9 * (self._live.origin or 0)
        text = (
            f'the payload changed by about {change.step:.2f} kg between '
            f'{origin + change.earliest:.2f} and {origin + change.stamp:.2f} s: estimated anew'
        )
        self.get_logger().warning(text)
        return DiagnosticStatus.WARN, text

    def _publish_payload(self, prepared: PreparedModel) -> dict[str, object]:
        """Publish the payload where its verdict is sure, and return it for the diagnostics."""
        if prepared.payload is None or self._payload is None:
            return {}
        payload = prepared.payload.estimate
        if math.isfinite(payload.stamp) and payload.verdict in (PAYLOAD, NONE):
            self._payload.publish(inertia_message(
                payload, to_time((self._live.origin or 0) + round(1e9 * payload.stamp)),
                self._options.tf_prefix + payload.frame,
            ))
        return {'payload': payload.verdict, 'payload, in words': payload.reason}

    def _keep_reference(self, prepared: PreparedModel) -> None:
        """Write what friction health has learned, once every joint has a reference."""
        path = prepared.learned_reference
        if path is None or prepared is self._kept:
            return
        reference = prepared.health.reference
        if None in reference.joints:
            return
        self._kept = prepared
        try:
            write_reference(path, reference)
        except (IdentificationError, OSError) as error:
            self.get_logger().error(f'what friction health has learned is not kept: {error}')
        else:
            self.get_logger().info(f'the reference of friction health is in {path}')

    def _reset_health(self) -> str:
        """Forget alarms of friction health."""
        if self._prepared is None:
            raise UsageError('no model_file is set: there is nothing to forget')
        self._run_deferred()
        self._prepared.health.reset()
        return 'the chart starts anew, the reference stays'

    def _describe(self, prepared: PreparedModel) -> dict[str, object]:
        """Return the diagnostic values other than the counts."""
        touched = 'unknown' if self._touched is None else ', '.join(sorted(self._touched))
        return {
            'delay of the filtered velocity [s]': f'{prepared.predictor.delay:.4f}',
            'touched': touched or 'nothing',
            'remarks': '; '.join(prepared.remarks) or 'none',
        }

    def _judge(self, recent: Counter[str], stamps: list[float]) -> tuple[bytes, str]:
        """Return level and message for a second's counts and predicted stamps."""
        if self._prepared is None:
            return DiagnosticStatus.OK, NO_MODEL
        predicted, rate = recent['predicted'], self._prepared.predictor.rate
        refused = sum(recent[what] for what in REFUSED)
        if refused:
            return DiagnosticStatus.ERROR, (
                f'{refused} of {recent["received"]} joint states are refused: '
                f'{self._live.problem}'
            )
        if not recent['received']:
            return DiagnosticStatus.STALE, 'no joint states come'
        # The first sample of all starts the filters, too.
        if recent['restarts'] and self._live.counts['restarts'] > 1:
            return DiagnosticStatus.WARN, 'stamps jump or pause: the filters started anew'
        if predicted - 1 > MORE * rate * np.ptp(stamps or [0.0]) > 0.0:
            return DiagnosticStatus.WARN, (
                f'joint states come faster than at the {rate:g} Hz of the model: accelerations '
                'are predicted wrong; identify from a bag of this driver'
            )
        if recent['lost'] > FEW * (predicted + recent['lost']):
            return DiagnosticStatus.WARN, (
                f'{recent["lost"]} joint states were published and did not arrive in time while '
                f'{predicted} were predicted: is the processor busy?'
            )
        if recent['missing'] > FEW * (predicted + recent['missing']):
            return DiagnosticStatus.WARN, (
                f'{recent["missing"]} joint states are missing between stamps at {rate:g} Hz, and '
                f'{recent["lost"]} were lost: the driver skips cycles, or is slower than it was '
                'when the model was identified'
            )
        if recent['without effort']:
            return DiagnosticStatus.WARN, (
                'joint states have not one effort for each joint: there is no residual'
            )
        return DiagnosticStatus.OK, 'predicting'


def inertia_message(estimate: PayloadState, stamp: Time, frame: str) -> InertiaStamped:
    """
    Return a payload as a message: inertia about the centre of mass, in the axes of the frame.

    Without a payload everything is zero.
    """
    message = InertiaStamped(header=Header(stamp=stamp, frame_id=frame))
    body = estimate.payload
    if body is None:
        return message
    x, y, z = (float(value) for value in body.center_of_mass)
    tensor = np.asarray(body.inertia, dtype=float)
    message.inertia = Inertia(
        m=float(body.mass), com=Vector3(x=x, y=y, z=z),
        ixx=float(tensor[0, 0]), ixy=float(tensor[0, 1]), ixz=float(tensor[0, 2]),
        iyy=float(tensor[1, 1]), iyz=float(tensor[1, 2]), izz=float(tensor[2, 2]),
    )
    return message


def judge_health(joints: Sequence[JointHealth]) -> tuple[bytes, str, dict[str, object]]:
    """Return level, message and values of what is known of the joints' friction."""
    changed = [joint for joint in joints if joint.state == 'changed']
    values: dict[str, object] = {}
    for joint in joints:
        values[f'{joint.joint}: state'] = f'{joint.state}: {joint.reason}'
        values[f'{joint.joint}: change [%]'] = (
            f'{joint.change:.1f} +- {joint.standard_error:.1f}'
        )
        values[f'{joint.joint}: temperature [deg C]'] = f'{joint.temperature:.1f}'
        values[f'{joint.joint}: windows'] = joint.windows
        if math.isfinite(joint.limit):
            values[f'{joint.joint}: CUSUM'] = (
                f'more {joint.more:.2f}, less {joint.less:.2f}, limit {joint.limit:.2f}'
            )
    if changed:
        changes = '; '.join(f'{joint.joint}: {joint.reason}' for joint in changed)
        return DiagnosticStatus.WARN, f'friction has changed: {changes}', values
    counts = Counter(joint.state for joint in joints)
    return DiagnosticStatus.OK, ', '.join(
        f'{count} of {len(joints)} joints {state}' for state, count in sorted(counts.items())
    ), values


def main() -> None:
    """Run the node."""
    sys.exit(run_node(TorquePredictorNode))


if __name__ == '__main__':
    main()
