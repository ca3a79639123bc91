# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Publishes what the model makes of every joint state: torques, contacts, friction health."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
import sys

from diagnostic_msgs.msg import DiagnosticStatus
import numpy as np
from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile, ReliabilityPolicy
from robot_identification.errors import IdentificationError, UsageError
from robot_identification.monitoring import DEFAULT_BANDWIDTH, JointHealth, write_reference
from robot_identification.nodes.bounded_subscription import create_bounded_subscription
from robot_identification.nodes.common import declare, LATCHED, run_node, SERVICE_QOS
from robot_identification.nodes.conversions import joint_state, joint_values, to_seconds
from robot_identification.nodes.diagnostics import Diagnostics
from robot_identification.nodes.prepared_model import (
    FEED_FORWARD, OFF, PredictorOptions, prepare_model, PreparedModel,
)
from robot_identification.nodes.robot_state import TEMPERATURE_TOPICS
from robot_identification.nodes.roots import allowed_to_read, allowed_to_write, declare_roots
from robot_identification.prediction import DEFAULT_CUTOFF, lacks_temperature, Prediction
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Float64MultiArray, Header
from std_srvs.srv import Trigger

# Keep only the newest samples: older ones are dropped, not queued.
NEWEST = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)
DIAGNOSTICS_PERIOD = 1.0  # [s]; chosen: samples are judged a second at a time
# Of a second's samples, the share that may be dropped, and by how much more there may be than
# expected; chosen: above the jitter of a driver.
FEW, MORE = 0.01, 1.1
# A longer pause between stamps is one of the driver, or another clock [s]; chosen: samples that it
# lacks were not dropped.
LONGEST_PAUSE = 5.0
# [s]; chosen: joints take minutes to warm up.
OLDEST_TEMPERATURE = 60.0
OLDEST_REFERENCE = 0.1  # [s]; chosen: an older one is of another place on the path
# Standard deviations on either side that hold 95 % of what is normal; 97.5 % quantile of the
# normal distribution.
BAND = 1.96
REFUSED = ('not finite', 'unusable', 'without temperature')
COUNTED = (
    'received', 'predicted', 'dropped', 'repeated', 'restarts', *REFUSED, 'without effort',
    'collisions',
)


class TorquePredictorNode(Node):
    """Silent until a model file is set; publishes nothing rather than nonsense."""

    def __init__(self) -> None:
        super().__init__('torque_predictor')
        declare_roots(self)
        self._prepared: PreparedModel | None = None
        self._calibration = ''
        self._torque, self._residual, self._external, self._band, self._forward = (
            self.create_publisher(JointState, f'~/{name}', QoSProfile(depth=10)) for name in (
                'torque', 'residual', 'external_torque', 'external_torque_band', 'feed_forward'
            )
        )
        self._collision = self.create_publisher(Bool, '~/collision', LATCHED)
        self._touched: frozenset[str] | None = None
        self._diagnostics = Diagnostics(self, 'prediction')
        self._health = Diagnostics(self, 'friction health')
        self._declare_options()
        # Counted since the start, and since diagnostics were published last.
        self._total: Counter[str] = Counter()
        self._recent: Counter[str] = Counter()
        self._problem = ''
        self._lags: list[float] = []
        self._stamps: list[float] = []
        self._last_stamp = np.nan
        self._temperature: tuple[float, np.ndarray] | None = None
        self._reference: JointState | None = None
        self.add_on_set_parameters_callback(self._on_parameters)
        declare(self, 'model_file', '', 'identified_model.yaml; may be set while running')
        declare(self, 'collision_file', '',
                'what `robot-identification collision` wrote for the model; may be set while '
                'running')
        create_bounded_subscription(
            self, JointState, 'joint_states', self._on_joint_state, NEWEST
        )
        for topic in TEMPERATURE_TOPICS:
            self.create_subscription(Float64MultiArray, topic, self._on_temperature, NEWEST)
        create_bounded_subscription(
            self, JointState, '~/reference', self._on_reference, NEWEST
        )
        self.create_service(
            Trigger, '~/reset_friction_health', self._on_reset, qos_profile=SERVICE_QOS
        )
        # The clock of a replay may stand still.
        self.create_timer(
            DIAGNOSTICS_PERIOD, self._diagnose, clock=Clock(clock_type=ClockType.STEADY_TIME)
        )

    def _declare_options(self) -> None:
        kept = declare(
            self, 'friction_reference', '', 'file that keeps what friction health compares with: '
            'it is read, or written once it is learned; empty: learned at every start',
            read_only=True,
        )
        self._options = PredictorOptions(
            cutoff=declare(
                self, 'cutoff', DEFAULT_CUTOFF, 'of the causal low-pass [Hz]', minimum=1.0,
                maximum=200.0, read_only=True,
            ),
            bandwidth=declare(
                self, 'observer_bandwidth', DEFAULT_BANDWIDTH,
                'of the momentum observer [rad/s], its time constant is one over it; '
                'collision_file has its own', minimum=0.1, maximum=500.0, read_only=True,
            ),
            tf_prefix=declare(
                self, 'tf_prefix', '', "in front of the driver's joint names", longest=128,
                read_only=True,
            ),
            feed_forward=declare(
                self, 'feed_forward', OFF, 'what ~/feed_forward holds; friction has the direction '
                'of the velocity on ~/reference', choices=(OFF, *FEED_FORWARD), read_only=True,
            ),
            feed_forward_bandwidth=declare(
                self, 'feed_forward_bandwidth', 0.0, 'of the observer of what the model lacks, '
                'whose torque is fed forward, too [Hz]; 0: none', minimum=0.0, maximum=20.0,
                read_only=True,
            ),
            friction_reference=(
                allowed_to_write(self, 'friction_reference', kept) if kept else None
            ),
        )

    def _on_parameters(self, parameters: list) -> SetParametersResult:
        given = {parameter.name: parameter.value for parameter in parameters}
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
            if paths[0] is not None:
                prepared = prepare_model(paths[0], self._options, paths[1])
                if given.get('collision_file') and not prepared.calibrated:
                    raise UsageError('; '.join(prepared.remarks))
                self._prepared = prepared
        except IdentificationError as error:
            return SetParametersResult(successful=False, reason=str(error))
        self._calibration = calibration
        self._report_touched(None)
        return SetParametersResult(successful=True)

    def _count(self, what: str, by: int = 1) -> None:
        self._total[what] += by
        self._recent[what] += by

    def _refuse(self, what: str, why: str) -> None:
        self._count(what)
        self._problem = why
        self.get_logger().warning(why, throttle_duration_sec=5.0)

    def _on_temperature(self, message: Float64MultiArray) -> None:
        self._temperature = self._now(), np.asarray(message.data)

    def _on_reference(self, message: JointState) -> None:
        self._reference = message

    def _now(self) -> float:
        return self.get_clock().now().nanoseconds * 1e-9

    def _measured_temperature(self, n: int) -> np.ndarray | None:
        """Return the joint temperatures that were read last, None without any, or of old ones."""
        if self._temperature is None:
            return None
        read, values = self._temperature
        fresh = abs(self._now() - read) < OLDEST_TEMPERATURE
        return values if fresh and values.shape == (n,) else None

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
        temperature = self._measured_temperature(model.robot.n)
        lacking = lacks_temperature(model, temperature)
        if lacking.any():
            self._refuse('without temperature', without_temperature(prepared.names, lacking))
            return
        restarts = prepared.predictor.restarts
        prediction = prepared.predictor.step(stamp, q, dq, temperature)
        if prediction is None:
            self._count('repeated')
            return
        self._count('predicted')
        self._count('restarts', prepared.predictor.restarts - restarts)
        self._stamps.append(stamp)
        self._publish(self._torque, message.header, prediction.torque)
        torque = None
        if len(message.effort) != len(message.name):
            self._count('without effort')
        elif not np.all(np.isfinite(effort)):
            self._refuse('not finite', 'a joint state has an effort of NaN or inf')
        else:
            torque = effort / model.effort_per_torque
            self._compare(message.header, stamp, prediction, torque, temperature)
        if prepared.feed_forward is not None:
            wanted = wanted_velocity(self._reference, stamp, prepared)
            forward = prepared.feed_forward.step(stamp, q, dq, wanted, torque)
            if prepared.feed_forward.valid:
                self._publish(self._forward, message.header, forward)

    def _compare(
        self,
        header: Header,
        stamp: float,
        prediction: Prediction,
        torque: np.ndarray,
        temperature: np.ndarray | None,
    ) -> None:
        """Publish what follows from a measured torque and the predicted one."""
        prepared = self._prepared
        if prepared is None:
            return
        residual = torque - prediction.torque
        self._publish(self._residual, header, residual)
        motion = prediction.motion
        prepared.health.step(
            stamp, motion.q[0], motion.dq[0], motion.ddq[0], prediction.friction, residual,
            temperature,
        )
        if prepared.contact is None:
            return
        external = prepared.contact.step(stamp, prediction, torque)
        if external is None:
            self._report_touched(None)
            return
        self._publish(self._external, header, external.torque)
        self._publish(self._band, header, BAND * external.deviation)
        if external.touched is not None:
            names = np.array(prepared.names)[external.touched]
            self._report_touched(frozenset(names.tolist()))

    def _publish(self, publisher: Publisher, header: Header, torque: np.ndarray) -> None:
        if self._prepared is not None:
            publisher.publish(joint_state(header, self._prepared.names, effort=torque))

    def _report_touched(self, touched: frozenset[str] | None) -> None:
        """Report which joints are touched, where that is other than before; None: unknown."""
        if touched == self._touched:
            return
        before, self._touched = bool(self._touched), touched
        if touched is not None:
            self._collision.publish(Bool(data=bool(touched)))
        if touched and not before:
            self._count('collisions')
            self.get_logger().warning(
                f'an external torque acts on {", ".join(sorted(touched))}',
                throttle_duration_sec=1.0,
            )

    def _note_time(self, stamp: float, rate: float) -> None:
        """Count what is missing before a stamp, and note how late it is."""
        elapsed, self._last_stamp = stamp - self._last_stamp, stamp
        if 0.0 < elapsed < LONGEST_PAUSE:
            self._count('dropped', max(round(elapsed * rate) - 1, 0))
        self._lags.append(self._now() - stamp)

    def _diagnose(self) -> None:
        """Publish what became of the samples of the last second, and of all."""
        lags, level, text = self._lags, *self._judge(self._recent, self._stamps)
        self._recent, self._lags, self._stamps, self._problem = Counter(), [], [], ''
        values: dict[str, object] = {what: self._total[what] for what in COUNTED}
        if lags:
            values |= {
                'lag, median [s]': f'{np.median(lags):.4f}', 'lag, longest [s]': f'{max(lags):.4f}'
            }
        if self._prepared is not None:
            values |= self._describe(self._prepared)
        self._diagnostics.publish(level, text, values)
        if self._prepared is not None:
            self._health.publish(*judge_health(self._prepared.health.report()))
            self._keep_reference(self._prepared)

    def _keep_reference(self, prepared: PreparedModel) -> None:
        """Write what friction health has learned, once every joint has a reference."""
        path, reference = prepared.learned_reference, prepared.health.reference
        if path is None or None in reference.joints:
            return
        self._prepared = replace(prepared, learned_reference=None)
        try:
            write_reference(path, reference)
        except (IdentificationError, OSError) as error:
            self.get_logger().error(f'what friction health has learned is not kept: {error}')
        else:
            self.get_logger().info(f'the reference of friction health is in {path}')

    def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Forget alarms of friction health."""
        if self._prepared is None:
            response.message = 'no model_file is set: there is nothing to forget'
            return response
        self._prepared.health.reset()
        response.success, response.message = True, 'the charts start anew, the reference stays'
        return response

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
            return DiagnosticStatus.OK, 'no model_file is set: nothing is predicted'
        predicted, rate = recent['predicted'], self._prepared.predictor.rate
        if self._problem:
            refused = sum(recent[what] for what in REFUSED)
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
    """Return why nothing can be predicted for these joints from a message, empty where it can."""
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
        for name, chart in (('CUSUM', joint.cusum), ('EWMA', joint.ewma)):
            if chart is not None:
                values[f'{joint.joint}: {name}'] = (
                    f'more {chart.more:.2f}, less {chart.less:.2f}, limit {chart.limit:.2f}'
                )
    if changed:
        changes = '; '.join(f'{joint.joint}: {joint.reason}' for joint in changed)
        return DiagnosticStatus.WARN, f'friction has changed: {changes}', values
    counts = Counter(joint.state for joint in joints)
    return DiagnosticStatus.OK, ', '.join(
        f'{count} of {len(joints)} joints {state}' for state, count in sorted(counts.items())
    ), values


def without_temperature(names: tuple[str, ...], lacking: np.ndarray) -> str:
    """Return why nothing is predicted where friction needs temperatures that do not come."""
    joints = ', '.join(np.array(names)[lacking])
    return (
        f'friction of {joints} needs a joint temperature, and none came in the last '
        f'{OLDEST_TEMPERATURE:g} s on {" or ".join(TEMPERATURE_TOPICS)}: start rtde_reader, or '
        'use a model whose friction knows no temperature'
    )


def wanted_velocity(
    reference: JointState | None, stamp: float, prepared: PreparedModel
) -> np.ndarray:
    """
    Return the velocity that a controller wants (n,) [rad/s].

    Zeros where nothing usable was heard at `stamp` [s] of the joint state: then only gravity is
    fed forward.
    """
    rest = np.zeros(prepared.model.robot.n)
    if reference is None or abs(to_seconds(reference.header.stamp) - stamp) > OLDEST_REFERENCE:
        return rest
    if not set(prepared.names) <= set(reference.name):
        return rest
    _, wanted, _ = joint_values(reference, prepared.names, prepared.model.robot.encoders)
    return wanted if np.all(np.isfinite(wanted)) else rest


def main() -> None:
    """Run the node."""
    sys.exit(run_node(TorquePredictorNode))


if __name__ == '__main__':
    main()
