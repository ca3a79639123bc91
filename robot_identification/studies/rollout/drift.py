# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Drift of a simulation from a recording: how long it stays near the arm under the same torques.

A rollout begins at a measured state and is driven by the measured effort. A torque error grows to
``1/2 (M^-1 error) t^2`` in an open loop; under a servo it ends at error over stiffness.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
import math
from typing import Any

import numpy as np
import pinocchio as pin
from robot_identification.arrays import BoolArray, FloatArray, IntArray
from robot_identification.files import to_finite
from robot_identification.model import joint_axes, RobotModel, tool_frame
from robot_identification.options import check_options, option
from robot_identification.processing import Dataset
from robot_identification.simulation import Drive
from robot_identification.validation import BAD, Limit, SIMULATION, Validation
import scipy

# After which times drift is stated [s]: a step of a controller, a movement, a task.
HORIZONS = (0.1, 0.5, 2.0)
# Between the instants that are kept of a rollout [s]; all horizons are multiples.
SPACING = 0.02
# A joint that is so far from the recording is somewhere else: half a turn [rad], or a metre of a
# prismatic joint [m].
LOST_ANGLE, LOST_WAY = math.pi, 1.0
# A drift that is smaller is near the recording, for any drift of a constant velocity [rad or m];
# chosen: half of the runner's tolerance of tracking.
LEAST_STRAY = 0.05
# Of the starts, below which the larger of the two stated drifts is.
HIGH_SHARE = 0.9
MODEL, URDF, MJCF, VELOCITY = 'model', 'urdf', 'mjcf', 'constant_velocity'
WORDS = {
    MODEL: 'the identified model', URDF: 'the URDF alone', MJCF: 'the exported MJCF',
    VELOCITY: 'a constant velocity',
}
OPEN, CLOSED = 'open', 'closed'


@dataclass(frozen=True)
class RolloutOptions:
    """
    Options of rollouts. Raises UsageError if one is out of its range.

    The step is that of our own integrator [s]; MuJoCo has the one of its model file.
    """

    starts: int = option(
        int, 'rollouts of each recording, evenly spread', minimum=1, default=32, metavar='N',
        key='rollout_starts',
    )
    frequency: float = option(
        float, 'natural frequency of the PD servo of the closed loop [Hz], of the identified '
        'inertia of each joint, with damping 1', minimum=0.01, default=2.0, metavar='HZ',
        key='rollout_frequency',
    )
    step: float = 0.001

    def __post_init__(self) -> None:
        check_options(self)


@dataclass(frozen=True, eq=False)
class RolloutPlan:
    """Starts of the rollouts of a recording, and the times that are stated."""

    bag: str
    joints: tuple[str, ...]
    rows: IntArray  # (S,): rows of the recording that they begin at
    stamps: FloatArray  # (S,): seconds after the first joint state
    horizons: tuple[float, ...]  # those that fit the recording [s]

    @property
    def times(self) -> FloatArray:
        """Instants (T,) that are kept, from the start [s]."""
        last = self.horizons[-1] if self.horizons else 0.0
        return SPACING * np.arange(round(last / SPACING) + 1.0)

    @property
    def stated(self) -> IntArray:
        """Return the indices (H,) of the horizons among the times."""
        return np.array([round(one / SPACING) for one in self.horizons], dtype=int)


@dataclass(frozen=True, eq=False)
class Simulated:
    """Rollouts of one model in one loop."""

    name: str  # {'model', 'urdf', 'mjcf', 'constant_velocity'}
    loop: str  # {'open', 'closed'}
    q: FloatArray  # (T, S, n): simulated positions [rad]; NaN where the simulation broke down
    drift: FloatArray  # (T, S, n): simulated less measured [rad]; infinite where a joint is lost
    tool: FloatArray  # (T, S): of the tool from the measured one [m]; infinite where q is NaN


@dataclass(frozen=True, eq=False)
class Rollout:
    """Rollouts of a recording by several models."""

    plan: RolloutPlan
    prismatic: BoolArray  # (n,)
    tool: str  # the frame that is the tool
    measured: FloatArray  # (T, S, n): measured positions [rad]
    simulated: tuple[Simulated, ...]
    step: float  # of our integrator [s]
    # (H,): what halving the step changes in the model's open loop: median over starts, of the
    # joint where it is largest [rad].
    halving: FloatArray
    # (n,): of the servo [N m/rad], [N m s/rad], and its natural frequency [Hz].
    stiffness: FloatArray
    damping: FloatArray
    frequency: float
    not_checked: tuple[str, ...] = ()  # what was not simulated, and why

    def find(self, name: str, loop: str) -> Simulated | None:
        """Return the rollouts of a model, if there are any."""
        return next(
            (one for one in self.simulated if (one.name, one.loop) == (name, loop)), None
        )


def plan_rollouts(
    dataset: Dataset, starts: int, horizons: Sequence[float] = HORIZONS
) -> RolloutPlan:
    """
    Return where rollouts begin: evenly spread where scored samples go on for long enough.

    Horizons that no part of the recording is long enough for are left out, and where even the
    shortest is, the plan is empty.
    """
    for fitting in range(len(horizons), 0, -1):
        candidates = _long_enough(dataset, horizons[fitting - 1])
        if candidates.size:
            chosen = np.linspace(0, candidates.size - 1, min(starts, candidates.size))
            rows: IntArray = candidates[np.round(chosen).astype(int)]
            return RolloutPlan(
                dataset.source, dataset.joint_names, rows, dataset.stamps[rows],
                tuple(horizons[:fitting]),
            )
    none = np.zeros(0, dtype=int)
    return RolloutPlan(dataset.source, dataset.joint_names, none, np.zeros(0), ())


def _long_enough(dataset: Dataset, horizon: float) -> IntArray:
    """Return the rows after which everything is scored, without a gap, for a time [s]."""
    usable = dataset.scored & np.isfinite(dataset.effort).all(axis=1)
    lacking = np.concatenate([[0], np.cumsum(~usable)])
    found = []
    for segment in dataset.segments:
        stamps = dataset.stamps[segment]
        first = segment.start or 0
        # Rounding of stamps must not cost a recording that is as long as the horizon its start.
        end = first + np.searchsorted(stamps, stamps + horizon - 1e-6, side='left')
        row = first + np.arange(len(stamps))
        inside = end < first + len(stamps)
        whole = lacking[np.minimum(end + 1, len(dataset))] == lacking[row]
        found.append(row[inside & whole])
    return np.concatenate(found) if found else np.zeros(0, dtype=int)


class Measurement:
    """Effort, position and velocity of a recording between its stamps."""

    def __init__(self, dataset: Dataset, plan: RolloutPlan) -> None:
        self._plan = plan
        first, last = int(plan.rows.min()), int(plan.rows.max())
        until = dataset.stamps[last] + plan.times[-1] + 2.0 / dataset.rate
        rows = slice(first, int(np.searchsorted(dataset.stamps, until, side='right')))
        # Of samples with the same stamp the first one counts.
        stamps, kept = np.unique(dataset.stamps[rows], return_index=True)
        self._stamps = stamps
        self._effort = np.array(dataset.effort[rows][kept])
        motion = dataset.motion
        self._q = scipy.interpolate.CubicHermiteSpline(
            stamps, np.array(motion.q[rows][kept]), np.array(motion.dq[rows][kept])
        )

    def position(self, times: FloatArray) -> FloatArray:
        """Return positions (T, S, n) [rad] at times (T,) after the starts [s]."""
        q: FloatArray = self._q(self._at(times))
        return q

    def velocity(self, times: FloatArray) -> FloatArray:
        """Return velocities (T, S, n) [rad/s] at times (T,) after the starts [s]."""
        dq: FloatArray = self._q(self._at(times), 1)
        return dq

    def effort(self, times: FloatArray) -> FloatArray:
        """Return efforts (T, S, n), straight between two samples, in the recording's unit."""
        at = self._at(times)
        columns = [np.interp(at, self._stamps, column) for column in self._effort.T]
        return np.stack(columns, axis=-1)

    def _at(self, times: FloatArray) -> FloatArray:
        at: FloatArray = times[:, None] + self._plan.stamps
        return np.clip(at, self._stamps[0], self._stamps[-1])


def make_drive(
    measurement: Measurement, torque_per_effort: FloatArray, until: float, step: float,
    servo: tuple[FloatArray, FloatArray],
) -> Drive:
    """
    Return what drives rollouts for a time [s], in steps of another [s].

    `servo` has stiffness and damping (n,) of the servo [N m/rad], [N m s/rad].
    """
    steps = round(until / step)
    ends = step * np.arange(steps + 1.0)
    return Drive(
        step,
        measurement.effort(ends[:-1] + 0.5 * step) * torque_per_effort,
        measurement.position(ends), measurement.velocity(ends), *servo,
    )


def measure_drift(
    robot: RobotModel, name: str, loop: str, q: FloatArray, measured: FloatArray
) -> Simulated:
    """Return simulated and measured positions (T, S, n) [rad] as rollouts with their drift."""
    _, _, prismatic = joint_axes(robot.pinocchio)
    difference = q - measured
    with np.errstate(invalid='ignore'):
        far = ~(np.abs(difference) < np.where(prismatic, LOST_WAY, LOST_ANGLE))
    # What was lost once is lost, wherever chance takes it later.
    drift = np.where(np.logical_or.accumulate(far, axis=0), np.inf, difference)
    known = np.isfinite(q).all(axis=2)
    tool = np.full(known.shape, np.inf)
    frame = tool_frame(robot)
    tool[known] = np.linalg.norm(
        tool_positions(robot, frame, q[known]) - tool_positions(robot, frame, measured[known]),
        axis=1,
    )
    return Simulated(name, loop, q, drift, tool)


def tool_positions(robot: RobotModel, frame: str, q: FloatArray) -> FloatArray:
    """Return where a frame is in the root frame (N, 3) [m], at positions (N, n) [rad]."""
    model = robot.pinocchio
    data, index = model.createData(), model.getFrameId(frame)
    places = np.empty((len(q), 3))
    for place, one in zip(places, q, strict=True):
        pin.forwardKinematics(model, data, one)
        place[:] = pin.updateFramePlacement(model, data, index).translation
    return places


def quantile(values: FloatArray, share: float) -> FloatArray:
    """Return what a share of the starts (axis 1) does not exceed: one of the values."""
    found: FloatArray = np.quantile(values, share, axis=1, method='higher')
    return found


def describe_rollout(rollout: Rollout) -> list[str]:
    """Return the drift in words, the most telling first."""
    plan = rollout.plan
    if not plan.horizons:
        return [f'drift: not checked ({"; ".join(rollout.not_checked)})']
    at = min(1, len(plan.horizons) - 1)
    words = []
    for loop, under in (
        (OPEN, 'under the measured effort alone'),
        (CLOSED, f'with a PD of {rollout.frequency:g} Hz beside it'),
    ):
        drifts = [
            f'{WORDS[one.name]} {_drift_words(one, rollout, int(plan.stated[at]))}'
            for one in rollout.simulated if one.loop == loop
        ]
        if drifts:
            words.append(
                f'drift of a simulation {under}, {plan.horizons[at]:g} s after '
                f'{len(plan.rows)} measured states (median; 90 % below): {"; ".join(drifts)} '
                f'({plan.bag})'
            )
    return words + [f'drift not checked of {one}' for one in rollout.not_checked]


def find_strays(rollout: Rollout) -> list[str]:
    """Return the joints that a simulation holds worse than a constant velocity, in words."""
    plan = rollout.plan
    exported = rollout.find(MJCF, OPEN) or rollout.find(MODEL, OPEN)
    plain = rollout.find(VELOCITY, OPEN)
    if exported is None or plain is None or not plan.horizons:
        return []
    at = min(1, len(plan.horizons) - 1)
    ours, constant = (
        quantile(np.abs(one.drift), 0.5)[plan.stated[at]] for one in (exported, plain)
    )
    return [
        f'{WORDS[exported.name]} is {1e3 * ours[joint]:.3g} '
        f'{"mm" if rollout.prismatic[joint] else "mrad"} from the recording at '
        f'{plan.joints[joint]} after {plan.horizons[at]:g} s, {WORDS[VELOCITY]} '
        f'{1e3 * constant[joint]:.3g} ({plan.bag})'
        for joint in np.flatnonzero(ours > np.maximum(constant, LEAST_STRAY))
    ]


def _drift_words(one: Simulated, rollout: Rollout, at: int) -> str:
    """Return the drift at one instant: at the tool, and of the joint that drifts most."""
    tool, high = (float(quantile(1e3 * one.tool, share)[at]) for share in (0.5, HIGH_SHARE))
    median = quantile(1e3 * np.abs(one.drift), 0.5)[at]
    worst = int(np.argmax(median))
    where = rollout.plan.joints[worst]
    unit = 'mm' if rollout.prismatic[worst] else 'mrad'
    joint = f'{median[worst]:.3g} {unit} at {where}'
    if not math.isfinite(median[worst]):
        joint = f'{where} lost, further away than {"a metre" if unit == "mm" else "half a turn"}'
    if not math.isfinite(tool):
        return 'breaks down'
    return f'{tool:.3g} mm ({high:.3g}) at the tool, {joint}'


def rollout_content(rollout: Rollout) -> dict[str, Any]:
    """Return the drift as plain numbers [mrad], [mm]; what is lost is None."""
    plan, stated = rollout.plan, rollout.plan.stated
    content: dict[str, Any] = to_finite({
        'bag': plan.bag,
        'joints': plan.joints,
        'starts': len(plan.rows),
        'horizons': plan.horizons,
        'tool': rollout.tool,
        'step': rollout.step,
        'halving': 1e3 * rollout.halving,
        'servo': {
            'frequency': rollout.frequency,
            'stiffness': rollout.stiffness,
            'damping': rollout.damping,
        },
        'models': [
            {
                'model': one.name,
                'loop': one.loop,
                'joint_median': quantile(1e3 * np.abs(one.drift), 0.5)[stated],
                'joint_high': quantile(1e3 * np.abs(one.drift), HIGH_SHARE)[stated],
                'tool_median': quantile(1e3 * one.tool, 0.5)[stated],
                'tool_high': quantile(1e3 * one.tool, HIGH_SHARE)[stated],
                'lost': np.isinf(one.drift[stated]).any(axis=2).sum(axis=1),
            }
            for one in rollout.simulated if plan.horizons
        ],
        'not_checked': rollout.not_checked,
    })
    return content


def with_rollouts(validation: Validation, rollouts: Sequence[Rollout]) -> Validation:
    """Return a validation with the drift of simulations, also in the verdict's words."""
    unseen = [one for one in rollouts if one.plan.bag not in validation.training] or rollouts
    words = [text for one in unseen for text in describe_rollout(one)]
    verdict = replace(validation.verdict, reasons=(*validation.verdict.reasons, *words)).limited([
        Limit(SIMULATION, BAD, text) for one in unseen for text in find_strays(one)
    ])
    return replace(
        validation, verdict=verdict, rollouts=tuple(rollout_content(one) for one in rollouts)
    )
