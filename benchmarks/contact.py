# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
False collisions in an hour of free motion of a simulated UR5, and how soon touches are seen.

MuJoCo is the arm: masses, centres, drive gains and rotors differ from the description, joints
stick and warm up. It is recorded along one motion and identified by `identify`; thresholds are
calibrated on some minutes of other motions, and then it moves for an hour, which nobody has seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
import os
from pathlib import Path
import tempfile

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import FloatArray
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.model.identified_model import IdentifiedModel
from robot_identification.model.model_file import dump_model, load_model
from robot_identification.model.registry import load_robot
from robot_identification.model.regressor import (
    continue_friction, initial_friction_states, Motion, observation_matrix,
    rigid_and_transmitted_torque,
)
from robot_identification.model.robot_model import RobotModel
from robot_identification.monitoring.collision import (
    calibrate_thresholds, CollisionDetector, CollisionThresholds, MOSTLY, NEGLIGIBLE, RestMemory,
    smallest_seen, SURE,
)
from robot_identification.monitoring.contact_observer import DEFAULT_BANDWIDTH, MomentumObserver
from robot_identification.pipeline import identify
from robot_identification.processing import CAUSAL_CUTOFF, CAUSAL_ORDER
from robot_identification.recording.simulated_run import write_simulated_bag
from robot_identification.simulation.contact import Contact
from robot_identification.simulation.ground_truth import (
    draw_truth, GroundTruth, with_static_friction, with_warming,
)
from robot_identification.simulation.joint_effects import (
    AMBIENT, TIME_CONSTANT, WARM_UP_RISE, WARM_UP_TIME,
)
from robot_identification.simulation.mujoco_robot import MujocoRobot, Sensors
from robot_identification.simulation.run import record_motion, SimulatedRun
import scipy

from .figures import Figure
from .tracking import HOME, recorded_motion

RATE = 500.0
PERIOD = 1.0 / RATE
REPEATS = 1
HOURS = 1.0
# How much of it is observed at a time [s], and what a warm arm moves beside it [s].
SHIFT, WARM = 300.0, 300.0
# Of free motion to calibrate on, of a cold and of a warm arm each [s].
CALIBRATED = 180.0
FALSE_ALARMS = 0.1
# In which a touch is to be seen [s].
WITHIN = 0.05
# Of the pushes: time between two, and their length [s], how many runs of what length [s].
PUSH_PERIOD, PUSH = 0.5, 0.1
PUSH_RUNS, PUSH_SECONDS = 4, 150.0
TOOL_RUNS, TOOL_SECONDS = 1, 150.0
# Steps of torque over the smallest ones that are seen without noise, the last of them stated, and
# forces on the tool [N].
STEPS = (0.5 * SURE, 0.75 * SURE, SURE)
FORCES = (10.0, 20.0, 30.0, 50.0)
TOOL, TOOL_POINT = 'wrist_3_link', np.array([0.0, 0.0, 0.1])
# A joint that counts as moving when it is pushed [rad/s].
MOVING = 0.1
# The band is found at one of so many samples: in motion it hardly changes.
BAND_SAMPLES = 100
# Of one piece of motion, from rest to rest [s].
PIECE = 30.0
# Furthest from HOME [rad], fastest [rad/s], and strongest acceleration [rad/s^2].
REACH = np.array([2.0, 0.8, 1.0, 1.5, 1.5, 2.5])
SPEED, ACCELERATION = 2.5, 8.0


class JointPush(Contact):
    """Torques (n,) [N m] on the joints of an arm that has a link, as of no single force."""

    def __init__(
        self, link: str, torque: np.ndarray, start: float, duration: float
    ) -> None:
        super().__init__(link, np.zeros(3), np.zeros(3), start, duration)
        object.__setattr__(self, 'given', torque)

    def torque(self, *_: object) -> tuple[np.ndarray, None]:
        return self.__dict__['given'], None


def make_arm(seed: int) -> tuple[RobotModel, GroundTruth]:
    """Return what is known of an arm, with a driver at 500 Hz, and what it is."""
    robot = replace(load_robot('ur5'), sampling_rate=RATE)
    return robot, with_warming(with_static_friction(draw_truth(robot, seed)))


def _join(rows: list[tuple[FloatArray, FloatArray, FloatArray]]) -> Motion:
    return Motion(*(np.concatenate(column) for column in zip(*rows, strict=True)))


def _rest(here: FloatArray, seconds: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    still = np.tile(here, (round(seconds * RATE), 1))
    return still, np.zeros_like(still), np.zeros_like(still)


def _smooth_step(share: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return a quintic from 0 to 1 and its derivatives with respect to the share of the time."""
    s = np.clip(share, 0.0, 1.0)
    return (
        s**3 * (10.0 - 15.0 * s + 6.0 * s**2), 30.0 * (s * (1.0 - s)) ** 2,
        60.0 * s * (1.0 - s) * (1.0 - 2.0 * s),
    )


def _quintic(
    here: FloatArray, way: FloatArray, seconds: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    times = np.arange(round(seconds * RATE))[:, None] / round(seconds * RATE)
    w, dw, ddw = _smooth_step(times)
    return here + w * way, dw * way / seconds, ddw * way / seconds**2


def _trapezoid(
    here: FloatArray, way: FloatArray, speed: float, acceleration: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return a move at constant acceleration, velocity and deceleration, as moveJ makes it."""
    longest = float(np.abs(way).max())
    speed = min(speed, np.sqrt(longest * acceleration))
    ramp, total = speed / acceleration, longest / speed + speed / acceleration
    t = np.arange(round(total * RATE))[:, None] * PERIOD
    left = np.maximum(total - t, 0.0)
    ddq = acceleration * (np.where(t < ramp, 1.0, 0.0) - np.where(left < ramp, 1.0, 0.0))
    dq = np.minimum(acceleration * np.minimum(t, left), speed)
    s = np.where(
        t < ramp, 0.5 * acceleration * t**2, np.where(
            left < ramp, longest - 0.5 * acceleration * left**2, speed * (t - 0.5 * ramp)
        ),
    )
    share = way / longest
    return here + s * share, dq * share, ddq * share


def _target(rng: np.random.Generator) -> FloatArray:
    target: FloatArray = HOME + REACH * rng.uniform(-1.0, 1.0, len(HOME))
    return target


def _moves(rng: np.random.Generator, here: FloatArray) -> Motion:
    """Return moves from pose to pose, with rests, as of pick and place."""
    rows, left = [], PIECE
    while left > 0.0:
        way = _target(rng) - here
        longest = np.abs(way).max()
        quickest = max(1.875 * longest / SPEED, np.sqrt(5.774 * longest / ACCELERATION))
        move, dwell = quickest * rng.uniform(1.0, 2.0), rng.uniform(0.1, 1.0)
        rows += [_quintic(here, way, move), _rest(here + way, dwell)]
        here, left = here + way, left - move - dwell
    return _join(rows)


def _sway(rng: np.random.Generator, here: FloatArray) -> Motion:
    """Return sums of sines of all joints at once, which turn around again and again."""
    t = np.arange(round(PIECE * RATE))[:, None] * PERIOD
    q, dq, ddq = (np.zeros((len(t), len(HOME))) for _ in range(3))
    for _ in range(4):
        w = 2.0 * np.pi * rng.uniform(0.05, 0.6, len(HOME))
        phase, size = rng.uniform(0.0, 2.0 * np.pi, len(HOME)), rng.uniform(0.2, 1.0, len(HOME))
        q += size / w * np.sin(w * t + phase)
        dq += size * np.cos(w * t + phase)
        ddq -= size * w * np.sin(w * t + phase)
    scale = np.minimum(
        0.7 * REACH / np.abs(q).max(axis=0), np.minimum(
            0.6 * SPEED / np.abs(dq).max(axis=0), 0.6 * ACCELERATION / np.abs(ddq).max(axis=0)
        ),
    ) * rng.uniform(0.4, 1.0)
    q, dq, ddq = scale * q, scale * dq, scale * ddq
    # From rest and to rest again.
    fade = 3.0
    total = len(t) * PERIOD
    w, dw, ddw = _smooth_step(np.minimum(t, total - t) / fade)
    side = np.where(t < total / 2.0, 1.0, -1.0) / fade
    dw, ddw = dw * side, ddw / fade**2
    start = _quintic(here, HOME - here, 3.0)
    return _join([
        start, (HOME + w * q, w * dq + dw * q, w * ddq + 2.0 * dw * dq + ddw * q)
    ])


def _slow(rng: np.random.Generator, here: FloatArray) -> Motion:
    """Return slow moves, some joints resting, which turn back now and then."""
    rows, left = [], PIECE
    while left > 0.0:
        way = 0.3 * (_target(rng) - here) * (rng.uniform(size=len(HOME)) < 0.7)
        move = 1.875 * np.abs(way).max(initial=0.01) / rng.uniform(0.03, 0.3)
        back = -way * rng.uniform(0.2, 1.0)
        rows += [_quintic(here, way, move), _quintic(here + way, back, move)]
        here, left = here + way + back, left - 2.0 * move
    return _join(rows)


def _segments(rng: np.random.Generator, here: FloatArray) -> Motion:
    """Return moves at constant velocity with sudden accelerations, of one joint or of all."""
    rows, left = [], PIECE
    while left > 0.0:
        way = _target(rng) - here
        if rng.uniform() < 0.5:
            way = way * (np.arange(len(HOME)) == rng.integers(len(HOME)))
        segment = _trapezoid(here, way, rng.uniform(0.1, SPEED), rng.uniform(1.4, 5.0))
        rows += [segment, _rest(here + way, rng.uniform(0.0, 1.0))]
        here, left = here + way, left - len(segment[0]) * PERIOD - 0.5
    return _join(rows)


KINDS = {'moves': _moves, 'sway': _sway, 'slow': _slow, 'constant velocity': _segments}


def free_motions(seed: int, seconds: float) -> Iterator[Motion]:
    """Yield pieces of motion, each from where the one before came to rest."""
    rng = np.random.default_rng(seed)
    here, done, kinds = HOME, 0.0, list(KINDS.values())
    while done < seconds:
        for kind in rng.permutation(len(kinds)):
            if done < seconds:
                piece = kinds[kind](rng, here)
                yield piece
                here, done = piece.q[-1], done + len(piece) * PERIOD


def record(robot: RobotModel, simulator: MujocoRobot, motion: Motion) -> SimulatedRun:
    """Return the joint states of a motion, which goes on where the arm is."""
    stamps = simulator.time + PERIOD * np.arange(float(len(motion)))
    return record_motion(robot, simulator, motion, stamps, PERIOD)


def temperature_after(seconds: float) -> FloatArray:
    """Return temperatures of joints that have moved for some time, as Raviola et al. 2021 did."""
    reached = WARM_UP_RISE / (1.0 - np.exp(-WARM_UP_TIME / TIME_CONSTANT))
    return np.full(len(HOME), AMBIENT + reached * (1.0 - np.exp(-seconds / TIME_CONSTANT)))


def identify_arm(robot: RobotModel, truth: GroundTruth, seed: int) -> IdentifiedModel:
    """Return what `identify` makes of a minute of one motion with the driver's noise."""
    motion = recorded_motion(robot, PERIOD)
    simulator = MujocoRobot(robot, truth, Sensors(), motion.q[0], seed)
    with tempfile.TemporaryDirectory() as folder:
        bag = Path(folder) / 'bag'
        write_simulated_bag(bag, robot, record(robot, simulator, motion))
        return identify(robot, [bag], IdentifyOptions()).model


@dataclass(frozen=True, eq=False)
class Observed:
    """
    Observed torques of N samples.

    Attributes
    ----------
    stamps : ndarray, shape (N,)
        Simulated time [s].
    external, deviation : ndarray, shape (N, n)
        External torque and its standard deviation [N m].
    rest_share, dq : ndarray, shape (N, n)
        What `RestMemory` returns, and velocities [rad/s].
    touched : ndarray of bool, shape (N, n)
        Joints that count as touched; false without thresholds.

    """

    stamps: FloatArray
    external: FloatArray
    deviation: FloatArray
    rest_share: FloatArray
    dq: FloatArray
    touched: NDArray[np.bool_]


class Watch:
    """
    Does what `TorquePredictor` and `ContactObserver` do, for many samples at once.

    Parameters
    ----------
    model : IdentifiedModel
        With drive gains, and effort that does not lag.
    thresholds : CollisionThresholds, optional
        When a joint counts as touched.
    band_samples : int
        Of how many samples the band is found at the first.

    """

    def __init__(
        self, model: IdentifiedModel, thresholds: CollisionThresholds | None = None,
        band_samples: int = BAND_SAMPLES,
    ) -> None:
        self._model, self._band_samples = model, band_samples
        self._filter = scipy.signal.butter(CAUSAL_ORDER, CAUSAL_CUTOFF, fs=RATE, output='sos')
        self._filter_states: list[FloatArray] | None = None
        self._friction_states = initial_friction_states(model.parameters)
        self._observer = MomentumObserver(model, DEFAULT_BANDWIDTH)
        self._noise = np.asarray(model.quality['residual_standard_deviation'])
        self._rest = RestMemory(DEFAULT_BANDWIDTH)
        self._detector = None if thresholds is None else CollisionDetector(thresholds)
        self._taken, self._held = 0, self._noise

    def take(self, run: SimulatedRun) -> Observed:
        """Take the samples of a run, after those before it."""
        model = self._model
        q, dq, effort = run.measured
        smooth, ddq = self._smooth(dq)
        motion = Motion(q, smooth, ddq, starts=())
        given = model.robot, model.parameters, model.theta_lifted
        _, transmitted = rigid_and_transmitted_torque(*given, motion)
        # At the velocity as measured, which is not late.
        friction = continue_friction(
            *given, Motion(q, dq, ddq, starts=()), transmitted, self._friction_states
        )
        deviation = self._deviation(motion)
        torque = effort / model.effort_per_torque
        external, share = np.zeros((2, *q.shape))
        touched = np.zeros(q.shape, dtype=bool)
        for k, stamp in enumerate(run.stamps.tolist()):
            share[k] = self._rest.step(stamp, dq[k])
            found = self._observer.step(PERIOD, q[k], dq[k], torque[k], friction[k])
            if found is None:
                continue
            external[k] = found
            if self._detector is not None:
                touched[k] = self._detector.step(stamp, found, deviation[k], share[k])
        return Observed(run.stamps, external, deviation, share, dq, touched)

    def _smooth(self, dq: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the filtered velocity, and its filtered difference over the period."""
        if self._filter_states is None:
            settled = scipy.signal.sosfilt_zi(self._filter)[:, :, None] * dq[0]
            self._filter_states, self._last = [settled, 0.0 * settled], dq[0]
        first, second = self._filter_states
        smooth, first = scipy.signal.sosfilt(self._filter, dq, axis=0, zi=first)
        difference = np.diff(smooth, axis=0, prepend=self._last[None]) * RATE
        ddq, second = scipy.signal.sosfilt(self._filter, difference, axis=0, zi=second)
        self._filter_states, self._last = [first, second], smooth[-1]
        return smooth, ddq

    def _deviation(self, motion: Motion) -> FloatArray:
        """Return the band, which is found at some samples, each by itself, and held."""
        N, n = motion.q.shape
        rows = np.arange(-self._taken % self._band_samples, N, self._band_samples)
        self._taken += N
        alone = replace(motion.rows(rows), starts=tuple(range(len(rows))))
        model = self._model
        W = observation_matrix(model.robot, model.parameters, alone)
        W = W[:, model.reduction.independent]
        of_parameters = np.maximum(np.sum((W @ model.covariance) * W, axis=1), 0.0)
        found = np.sqrt(self._noise**2 + of_parameters.reshape(-1, n))
        known = np.vstack([self._held[None], found])
        self._held = known[-1]
        deviation: FloatArray = known[np.searchsorted(rows, np.arange(N), side='right')]
        return deviation


def join(parts: Sequence[Observed]) -> Observed:
    """Return observations one after the other."""
    names = Observed.__dataclass_fields__
    return Observed(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def simulate(
    arm: int, motions: int, noise: int, seconds: float, warm: float
) -> Iterator[SimulatedRun]:
    """
    Yield the joint states of an arm that nobody touches, piece by piece.

    Parameters
    ----------
    arm, motions, noise : int
        Seeds of the arm, of its motions, and of the noise of its sensors.
    seconds : float
        At least so long.
    warm : float
        How long it has moved before [s].

    """
    robot, truth = make_arm(arm)
    simulator = MujocoRobot(
        robot, truth, Sensors(), HOME, noise, temperature=temperature_after(warm)
    )
    for motion in free_motions(motions, seconds):
        yield record(robot, simulator, motion)


def observe_cold_and_warm(model: IdentifiedModel, arm: int, seconds: float) -> Observed:
    """Return what is observed of a cold and of a warm arm, one after the other."""
    cold, warm = (
        join([watch.take(run) for run in simulate(arm, seed, seed, seconds, moved)])
        for seed, moved, watch in (
            (1000 * arm + 1, 0.0, Watch(model)), (1000 * arm + 2, 3600.0, Watch(model)),
        )
    )
    later = replace(warm, stamps=warm.stamps - warm.stamps[0] + cold.stamps[-1] + PERIOD)
    return join([cold, later])


def find_thresholds(observed: Observed, *, rest: bool = True) -> CollisionThresholds:
    """Return thresholds, with a part for rest or without one."""
    # The observer says nothing of the first samples.
    said = slice(round(3.0 / DEFAULT_BANDWIDTH * RATE) + 1, None)
    return calibrate_thresholds(
        observed.external[said], observed.deviation[said], observed.stamps[said],
        false_alarms_per_hour=FALSE_ALARMS,
        rest_share=observed.rest_share[said] if rest else None,
    )


@dataclass(frozen=True, eq=False)
class Task:
    """
    Task of a process.

    Attributes
    ----------
    model_file : Path
        What is known of the arm.
    arm : int
        Its seed.
    thresholds : CollisionThresholds
        When a joint counts as touched.

    """

    model_file: Path
    arm: int
    thresholds: CollisionThresholds

    def model(self) -> IdentifiedModel:
        """Return the model."""
        return load_model(self.model_file)


def count_alarms(
    task: Task, runs: Sequence[SimulatedRun]
) -> tuple[float, int, FloatArray]:
    """Return length [s] of some runs, alarms, largest shares of the limit (in motion, at rest)."""
    seconds, alarms = 0.0, 0
    largest = np.zeros((2, len(HOME)))
    limits = task.thresholds
    rest = np.zeros(len(HOME)) if limits.rest is None else limits.rest
    watch = Watch(task.model(), limits)
    for run in runs:
        part = watch.take(run)
        seconds += len(part.stamps) * PERIOD
        alarms += int(np.sum(np.diff(part.touched.any(axis=1).astype(int), prepend=0) > 0))
        share = np.abs(part.external) / (limits.factor * part.deviation + rest * part.rest_share)
        moves = part.rest_share < NEGLIGIBLE
        for row, counted in zip(largest, (moves, ~moves), strict=True):
            np.maximum(row, np.where(counted, share, 0.0).max(axis=0), out=row)
    return seconds, alarms, largest


def shifts(runs: Iterator[SimulatedRun]) -> Iterator[list[SimulatedRun]]:
    """Yield runs together that are as long as a shift."""
    together: list[SimulatedRun] = []
    for run in runs:
        together.append(run)
        if sum(len(one.stamps) for one in together) * PERIOD >= SHIFT:
            yield together
            together = []
    if together:
        yield together


@dataclass(frozen=True)
class Push:
    """
    Outcome of a push.

    Attributes
    ----------
    joint : int
        That was pushed; -1 for a force on the tool.
    size : float
        Step of torque over the smallest one, or force [N].
    moved : bool
        Whether the joint was and stayed in motion, or any for a force on the tool.
    latency : float
        Until that joint, or any, counted as touched [s]; infinite if it never did.

    """

    joint: int
    size: float
    moved: bool
    latency: float


def push(
    task: Task, number: int, seconds: float, steps: FloatArray | None = None
) -> list[Push]:
    """
    Push an arm again and again, at random moments.

    Parameters
    ----------
    task : Task
        The arm and what is known of it.
    number : int
        Of this run: a seed.
    seconds : float
        At least so long.
    steps : ndarray, shape (n,), optional
        The smallest steps of torque on joints [N m]; without them, forces on the tool.

    Returns
    -------
    list of Push
        What was seen of each.

    """
    robot, truth = make_arm(task.arm)
    seed = 1000 * task.arm + (400 if steps is None else 300) + number
    simulator = MujocoRobot(
        robot, truth, Sensors(), HOME, seed, temperature=temperature_after(1800.0)
    )
    rng = np.random.default_rng(seed)
    watch = Watch(task.model(), task.thresholds)
    pushes, observed = [], []
    for motion in free_motions(seed, seconds):
        first = simulator.time
        for begin in np.arange(first + 0.5, first + len(motion) * PERIOD - 0.5, PUSH_PERIOD):
            start = float(begin + rng.uniform(0.0, 0.05))
            sign = rng.choice([-1.0, 1.0])
            joint, size = -1, float(rng.choice(FORCES))
            if steps is None:
                direction = rng.standard_normal(3)
                force = size * direction / np.linalg.norm(direction)
                simulator.touch(Contact(TOOL, TOOL_POINT, force, start, PUSH))
            else:
                joint, size = int(rng.integers(robot.n)), float(rng.choice(STEPS))
                torque = np.where(np.arange(robot.n) == joint, sign * size * steps, 0.0)
                simulator.touch(JointPush(TOOL, torque, start, PUSH))
            pushes.append((joint, size, start))
        observed.append(watch.take(record(robot, simulator, motion)))
    whole = join(observed)
    return [_outcome(whole, *one) for one in pushes]


def _outcome(observed: Observed, joint: int, size: float, start: float) -> Push:
    """Return what became of a push, from the samples until it ended."""
    rows = slice(*np.searchsorted(observed.stamps, [start, start + PUSH]))
    before = max(rows.start - 1, 0)
    joints = slice(None) if joint < 0 else slice(joint, joint + 1)
    seen = observed.touched[rows, joints].any(axis=1)
    latency = float(observed.stamps[rows][np.argmax(seen)] - start) if seen.any() else np.inf
    moved = (np.abs(observed.dq[before, joints]) > MOVING) & (
        observed.rest_share[before, joints] < NEGLIGIBLE
    )
    # Who pushes against a slow motion stops the joint, and then friction holds it.
    after = np.searchsorted(observed.stamps, start + WITHIN)
    moved &= observed.rest_share[after, joints] < MOSTLY
    return Push(joint, size, bool(moved.any()), latency)


def _per_cent(pushes: Sequence[Push]) -> float:
    """Return how many of some pushes were seen in time [%]."""
    return 100.0 * float(np.mean([push.latency <= WITHIN for push in pushes]))


def _latencies(pushes: Sequence[Push]) -> tuple[float, float, float]:
    """Return median, 99 % and largest latency [ms]; of what was not seen, the push's length."""
    found = 1e3 * np.minimum([push.latency for push in pushes], PUSH)
    return float(np.median(found)), float(np.quantile(found, 0.99)), float(found.max())


def compare(arm: int, hours: float, workers: int | None = None) -> dict[tuple[str, str], float]:
    """Return everything that is measured with one arm, by name and unit."""
    robot, truth = make_arm(arm)
    model = identify_arm(robot, truth, arm)
    calibrated = observe_cold_and_warm(model, arm, CALIBRATED)
    limits = find_thresholds(calibrated)
    rests = np.zeros(robot.n) if limits.rest is None else limits.rest
    plain = find_thresholds(calibrated, rest=False)
    deviation = np.median(calibrated.deviation, axis=0)
    steps, plain_steps = (
        smallest_seen(found, deviation, DEFAULT_BANDWIDTH, WITHIN) for found in (limits, plain)
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / 'model.yaml'
        file.write_text(dump_model(model), encoding='utf-8')
        task = Task(file, arm, limits)
        with ProcessPoolExecutor(workers or os.cpu_count(), get_context('spawn')) as pool:
            on_joints = [
                pool.submit(push, task, number, PUSH_SECONDS, steps)
                for number in range(PUSH_RUNS)
            ]
            on_tool = [
                pool.submit(push, task, number, TOOL_SECONDS) for number in range(TOOL_RUNS)
            ]
            # One after the other, as the arm warms up, and observed elsewhere meanwhile.
            free = [
                pool.submit(count_alarms, task, runs)
                for seed, seconds, warm in ((0, 3600.0 * hours, 0.0), (1, WARM, 3600.0))
                for runs in shifts(simulate(arm, 6 + arm + 50 * seed, 106 + arm + 50 * seed,
                                            seconds, warm))
            ]
            counted = [future.result() for future in free]
            pushes = [one for future in on_joints for one in future.result()]
            touches = [one for future in on_tool for one in future.result()]
    moving, resting = np.max([largest for _, _, largest in counted], axis=0)
    found = {
        ('simulated free motion', 'h'): sum(seconds for seconds, _, _ in counted) / 3600.0,
        ('false alarms in it', ''): float(sum(alarms for _, alarms, _ in counted)),
        ('largest share of the limit in it, in motion', '%'): 100.0 * float(moving.max()),
        ('largest share of the limit in it, near rest', '%'): 100.0 * float(resting.max()),
    }
    for joint in range(robot.n):
        name = f'joint {joint + 1}: '
        at = [one for one in pushes if one.joint == joint and one.moved and one.size == SURE]
        middle, most, worst = _latencies(at)
        found |= {
            (f'{name}stated step', 'N m'): SURE * float(steps[joint]),
            (f'{name}seen within 50 ms', '%'): _per_cent(at),
            (f'{name}latency, median', 'ms'): middle,
            (f'{name}latency, 99 %', 'ms'): most,
            (f'{name}latency, largest', 'ms'): worst,
            (f'{name}pushes', ''): float(len(at)),
            (f'{name}added near rest', 'N m'): float(rests[joint]),
            (f'{name}stated step without a part for rest', 'N m'): SURE * float(
                plain_steps[joint]
            ),
        }
    for share in STEPS[:-1]:
        found[f'all joints: {share / SURE:g} of the stated step, seen within 50 ms', '%'] = (
            _per_cent([one for one in pushes if one.moved and one.size == share])
        )
    found['all joints: stated step near rest, seen within 50 ms', '%'] = _per_cent(
        [one for one in pushes if not one.moved and one.size == SURE]
    )
    for force in FORCES:
        at = [one for one in touches if one.moved and one.size == force]
        middle, most, _ = _latencies(at)
        found |= {
            (f'{force:g} N on the tool: seen within 50 ms', '%'): _per_cent(at),
            (f'{force:g} N on the tool: latency, median', 'ms'): middle,
            (f'{force:g} N on the tool: latency, 99 %', 'ms'): most,
        }
    return found


def measure(repeats: int, hours: float = HOURS) -> list[Figure]:
    """Return alarms in so many hours of free motion, and how soon touches are seen."""
    # The first arm is the one that the rules were made with.
    arms = [compare(arm, hours) for arm in range(2, repeats + 2)]
    return [
        Figure(name, unit, tuple(arm[name, unit] for arm in arms)) for name, unit in arms[0]
    ]
