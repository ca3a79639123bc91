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
from dataclasses import dataclass, replace
from pathlib import Path
import tempfile

from benchmarks.figures import Figure
import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import FloatArray
from robot_identification.estimation import IdentifyOptions
from robot_identification.model import IdentifiedModel, load_robot, Motion, RobotModel
from robot_identification.monitoring import (
    CollisionThresholds, DEFAULT_BANDWIDTH, observe_recording,
)
from robot_identification.monitoring.collision import (
    calibrate_thresholds, MOSTLY, NEGLIGIBLE, smallest_seen, SURE,
)
from robot_identification.pipeline import identify
from robot_identification.recording import write_simulated_bag
from robot_identification.simulation import (
    Contact, draw_truth, GroundTruth, MujocoRobot, record_motion, Sensors, SimulatedRun,
    with_static_friction, with_warming,
)
from robot_identification.simulation.joint_effects import (
    AMBIENT, TIME_CONSTANT, WARM_UP_RISE, WARM_UP_TIME,
)

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
    """What the observer says of N samples; its first ones, of which it says nothing, are not."""

    stamps: FloatArray  # [s]
    dq: FloatArray  # [rad/s], shape (N, n)
    external: FloatArray  # torque [N m], shape (N, n)
    deviation: FloatArray  # of it [N m], shape (N, n)
    rest_share: FloatArray  # what `RestMemory` returns, shape (N, n)
    touched: NDArray[np.bool_]  # joints that count as touched, shape (N, n)


def observe(
    model: IdentifiedModel, runs: Sequence[SimulatedRun],
    thresholds: CollisionThresholds | None = None,
) -> Observed:
    """Return what predictor and observer say of runs one after the other, as live nodes do."""
    stamps = np.concatenate([run.stamps for run in runs])
    q, dq, effort = (
        np.concatenate([run.measured[part] for run in runs]) for part in range(3)
    )
    found = observe_recording(
        model, stamps, q, dq, effort / model.effort_per_torque, thresholds=thresholds
    )
    said = np.isfinite(found.external[:, 0])
    return Observed(
        stamps[said], dq[said], found.external[said], found.deviation[said],
        found.rest_share[said], found.touched[said],
    )


def simulate(
    arm: int, motions: int, noise: int, seconds: float, warm: float
) -> Iterator[SimulatedRun]:
    """
    Yield the joint states of an arm that nobody touches, piece by piece, for so long at least.

    `arm`, `motions` and `noise` are seeds; the arm has moved for `warm` before [s].
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
        observe(model, list(simulate(arm, seed, seed, seconds, moved)))
        for seed, moved in ((1000 * arm + 1, 0.0), (1000 * arm + 2, 3600.0))
    )
    later = replace(warm, stamps=warm.stamps - warm.stamps[0] + cold.stamps[-1] + PERIOD)
    return Observed(*(
        np.concatenate([getattr(part, name) for part in (cold, later)])
        for name in Observed.__dataclass_fields__
    ))


def find_thresholds(observed: Observed, *, rest: bool = True) -> CollisionThresholds:
    """Return thresholds, with a part for rest or without one."""
    return calibrate_thresholds(
        observed.external, observed.deviation, observed.stamps,
        false_alarms_per_hour=FALSE_ALARMS, rest_share=observed.rest_share if rest else None,
    )


def count_alarms(
    model: IdentifiedModel, limits: CollisionThresholds, runs: Sequence[SimulatedRun]
) -> tuple[float, int, FloatArray]:
    """Return length [s] of some runs, alarms, largest shares of the limit (in motion, at rest)."""
    found = observe(model, runs, limits)
    rest = np.zeros(len(HOME)) if limits.rest is None else limits.rest
    share = np.abs(found.external) / (limits.factor * found.deviation + rest * found.rest_share)
    moves = found.rest_share < NEGLIGIBLE
    largest = np.array([
        np.where(counted, share, 0.0).max(axis=0) for counted in (moves, ~moves)
    ])
    alarms = int(np.sum(np.diff(found.touched.any(axis=1).astype(int), prepend=0) > 0))
    return sum(len(run.stamps) for run in runs) * PERIOD, alarms, largest


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
    """Outcome of a push."""

    joint: int  # that was pushed; -1 for a force on the tool
    size: float  # step of torque over the smallest one, or force [N]
    moved: bool  # whether the joint was and stayed in motion, or any for a force on the tool
    latency: float  # until that joint, or any, counted as touched [s]; infinite if it never did


def push(
    arm: int, model: IdentifiedModel, limits: CollisionThresholds, number: int, seconds: float,
    steps: FloatArray | None = None,
) -> list[Push]:
    """
    Push an arm again and again at random moments, for so long at least; return what was seen.

    The seed of the run is made of its number. `steps` are the smallest steps of torque on joints
    [N m], shape (n,); without them, forces act on the tool.
    """
    robot, truth = make_arm(arm)
    seed = 1000 * arm + (400 if steps is None else 300) + number
    simulator = MujocoRobot(
        robot, truth, Sensors(), HOME, seed, temperature=temperature_after(1800.0)
    )
    rng = np.random.default_rng(seed)
    pushes, runs = [], []
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
        runs.append(record(robot, simulator, motion))
    whole = observe(model, runs, limits)
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


def compare(arm: int, hours: float) -> dict[tuple[str, str], float]:
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
    pushes = [
        one for number in range(PUSH_RUNS)
        for one in push(arm, model, limits, number, PUSH_SECONDS, steps)
    ]
    touches = [
        one for number in range(TOOL_RUNS)
        for one in push(arm, model, limits, number, TOOL_SECONDS)
    ]
    counted = [
        count_alarms(model, limits, runs)
        for seed, seconds, warm in ((0, 3600.0 * hours, 0.0), (1, WARM, 3600.0))
        for runs in shifts(simulate(
            arm, 6 + arm + 50 * seed, 106 + arm + 50 * seed, seconds, warm
        ))
    ]
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


def measure(repeats: int) -> list[Figure]:
    """Return alarms in an hour of free motion, and how soon touches are seen."""
    # The first arm is the one that the rules were made with.
    arms = [compare(arm, HOURS) for arm in range(2, repeats + 2)]
    return [
        Figure(name, unit, tuple(arm[name, unit] for arm in arms)) for name, unit in arms[0]
    ]
