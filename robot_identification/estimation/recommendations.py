# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Parameters that the data hardly show or the prior decides, and the motions that would show them.

Nothing is looked up: samples of the recorded motion are changed joint by joint (another position,
a higher speed, a higher acceleration), added to the factors of the data, and what that does to
each parameter's information is recommended. Friction is asked with short motions of its joint.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import UsageError
from robot_identification.estimation.estimate import Estimate
from robot_identification.estimation.problem import Observations
from robot_identification.estimation.solving import without
from robot_identification.estimation.uncertainty.covariance import Covariance
from robot_identification.estimation.uncertainty.scatter import held_by_bounds
from robot_identification.excitation import standard_errors
from robot_identification.model import (
    JointMotion, Motion, observation_matrix, random_motion, RobotModel, run_friction,
    StandardParameters,
)
from robot_identification.processing import MOVING_SPEED

# A relative standard error above this is no knowledge of a parameter.
WEAK_SHARE = 0.5
# Samples of the recorded motion, enough to tell where its joints are and how fast.
SAMPLES = 60
# Twenty seconds of a better motion must raise the information so much to be worth a word: they
# halve the standard error.
WORTH_RECOMMENDING = 4.0
EXTRA_SAMPLES = 2000  # twenty seconds at 100 Hz
# A change of the motion without which less than this part of the information is left is needed.
NEEDED_SHARE, MOST_CHANGES = 0.75, 3
# Fast and slow motion of a single joint: speed [rad/s], way to either side [rad].
FAST, SLOW, TINY = (2.0, 1.0), (0.05, 0.1), (0.02, 0.005)
# Speeds below this are slow [rad/s]; one kind of motion that fills less of the time is missing.
SLOW_SPEED, MISSING_SHARE = 0.1, 0.05
# Part of a column's usual length by which one that the data do not hold is held at all.
HELD = 1.0e-6

# Signals of a motion by quantity.
QUANTITIES = {'position': 'q', 'speed': 'dq', 'acceleration': 'ddq'}


@dataclass(frozen=True)
class Recommendation:
    """Recommended motion for parameters that are poorly known."""

    parameters: tuple[str, ...]  # base parameters by name
    finding: str  # what is wrong with them
    motion: str  # what to do
    gain: float  # how much twenty seconds of it would raise their information, at least

    def __str__(self) -> str:
        return f'{", ".join(self.parameters)} ({self.finding}): {self.motion}'


def prior_decided(estimate: Estimate) -> tuple[str, ...]:
    """
    Return the parameters of which the prior knows more than the data.

    That is the one that alone would leave the smaller error.
    """
    problem, prior = estimate.problem, estimate.prior
    if problem is None or prior is None:
        return ()
    R, _ = problem.stacked(estimate.weights)
    names = problem.reduction.names
    free = ~held_by_bounds(estimate)
    kept = np.append(free, np.ones(problem.size - len(names), dtype=bool))
    data, known = (standard_errors(rows[:, kept])[: free.sum()] for rows in (R, prior.matrix))
    return tuple(np.array(names)[free][known < data].tolist())


def recommend(
    robot: RobotModel, estimate: Estimate, covariance: Covariance,
    unidentifiable: Sequence[str] = (), recorded: Observations | None = None,
) -> tuple[Recommendation, ...]:
    """
    Return what would show the parameters that the data did not, most helpful first.

    Parameters that are `unidentifiable` were left out of the problem; one that no motion helps is
    left out of the result. `recorded` has the motion that they are looked for in, by default that
    of the estimate; an estimate without its observations raises a `UsageError`.
    """
    problem = estimate.problem
    recorded = recorded or (None if problem is None else problem.observations)
    if problem is None or recorded is None:
        raise UsageError('a recommendation needs the recorded motion: identify from the bags')
    findings = _findings(problem.reduction.names, estimate, covariance, unidentifiable)
    if not findings:
        return ()
    asked = _Question(robot, estimate, unidentifiable, _recorded_motion(recorded))
    bodies = [name for name in findings if asked.is_body(name)]
    answers = asked.ask_bodies(bodies) if bodies else {}
    for name in findings:
        if name not in answers:
            answers[name] = asked.ask_friction(name)
    groups: dict[tuple[str, str], list[tuple[str, float]]] = {}
    for name, finding in findings.items():
        motion, gain = answers[name]
        if motion and gain >= WORTH_RECOMMENDING:
            groups.setdefault((finding, motion), []).append((name, gain))
    found = [
        Recommendation(
            tuple(name for name, _ in members), finding, motion,
            # It is infinite where the data hold no information.
            min(*(gain for _, gain in members), 1.0e6),
        )
        for (finding, motion), members in groups.items()
    ]
    return tuple(sorted(found, key=lambda one: -one.gain))


def _findings(
    names: Sequence[str], estimate: Estimate, covariance: Covariance, unidentifiable: Sequence[str]
) -> dict[str, str]:
    """Return what is wrong with each parameter that the data hardly show."""
    findings = dict.fromkeys(unidentifiable, 'the data do not determine it')
    decided = set(prior_decided(estimate))
    errors = covariance.standard_errors
    for name, value, error in zip(names, estimate.theta, errors, strict=True):
        if name in decided:
            findings[name] = 'the prior says more of it than the data'
        elif error > WEAK_SHARE * abs(value):
            findings[name] = f'standard error above {WEAK_SHARE:.0%}'
    return findings


def _recorded_motion(observations: Observations) -> Motion:
    """Return samples spread evenly over what was fitted."""
    motions, total = [], observations.samples
    for part in observations.data:
        at = np.flatnonzero(part.rows)
        count = max(round(SAMPLES * len(at) / max(total, 1)), 1) if len(at) else 0
        motions.append(part.dataset.motion.rows(at[np.linspace(
            0, len(at) - 1, count
        ).astype(int)]))
    q, dq, ddq = (
        np.concatenate([getattr(motion, name) for motion in motions])
        for name in ('q', 'dq', 'ddq')
    )
    # The shares of the recordings were rounded.
    again = np.resize(np.arange(len(q)), SAMPLES)
    return Motion(q[again], dq[again], ddq[again])


class _Question:
    """Gain of a better motion beyond the present data."""

    def __init__(
        self, robot: RobotModel, estimate: Estimate, unidentifiable: Sequence[str],
        recorded: Motion,
    ) -> None:
        assert estimate.problem is not None
        reduction = estimate.problem.reduction
        self.robot, self.parameters = robot, reduction.parameters
        self.names = (*reduction.names, *unidentifiable)
        self._columns = [self.parameters.names.index(name) for name in self.names]
        self._weights, self._recorded = estimate.weights, recorded
        self._fast = _fast_motion(robot, len(recorded))
        # What is held by a bound is known.
        self._free = np.append(
            ~held_by_bounds(estimate), np.ones(len(unidentifiable), dtype=bool)
        )
        R, _ = estimate.problem.stacked(estimate.weights)
        data = np.zeros((len(R), len(self.names)))
        data[:, : reduction.rank] = R[:, : reduction.rank]
        # The offsets of recordings are not asked for.
        data = without(np.linalg.qr(R[:, reduction.rank:])[0], data)
        # Of friction, what samples that need not follow each other show.
        self._plain = StandardParameters(
            robot.n,
            tuple(
                term for term in self.parameters.friction
                if not (
                    term.law.initial_state().size or term.law.needs_temperature
                    or term.law.needs_rigid_torque
                )
            ),
            self.parameters.reflected_inertia,
        )
        usual = np.linalg.norm(self._rows(self._fast), axis=0)
        hold = HELD * np.diag(np.maximum(usual, np.finfo(float).tiny))
        self._known = np.linalg.qr(np.vstack([data, hold])[:, self._free], mode='r')
        self._before = self._information_with(self._rows(recorded))
        self._of_joints: dict[int, list[tuple[str, FloatArray]]] = {}

    def is_body(self, name: str) -> bool:
        """Return whether a parameter is one of bodies and rotors."""
        column = self.parameters.names.index(name)
        rotors = self.parameters.reflected_inertia_slice
        return column < 10 * self.robot.n or rotors.start <= column < rotors.stop

    def ask_bodies(self, names: Sequence[str]) -> dict[str, tuple[str, float]]:
        """Return for parameters of bodies the motion that shows them, and what it gains."""
        at = [self.names.index(name) for name in names]
        changes = [
            (joint, quantity) for joint in range(self.robot.n) for quantity in QUANTITIES
        ]
        whole = self._information_after(changes)
        without = np.array([
            self._information_after([other for other in changes if other != change])
            for change in changes
        ])
        answers = {}
        cache: dict[tuple[int, ...], FloatArray] = {}
        for name, place in zip(names, at, strict=True):
            left = without[:, place] / max(whole[place], np.finfo(float).tiny)
            order = [int(k) for k in np.argsort(left, kind='stable')]
            chosen: tuple[int, ...] = ()
            gain = 1.0
            for k in order[: 2 * MOST_CHANGES]:
                if len(chosen) == MOST_CHANGES or (chosen and left[k] > NEEDED_SHARE):
                    break
                wider = tuple(sorted((*chosen, k)))
                if wider not in cache:
                    cache[wider] = self._information_after([changes[i] for i in wider])
                better = self._gain(cache[wider], place)
                # A change that helps only together with the next one is kept until then.
                chosen, gain = wider, max(better, gain)
            answers[name] = (self._describe([changes[k] for k in chosen]), float(gain))
        return answers

    def ask_friction(self, name: str) -> tuple[str, float]:
        """Return for a friction coefficient the motion of its joint that shows it."""
        place = self.names.index(name)
        column = self._columns[place]
        joint = next(
            term.joint
            for term, columns in self.parameters.friction_columns
            if columns.start <= column < columns.stop
        )
        if joint not in self._of_joints:
            self._of_joints[joint] = [
                (text, self._information_with(self._friction_rows(joint, motion)))
                for text, motion in self._friction_motions(joint)
            ]
        best, words = 1.0, ''
        for text, information in self._of_joints[joint]:
            gain = self._gain(information, place)
            if gain > best:
                best, words = gain, text
        fact = self._fact(joint)
        return (f'{words} ({fact})' if words and fact else words), best

    def _gain(self, information: FloatArray, place: int) -> float:
        """Return by what factor the information on a parameter grows; infinite after none."""
        with np.errstate(divide='ignore', over='ignore', invalid='ignore'):
            gain = float(information[place] / self._before[place])
        return 1.0 if np.isnan(gain) else gain

    def _information_after(self, changes: Sequence[tuple[int, str]]) -> FloatArray:
        """Return `_information_with` the recorded samples, some of which are changed."""
        return self._information_with(self._rows(self._changed(changes)))

    def _information_with(self, rows: FloatArray) -> FloatArray:
        """Return the information on every parameter with some rows more, as EXTRA_SAMPLES."""
        share = np.sqrt(EXTRA_SAMPLES * self.robot.n / max(len(rows), 1))
        errors = np.zeros(len(self.names))
        errors[self._free] = standard_errors(
            np.vstack([self._known, share * rows[:, self._free]])
        )
        with np.errstate(divide='ignore'):
            return 1.0 / errors**2

    def _rows(self, motion: Motion) -> FloatArray:
        """Return weighted rows of samples that need not follow each other, (m n, unknowns)."""
        W = observation_matrix(self.robot, self._plain, motion)
        rows = np.zeros((len(W), len(self.names)))
        for column, name in zip(W.T, self._plain.names, strict=True):
            if name in self.names:
                rows[:, self.names.index(name)] = column
        weighted: FloatArray = rows * np.tile(self._weights, len(motion))[:, None]
        return weighted

    def _changed(self, changes: Sequence[tuple[int, str]]) -> Motion:
        """Return the recorded samples with some quantities of some joints made fast."""
        signals = {name: getattr(self._recorded, name).copy() for name in QUANTITIES.values()}
        for joint, quantity in changes:
            name = QUANTITIES[quantity]
            signals[name][:, joint] = getattr(self._fast, name)[:, joint]
        return Motion(**signals)

    def _describe(self, changes: Sequence[tuple[int, str]]) -> str:
        """Return changes of the recorded motion in words."""
        by_joint: dict[int, list[str]] = {}
        for joint, quantity in changes:
            by_joint.setdefault(joint, []).append(quantity)
        moved, placed = [], []
        for joint, quantities in by_joint.items():
            unit, name = self.robot.position_units[joint], self.robot.joint_names[joint]
            q = self._recorded.q[:, joint]
            if 'speed' in quantities or 'acceleration' in quantities:
                text = f'turn {name}' if unit == 'rad' else f'slide {name}'
                if 'speed' in quantities:
                    reached = np.max(np.abs(self._recorded.dq[:, joint]))
                    text += f' faster than {reached:.2g} {unit}/s'
                if 'acceleration' in quantities:
                    text += ' and' if 'speed' in quantities else ''
                    reached = np.max(np.abs(self._recorded.ddq[:, joint]))
                    text += f' with more than {reached:.2g} {unit}/s^2'
                moved.append(text)
            if 'position' in quantities:
                placed.append(
                    f'{name} away from {np.mean(q):.2g} {unit}' if np.ptp(q) < 1.0
                    else f'{name} beyond {q.min():.2g} to {q.max():.2g} {unit}'
                )
        if moved and placed:
            return f'{" and ".join(moved)}, with {" and ".join(placed)}'
        return ' and '.join(moved) or 'repeat the motion with ' + ' and '.join(placed)

    def _friction_motions(self, joint: int) -> Iterator[tuple[str, JointMotion]]:
        """Yield short motions of a joint and what they are called."""
        name, unit = self.robot.joint_names[joint], self.robot.position_units[joint]
        allowed = self.robot.limits.velocity[joint]
        fast = min(FAST[0], allowed) if np.isfinite(allowed) else FAST[0]
        limit = self.robot.limits.effort[joint]
        load = limit if np.isfinite(limit) and limit > 0.0 else 50.0
        phase = np.linspace(0.0, 4.0 * np.pi, 400)
        temperature = np.full(phase.size, 25.0)
        for text, speed, way, factor, warming in (
            (f'sweep {name} both ways at up to {fast:.2g} {unit}/s', fast, FAST[1], 1.0, 0.0),
            (f'sweep {name} slowly both ways, at {SLOW[0]:g} {unit}/s', *SLOW, 1.0, 0.0),
            (f'reverse {name} after small steps of {TINY[1]:g} {unit}', *TINY, 1.0, 0.0),
            (f'sweep {name} both ways under several loads', fast, FAST[1], load, 0.0),
            (f'sweep {name} both ways while it warms up', fast, FAST[1], 1.0, 20.0),
        ):
            yield text, JointMotion(
                q=way * np.sin(phase),
                dq=speed * np.cos(phase),
                tau_rigid=factor * (1.0 + np.sin(0.25 * phase)) if factor != 1.0
                else np.ones(phase.size),
                temperature=temperature + warming * phase / phase[-1],
            )

    def _friction_rows(self, joint: int, motion: JointMotion) -> FloatArray:
        """Return weighted rows in which only friction of a joint is not known."""
        rows = np.zeros((motion.dq.size, len(self.names)))
        for term, columns in self.parameters.friction_columns:
            if term.joint == joint:
                found, _ = run_friction(term.law, motion, term.law.initial_state(), (0,))
                for k, column in enumerate(range(columns.start, columns.stop)):
                    if column in self._columns:
                        rows[:, self._columns.index(column)] = found[:, k]
        # One row of this joint stands where others have one of every joint.
        scaled: FloatArray = np.sqrt(1.0 / self.robot.n) * (self._weights[joint] * rows)
        return scaled

    def _fact(self, joint: int) -> str:
        """Return what the recorded motion of a joint lacks."""
        unit, dq = self.robot.position_units[joint], self._recorded.dq[:, joint]
        moving = np.abs(dq) > MOVING_SPEED
        if not moving.any():
            return 'it never moved'
        forward = float(np.mean(dq[moving] > 0.0))
        if min(forward, 1.0 - forward) < MISSING_SHARE:
            return 'it turned one way only'
        slow = float(np.mean(np.abs(dq[moving]) < SLOW_SPEED))
        if slow < MISSING_SHARE:
            return f'it hardly moved below {SLOW_SPEED:g} {unit}/s'
        return f'its fastest was {np.max(np.abs(dq)):.2g} {unit}/s'


def _fast_motion(robot: RobotModel, samples: int) -> Motion:
    """Return random samples within the limits of the joints."""
    motion = random_motion(robot, samples, np.random.default_rng(3))
    limits = robot.limits
    return Motion(
        np.clip(motion.q, limits.lower, limits.upper),
        np.clip(motion.dq, -limits.velocity, limits.velocity),
        motion.ddq,
    )
