# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Estimates payload and friction of a robot at work, and states how long to warm it up."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
import json
import math
import sys

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import Inertia, InertiaStamped, Vector3
import numpy as np
from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile, ReliabilityPolicy
from robot_identification.errors import IdentificationError, UsageError
from robot_identification.files import to_finite
from robot_identification.model import IdentifiedModel, load_model
from robot_identification.monitoring import (
    advise_wait, in_words, LivePayload, LiveResiduals, NONE, OnlineEstimator, PAYLOAD,
    RecursiveFriction, RecursiveFrictionOptions, RecursivePayload, RecursivePayloadOptions,
    ThinningOptions, viscous_slopes,
)
from robot_identification.nodes.bounded_subscription import within_bounds
from robot_identification.nodes.common import (
    act_after_setting, declare, LATCHED, run_node, serve, STEADY_CLOCK,
)
from robot_identification.nodes.conversions import driver_names, joint_state, to_time
from robot_identification.nodes.diagnostics import Diagnostics
from robot_identification.nodes.direct_subscription import DirectSubscription
from robot_identification.nodes.joint_order import JointOrder
from robot_identification.nodes.joint_state_reader import JointStateReader
from robot_identification.nodes.robot_state import HOTTEST, TEMPERATURE_TOPICS
from robot_identification.nodes.roots import allowed_to_read, declare_roots
from robot_identification.studies.temperature import FRICTION, TEMPERATURE
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, Header, String

# An estimate may be late, but gaps spoil what is filtered: a second of 1 kHz is queued.
SENSOR = QoSProfile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT)
# Between two takings of what came [s]; chosen: few waits, and soon enough for estimates
# of once a second.
TAKE_PERIOD = 0.05
# Times of the joint states between two values for the recommendation [s], and how many are kept;
# chosen: 90 minutes.
HISTORY_PERIOD, HISTORY_LENGTH = 5.0, 1080
# After a longer rest or pause an arm has cooled down: another curve begins [s]; chosen: joints
# take minutes to warm up.
LONGEST_REST = 120.0
MOVING = 0.02  # [rad/s]; chosen: as in execution, above the noise of a resting joint
# Steps between stamps that the rate is judged by, and the share by which it may be another one;
# chosen: 0.4 s of a 500 Hz topic, and more than a driver errs.
RATE_STEPS, OTHER_RATE = 200, 0.1

NO_MODEL = 'no model_file is set: nothing is estimated'


@dataclass(frozen=True, eq=False)
class Prepared:
    """A model and what follows from it."""

    model: IdentifiedModel  # the identified arm, bare
    names: tuple[str, ...]  # what the driver calls the joints, kinematic order
    order: JointOrder  # of these in joint states
    residuals: LiveResiduals  # its filters
    estimator: OnlineEstimator  # of payload and friction
    slopes: np.ndarray  # (n,): viscous friction of the model [N m s/rad]
    torque_per_effort: np.ndarray  # (n,): joint torque per unit of the driver's effort


class OnlineEstimatorNode(Node):
    """Silent until a model file is set; holds no numerics."""

    def __init__(self) -> None:
        super().__init__('online_estimator')
        declare_roots(self)
        self._prepared: Prepared | None = None
        self._diagnostics = Diagnostics(self, 'estimation')
        self._declare_options()
        self._payload = self.create_publisher(InertiaStamped, '~/payload', QoSProfile(depth=10))
        self._coulomb = self.create_publisher(
            JointState, '~/friction/coulomb', QoSProfile(depth=10)
        )
        self._viscous = self.create_publisher(
            JointState, '~/friction/viscous', QoSProfile(depth=10)
        )
        self._state = self.create_publisher(String, '~/state', LATCHED)
        self._advice = self.create_publisher(String, '~/advice', LATCHED)
        self._counts: Counter[str] = Counter()
        self._received_before = 0
        self._problem = ''
        self._published = ''
        self._changed = ''
        self._forget_history()
        # Stamps are counted from the first one [ns], so that floats have them exactly.
        self._origin: int | None = None
        self._last_stamp = self._last_moved = math.nan
        self._steps: deque[float] = deque(maxlen=RATE_STEPS)
        self._pending: Prepared | None = None
        self.add_on_set_parameters_callback(self._on_parameters)
        act_after_setting(self, self._take_pending)
        declare(self, 'model_file', '', 'identified_model.yaml of the bare arm; may be set while '
                'running, which resets the estimates')
        self._joint_states = DirectSubscription(self, JointState, 'joint_states', SENSOR)
        self._receive = within_bounds(self, 'joint_states', self._on_joint_state)
        self._reader = JointStateReader()
        for topic in TEMPERATURE_TOPICS:
            self.create_subscription(Float64MultiArray, topic, self._on_temperature, SENSOR)
        serve(self, '~/reset', self._reset)
        self.create_timer(TAKE_PERIOD, self._take_joint_states, clock=STEADY_CLOCK)
        self.create_timer(self._publish_period, self._publish_state, clock=STEADY_CLOCK)
        self.create_timer(self._advice_period, self._advise, clock=STEADY_CLOCK)
        if not self.get_parameter('model_file').value:
            self.get_logger().info(NO_MODEL)

    def _declare_options(self) -> None:
        self._prefix = declare(
            self, 'tf_prefix', '', "prefix of the driver's joint names and of frames",
            longest=128, read_only=True,
        )
        self._link = declare(
            self, 'payload_link', '', 'link, fixed to the last one, in whose frame the payload is '
            "stated; empty: the tool's", longest=128, read_only=True,
        )
        self._thinning = ThinningOptions(cutoff=declare(
            self, 'cutoff', 10.0, 'cut-off frequency of the low-pass before the estimation [Hz]',
            minimum=1.0,
            maximum=50.0, read_only=True,
        ), rate=declare(
            self, 'rate', 25.0, 'rate of the samples that are used for the estimates [Hz]',
            minimum=5.0,
            maximum=100.0, read_only=True,
        ))
        self._rate = declare(
            self, 'joint_state_rate', 0.0, 'rate of the joint states [Hz]; 0: that of the '
            'training recording', minimum=0.0, maximum=2000.0, read_only=True,
        )
        self._payload_memory = declare(
            self, 'payload_memory', 60.0, 'memory of the estimate of the payload [s]',
            minimum=10.0, maximum=3600.0, read_only=True,
        )
        self._friction_memory = declare(
            self, 'friction_memory', 30.0, 'memory of the estimate of friction [s]',
            minimum=10.0, maximum=3600.0, read_only=True,
        )
        self._false_alarms = declare(
            self, 'false_alarms', 0.1, 'false changes of the payload per hour of motion',
            minimum=1e-4, maximum=60.0, read_only=True,
        )
        self._acceleration_noise = declare(
            self, 'acceleration_noise', 0.1, 'noise of the filtered accelerations [rad/s^2]; '
            'inertia is estimated where they exceed three times this', minimum=0.0, maximum=10.0,
            read_only=True,
        )
        self._publish_period = declare(
            self, 'publish_period', 1.0, 'period of the estimates and diagnostics [s]',
            minimum=0.05, maximum=60.0, read_only=True,
        )
        self._advice_period = declare(
            self, 'advice_period', 10.0, 'period of the statements on warming up [s]',
            minimum=0.5, maximum=600.0, read_only=True,
        )

    def _on_parameters(self, parameters: Sequence[Parameter]) -> SetParametersResult:
        """Prepare a model; another callback may yet refuse it."""
        self._pending = None
        for parameter in parameters:
            if parameter.name == 'model_file' and parameter.value:
                try:
                    self._pending = self._prepare(parameter.value)
                except IdentificationError as error:
                    return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _take_pending(self, parameters: Sequence[Parameter]) -> None:
        """Estimate with the model that was prepared for the parameters that are set now."""
        if self._pending is not None:
            self._prepared, self._pending = self._pending, None
            self._forget_history()

    def _prepare(self, path: str) -> Prepared:
        model = load_model(allowed_to_read(self, 'model_file', path))
        residuals = LiveResiduals(model, self._rate or None, self._thinning)
        payload = RecursivePayload(
            model, self._link or None, RecursivePayloadOptions(
                rate=residuals.sample_rate, memory=self._payload_memory,
                false_alarms=self._false_alarms, acceleration_noise=self._acceleration_noise,
            ),
        )
        friction = RecursiveFriction(model, RecursiveFrictionOptions(
            rate=residuals.sample_rate, memory=self._friction_memory
        ))
        names = driver_names(model, self._prefix)
        return Prepared(
            model, names, JointOrder(names, model), residuals,
            OnlineEstimator(payload, friction), viscous_slopes(model),
            1.0 / model.effort_per_torque,
        )

    def _forget_history(self) -> None:
        self._history: dict[str, deque[tuple[float, np.ndarray]]] = {
            by: deque(maxlen=HISTORY_LENGTH) for by in (TEMPERATURE, FRICTION)
        }

    def _refuse(self, what: str, why: str) -> None:
        self._counts[what] += 1
        self._problem = why
        self.get_logger().warning(why, throttle_duration_sec=5.0)

    def _take_joint_states(self) -> None:
        """Take all that came: that is cheaper than to wait for each."""
        for data, _ in self._joint_states.take(SENSOR.depth):
            self._receive(data)

    def _on_temperature(self, message: Float64MultiArray) -> None:
        # It belongs to the joint states before it.
        self._take_joint_states()
        prepared = self._prepared
        if prepared is None:
            return
        values = np.asarray(message.data, dtype=float)
        if values.shape != (prepared.model.robot.n,) or not np.all(np.abs(values) <= HOTTEST):
            self._refuse('temperatures refused', (
                f'joint temperatures are {values.tolist()[:16]}, one number up to {HOTTEST:g} for '
                f'each of {prepared.model.robot.n} joints is needed'
            ))
            return
        self._counts['temperatures'] += 1
        prepared.residuals.set_temperature(values)
        # They have no stamp of their own.
        _keep(self._history[TEMPERATURE], self._last_stamp, values)

    def _on_joint_state(self, data: bytes) -> None:
        self._counts['received'] += 1
        prepared = self._prepared
        if prepared is None:
            return
        reading = self._reader.read(data)
        problem = prepared.order.find_problem(reading)
        if problem:
            self._refuse('unusable', problem)
            return
        q, dq, effort = prepared.order.values(reading)
        if effort is None:
            self._refuse('unusable', 'joint states have not one effort for each joint: nothing '
                         'can be estimated')
            return
        nonsense = prepared.order.find_nonsense(q, dq, effort)
        if nonsense is not None:
            self._refuse(*nonsense)
            return
        nanoseconds = reading.seconds * 10**9 + reading.nanoseconds
        if self._origin is None:
            self._origin = nanoseconds
        stamp = 1e-9 * (nanoseconds - self._origin)
        self._note_time(stamp, dq)
        torque = effort * prepared.torque_per_effort
        try:
            sample = prepared.residuals.step(stamp, q, dq, torque)
        except IdentificationError as error:
            self._refuse('unusable', str(error))
            return
        if sample is None:
            return
        self._counts['samples'] += 1
        change = prepared.estimator.step(sample)
        if change is not None:
            self._counts['changes'] += 1
            self._changed = (
                f'the payload changed by about {change.step:.2f} kg between '
                f'{self._seconds(change.earliest):.2f} and {self._seconds(change.stamp):.2f} s: '
                'estimated anew'
            )
            self.get_logger().warning(self._changed)

    def _time(self, stamp: float) -> Time:
        """Return a stamp that is counted from the first one [s] as it was received."""
        return to_time((self._origin or 0) + round(1e9 * stamp))

    def _seconds(self, stamp: float) -> float:
        """Return a stamp that is counted from the first one as seconds of its clock."""
        return 1e-9 * (self._origin or 0) + stamp

    def _note_time(self, stamp: float, dq: np.ndarray) -> None:
        """Begin another warm-up curve after a rest, a pause, or a clock that was set."""
        elapsed = stamp - self._last_stamp
        self._last_stamp = stamp
        if elapsed > 0.0:
            self._steps.append(elapsed)
        if elapsed < 0.0 or elapsed > LONGEST_REST:
            self._forget_history()
            self._last_moved = math.nan
        if np.any(np.abs(dq) > MOVING):
            if stamp - self._last_moved > LONGEST_REST:
                self._forget_history()
            self._last_moved = stamp

    def _reset(self) -> str:
        """Forget payload, friction and warm-up."""
        if self._prepared is None:
            raise UsageError('no model_file is set')
        self._take_joint_states()
        self._prepared.estimator.restart()
        self._forget_history()
        self._changed = ''
        return 'payload, friction and warm-up begin anew'

    def _publish_state(self) -> None:
        """Publish the estimates, and how it stands."""
        level, text = self._judge()
        self._problem = ''
        values: dict[str, object] = dict(self._counts)
        values['newest stamp [s]'] = f'{self._seconds(self._last_stamp):.3f}'
        if self._prepared is not None:
            payload = self._prepared.estimator.payload.estimate
            values |= {'payload': payload.verdict, 'payload, in words': payload.reason}
            self._publish_estimates(self._prepared, payload)
        self._diagnostics.publish(level, text, values)
        self._changed = ''

    def _judge(self) -> tuple[bytes, str]:
        received = self._counts['received'] - self._received_before
        self._received_before = self._counts['received']
        if self._prepared is None:
            return DiagnosticStatus.OK, NO_MODEL
        if self._problem:
            return DiagnosticStatus.ERROR, f'refused: {self._problem}'
        if not received:
            return DiagnosticStatus.STALE, 'no joint states come'
        if self._changed:
            return DiagnosticStatus.WARN, self._changed
        expected = self._prepared.residuals.rate
        if len(self._steps) == RATE_STEPS:
            rate = 1.0 / float(np.median(self._steps))
            if abs(rate / expected - 1.0) > OTHER_RATE:
                return DiagnosticStatus.WARN, (
                    f'joint states come at {rate:.0f} Hz and {expected:g} Hz were expected: '
                    'accelerations are wrong; set joint_state_rate'
                )
        return DiagnosticStatus.OK, 'estimating'

    def _publish_estimates(self, prepared: Prepared, payload: LivePayload) -> None:
        friction = prepared.estimator.friction.estimate
        if math.isfinite(payload.stamp) and payload.verdict in (PAYLOAD, NONE):
            self._payload.publish(inertia_message(
                payload, self._time(payload.stamp), self._prefix + payload.frame
            ))
        if math.isfinite(friction.stamp):
            header = Header(stamp=self._time(friction.stamp))
            for publisher, column in ((self._coulomb, 1), (self._viscous, 2)):
                publisher.publish(joint_state(
                    header, prepared.names,
                    effort=np.where(friction.observed, friction.changes[:, column], np.nan),
                ))
        self._note_history(prepared, friction)
        content = json.dumps(to_finite({
            'payload': in_words(payload),
            'changes': [
                {'stamp': self._seconds(change.stamp), 'earliest': self._seconds(change.earliest),
                 'mass_before': change.before, 'mass_step': change.step}
                for change in prepared.estimator.payload.changes[-10:]
            ],
            'friction': {
                'joints': list(prepared.names),
                'changes': friction.changes, 'standard_errors': friction.errors,
                'observed': friction.observed,
            },
        }))
        if content != self._published:
            self._published = content
            self._state.publish(String(data=content))

    def _note_history(self, prepared: Prepared, friction) -> None:
        """Keep friction every few seconds of the joint states' time."""
        if math.isfinite(friction.stamp) and np.any(friction.observed):
            total = prepared.slopes + friction.viscous
            _keep(
                self._history[FRICTION], friction.stamp,
                np.where(friction.observed, total, np.nan),
            )

    def _advise(self) -> None:
        """Publish whether to wait, by temperatures where they come, else by friction."""
        prepared = self._prepared
        if prepared is None:
            return
        by = TEMPERATURE if self._history[TEMPERATURE] else FRICTION
        history = self._history[by]
        if not history:
            text = 'not enough yet: no joint temperatures come, and no motion shows the friction'
        else:
            times, values = zip(*history, strict=True)
            text = advise_wait(
                np.array(times), np.array(values), prepared.names, by, prepared.slopes
            ).text
        self._advice.publish(String(data=text))


def _keep(history: deque[tuple[float, np.ndarray]], stamp: float, values: np.ndarray) -> None:
    """Append values, unless the last ones are as good as new."""
    if not math.isfinite(stamp):
        return
    if not history or stamp - history[-1][0] >= HISTORY_PERIOD:
        history.append((stamp, values.copy()))


def inertia_message(estimate: LivePayload, stamp: Time, frame: str) -> InertiaStamped:
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


def main() -> None:
    """Run the node."""
    sys.exit(run_node(OnlineEstimatorNode))


if __name__ == '__main__':
    main()
