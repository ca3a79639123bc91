# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Forward dynamics of many rollouts at once, with friction that is stiff and has a memory.

A step is a leapfrog step: bodies at the positions in its middle, friction and servo at the
velocities of its end. The latter makes it stable for any friction and any servo: dry friction
that reverses within 0.003 rad/s on a wrist of 0.01 kg m^2 has a time constant of microseconds.
Velocities of the end solve ``M (v - dq) / h + b = tau - F(v)``, the condition for a minimum of a
convex function where friction grows with velocity, by Newton's method with a search along its
step. Without friction the error of a step is of third order, with friction of second order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray, IntArray
from robot_identification.errors import DataError
from robot_identification.model import (
    evaluation_order, IdentifiedModel, LARGEST_SHARE, RigidTorque, RobotModel, run_stops,
    SampleBasis,
)
from robot_identification.prediction.sample_torque import FrictionLayout, lay_out_friction
from robot_identification.processing import Dataset
from robot_identification.simulation import Drive

# A sign of the velocity is a jump that no velocity solves; it becomes as steep as this [rad/s]:
# a tenth of the steepest passage among the dictionary's.
SIGN_WIDTH = 3.0e-4
# Velocities are solved for up to this [rad/s]: 1e-9 rad in a step of a millisecond.
SOLVED = 1.0e-6
MOST_ITERATIONS = 60  # chosen: 3 are usual, 20 at a reversal of several joints
MOST_HALVINGS = 40  # of a search along a Newton step
# Of the slope along the step; chosen: a Newton step that leaves less is taken.
SEARCHED = 0.1
# Differences of velocities that friction is differentiated by [rad/s].
DIFFERENCE = 1.0e-8
# No arm is as fast [rad/s]; such a rollout is lost, and not a number from there on.
LOST_SPEED = 1.0e3


@dataclass(frozen=True, eq=False)
class ArmStates:
    """States of S rollouts."""

    # (S, n): position [rad], velocity [rad/s], acceleration in the step before [rad/s^2].
    q: FloatArray
    dq: FloatArray
    ddq: FloatArray
    bend: FloatArray  # (S, s): deflections of the stop operators [rad]
    temperature: FloatArray | None  # (S, n): of the joints, constant [deg C]

    def part(self, rows: BoolArray | IntArray) -> ArmStates:
        """Return some of the rollouts."""
        temperature = None if self.temperature is None else self.temperature[rows]
        return ArmStates(
            self.q[rows], self.dq[rows], self.ddq[rows], self.bend[rows], temperature
        )


class ForwardDynamics:
    """
    An arm that is driven by torques: bodies, rotors and friction of a model.

    A description has no friction, and rotors where the robot's YAML states them. Raises DataError
    for a model of two encoders a joint, whose joints turn on both sides.
    """

    def __init__(self, model: IdentifiedModel | RobotModel) -> None:
        if isinstance(model, IdentifiedModel) and model.uses_rotors:
            raise DataError(
                f'the model of {model.robot.name} has two encoders a joint, and its joints are '
                'elastic: rollouts know stiff joints only'
            )
        self._rigid = RigidTorque(model)
        self._layout = None
        if isinstance(model, IdentifiedModel):
            self._layout = _without_jumps(lay_out_friction(model))
        functions = [] if self._layout is None else self._layout.functions
        self._basis = SampleBasis(self._rigid.robot.n, functions)

    def start(self, dataset: Dataset, rows: IntArray) -> ArmStates:
        """
        Return the states measured at some rows of a recording.

        Friction before sliding starts at rest at the first sample and runs through the recording.
        Raises DataError if friction needs a temperature that was not recorded.
        """
        motion = dataset.motion
        temperature = None if motion.temperature is None else motion.temperature[rows]
        if self._layout is not None and self._layout.heated.any():
            if temperature is None or not np.isfinite(temperature[:, self._layout.heated]).all():
                raise DataError(
                    f'{dataset.source} has no joint temperatures, which the friction of this '
                    'model needs: record them, or choose laws without temperature'
                )
        q, dq = np.array(motion.q[rows]), np.array(motion.dq[rows])
        return ArmStates(q, dq, np.zeros_like(q), self._bend(dataset, rows), temperature)

    def _bend(self, dataset: Dataset, rows: IntArray) -> FloatArray:
        """Return the deflections (S, s) of the stop operators at some rows of a recording."""
        joints, radii = self._basis.stops
        found = np.zeros((len(rows), len(radii)))
        if not radii.size:
            return found
        starts = sorted({0, *dataset.motion.starts})
        for first, last in zip(starts, [*starts[1:], len(dataset)], strict=True):
            inside = np.flatnonzero((rows >= first) & (rows < last))
            if not inside.size:
                continue
            for joint in np.unique(joints):
                own = np.flatnonzero(joints == joint)
                q = np.asarray(dataset.motion.q[first: rows[inside].max() + 1, joint])
                bends = run_stops(q, radii[own], np.zeros(own.size), float(q[0]))
                found[np.ix_(inside, own)] = bends[rows[inside] - first]
        return found

    def roll_out(self, states: ArmStates, drive: Drive) -> FloatArray:
        """
        Return the positions (K + 1, S, n) [rad] of rollouts.

        What becomes faster than any arm is not a number from there on.
        """
        positions = np.full((drive.steps + 1, *states.q.shape), np.nan)
        positions[0], kept = states.q, np.arange(len(states.q))
        for step in range(drive.steps):
            states = self._step(states, drive, step, kept)
            sound = np.all(np.abs(states.dq) < LOST_SPEED, axis=1)
            if not sound.all():
                states, kept = states.part(sound), kept[sound]
            if not kept.size:
                break
            positions[step + 1, kept] = states.q
        return positions

    def inertias(self, states: ArmStates) -> FloatArray:
        """Return the mass matrices (S, n, n) [kg m^2]."""
        return np.stack([self._rigid.inertia(q) for q in states.q])

    def _step(
        self, states: ArmStates, drive: Drive, step: int, kept: IntArray
    ) -> ArmStates:
        """Return the states after a step."""
        h = drive.step
        middle = zip(
            states.q + 0.5 * h * states.dq, states.dq + 0.5 * h * states.ddq, strict=True
        )
        found = [self._rigid.inertia_and_bias(q, dq) for q, dq in middle]
        inertia = np.stack([one for one, _ in found]) / h
        bias = np.stack([one for _, one in found])
        torque = drive.torque[step, kept] + drive.stiffness * (
            drive.q[step + 1, kept] - states.q
        ) + drive.damping * drive.dq[step + 1, kept]
        servo = h * drive.stiffness + drive.damping

        def passed_on(v: FloatArray, rows: IntArray) -> FloatArray:
            """Return what is left of the torque behind friction, at velocities of the end."""
            return self._passed_on(v, torque[rows] - servo * v, states.part(rows), h)

        v = _solve_velocities(inertia, bias, states.dq, states.dq + h * states.ddq, passed_on)
        return replace(
            states,
            q=states.q + 0.5 * h * (states.dq + v),
            dq=v,
            ddq=(v - states.dq) / h,
            bend=self._bend_after(states.bend, v, h),
        )

    def _bend_after(self, bend: FloatArray, v: FloatArray, h: float) -> FloatArray:
        joints, radii = self._basis.stops
        bent: FloatArray = np.clip(bend + h * v[:, joints], -radii, radii)
        return bent

    def _passed_on(
        self, v: FloatArray, torque: FloatArray, states: ArmStates, h: float
    ) -> FloatArray:
        """
        Return the torque (S, n) [N m] that moves bodies and rotors.

        Where friction depends on the load r it solves ``r = torque - A - B abs(r)``, which has the
        sign of ``torque - A``.
        """
        if self._layout is None:
            return torque
        n = v.shape[1]
        values = self._basis.at(v, self._bend_after(states.bend, v, h))
        sums = (self._layout.cold @ values).T
        if states.temperature is not None and self._layout.heated.any():
            warm = np.where(self._layout.heated, states.temperature, 0.0)
            sums = sums + (self._layout.per_kelvin @ values).T * np.hstack([warm, warm])
        left: FloatArray = torque - sums[:, :n]
        share = np.clip(np.sign(left) * sums[:, n:], -LARGEST_SHARE, None)
        return left / (1.0 + share)


def _without_jumps(layout: FrictionLayout) -> FrictionLayout:
    """Return a layout in which the sign of the velocity is a steep passage through zero."""
    order = sorted((
        (function._replace(kind='smooth_sign', constants=(SIGN_WIDTH,))
         if function.kind == 'sign' else function, row)
        for row, function in enumerate(layout.functions)
    ), key=lambda one: evaluation_order(one[0]))
    rows = [row for _, row in order]
    return FrictionLayout(
        [function for function, _ in order], layout.cold[:, rows], layout.per_kelvin[:, rows]
    )


def _solve_velocities(
    inertia: FloatArray,
    bias: FloatArray,
    before: FloatArray,
    guess: FloatArray,
    passed_on: Callable[[FloatArray, IntArray], FloatArray],
) -> FloatArray:
    """
    Return v (S, n) with ``inertia (v - before) + bias = passed_on(v)``.

    `inertia` (S, n, n) is over the step's time [kg m^2/s], `bias` (S, n) a torque [N m]; `before`
    and `guess` (S, n) are velocities [rad/s]. `passed_on` takes velocities of some rows.
    """
    v = guess.copy()
    active: IntArray = np.arange(len(v))

    def excess(at: FloatArray, rows: IntArray) -> FloatArray:
        moved = at - before[rows]
        lacking: FloatArray = (
            (inertia[rows] @ moved[:, :, None])[:, :, 0] + bias[rows] - passed_on(at, rows)
        )
        return lacking

    n = v.shape[1]
    for _ in range(MOST_ITERATIONS):
        at = v[active]
        both = np.concatenate([at, at + DIFFERENCE])
        torque = passed_on(both, np.concatenate([active, active]))
        here, there = torque[: len(at)], torque[len(at):]
        moved = at - before[active]
        lacking = (inertia[active] @ moved[:, :, None])[:, :, 0] + bias[active] - here
        slope = np.maximum((here - there) / DIFFERENCE, 0.0)
        jacobian = inertia[active] + slope[:, :, None] * np.eye(n)
        newton = -np.linalg.solve(jacobian, lacking[:, :, None])[:, :, 0]
        # What is lost is not a number, and is not solved for any more.
        left = np.abs(newton).max(axis=1) > SOLVED
        v[active[~left]] += newton[~left]
        at, newton, lacking, active = at[left], newton[left], lacking[left], active[left]
        if not active.size:
            break
        v[active] = at + _searched(at, newton, lacking, active, excess)
    return v


def _searched(
    at: FloatArray,
    newton: FloatArray,
    lacking: FloatArray,
    rows: IntArray,
    excess: Callable[[FloatArray, IntArray], FloatArray],
) -> FloatArray:
    """
    Return Newton steps (S, n), shortened to where the slope along them is small or rises no more.

    Friction that saturates makes Newton's method leap from one direction of motion to the other
    and back; the zero of the slope along the step is found by halving what brackets it.
    """
    falls = np.einsum('ij,ij->i', lacking, newton)
    low, high = np.zeros(len(at)), np.ones(len(at))
    share = np.ones(len(at))
    searched = np.arange(len(at))
    for _ in range(MOST_HALVINGS):
        part = newton[searched]
        slope = np.einsum(
            'ij,ij->i', excess(at[searched] + share[searched, None] * part, rows[searched]), part
        )
        rises = slope > SEARCHED * np.abs(falls[searched])
        # The full step may fall still.
        falling = (slope < -SEARCHED * np.abs(falls[searched])) & (share[searched] < 1.0)
        high[searched[rises]] = share[searched[rises]]
        low[searched[falling]] = share[searched[falling]]
        searched = searched[rises | falling]
        if not searched.size:
            break
        share[searched] = 0.5 * (low[searched] + high[searched])
    return share[:, None] * newton
