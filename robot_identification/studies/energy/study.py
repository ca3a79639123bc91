# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Energy of a motion by an identified model: kinetic energy, power, and what friction takes.

All of them are linear in the base parameters, so that their errors follow from the covariance.
They are taken from the physically consistent parameters where there are such, because kinetic
energy is then never negative.

Kinetic energy is a function of the base parameters alone: a change of standard parameters that
changes no torque does no work along any motion, and from rest it begins with no kinetic energy.
Of the potential energy only differences are known.

Raviola et al. 2021 identify arms for this purpose: kinetic energy along a planned motion, against
what a task near people may have.

References
----------
.. [1] A. Raviola, R. Guida, A. De Martin, S. Pastorelli, S. Mauro, M. Sorli, "Effects of
   temperature and mounting configuration on the dynamic parameters identification of industrial
   robots", Robotics 10(3), 2021.

"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DataError, UsageError
from robot_identification.model import (
    block_slices, check_shows_gravity, energy_regressor, IdentifiedModel, initial_friction_states,
    load_model, Motion, observation_matrix, rigid_and_transmitted_torque,
)
from robot_identification.options import check_options, option
from robot_identification.processing import load_for_model
from robot_identification.studies.comparison import (
    CONFIDENCE, degrees_of_freedom, motion_of_trajectory, RATE,
)
from robot_identification.validation import freedom_of_sums
import scipy

ABOVE, UNDECIDED, BELOW = 'above', 'undecided', 'below'
# Of what the joints do: all, what friction takes, what offsets take.
ALL, LOSS, BIAS = range(3)


@dataclass(frozen=True)
class EnergyOptions:
    """Options of the energy of a motion; raises UsageError if the threshold is not positive."""

    threshold: float | None = option(
        float, 'kinetic energy that --energy is compared with [J]', minimum=0.0, metavar='J'
    )
    trajectory: Path | None = option(
        Path, 'planned motion for --energy instead of a bag', metavar='FILE'
    )

    def __post_init__(self) -> None:
        check_options(self)
        if self.threshold == 0.0:
            raise UsageError('--threshold is 0 J, it must be positive')


@dataclass(frozen=True, eq=False)
class Interval:
    """A figure with its interval at `CONFIDENCE`, over N samples or of n joints."""

    value: FloatArray  # the figure
    half: FloatArray  # half the width of its interval

    @property
    def lower(self) -> FloatArray:
        """Lower ends."""
        return self.value - self.half

    @property
    def upper(self) -> FloatArray:
        """Upper ends."""
        return self.value + self.half


@dataclass(frozen=True, eq=False)
class MotionEnergy:
    """
    Energy of n joints along N samples.

    Over a gap nothing is added to what is delivered or lost.
    """

    joint_names: tuple[str, ...]  # the joints
    stamps: FloatArray  # (N,): [s]
    kinetic: Interval  # of bodies and rotors, shape (N,) [J]
    potential: FloatArray  # (N,): above that of the first sample [J]
    power: Interval  # of all joints together, shape (N,) [W]
    delivered: Interval  # what the joints have delivered so far, shape (N,) [J]
    loss: Interval  # what friction has taken so far, shape (N,) [J]
    bias: FloatArray  # (N,): what offsets of the torque have taken, which is no loss [J]
    # (N, n): of each joint [W].
    joint_power: FloatArray
    joint_friction_power: FloatArray
    # Over the whole motion, shape (n,) [J].
    joint_delivered: Interval
    joint_loss: Interval

    @property
    def peak(self) -> int:
        """Return the sample with the largest kinetic energy."""
        return int(np.argmax(self.kinetic.value))


class Crossing(NamedTuple):
    """A time above a threshold: when it begins and ends [s], and kinetic energy in it [J]."""

    start: float
    stop: float
    largest: float


@dataclass(frozen=True)
class ThresholdCheck:
    """Kinetic energy against a threshold."""

    threshold: float  # [J]
    # Where the largest kinetic energy is, by the model; undecided where an interval reaches above
    # the threshold and no value does; {'above', 'undecided', 'below'}.
    outcome: str
    crossings: tuple[Crossing, ...]  # times above it


@dataclass(frozen=True, eq=False)
class EnergyResult:
    """Result of the study of energy."""

    model: IdentifiedModel  # the model
    model_file: Path  # file of the model
    bag: Path | None  # the recorded motion; None for that of a trajectory
    options: EnergyOptions  # the options, with the planned motion
    energy: MotionEnergy  # the energy
    check: ThresholdCheck | None  # None without a threshold
    notes: tuple[str, ...]  # notes on model and motion


def find_energy(model_file: Path, bag: Path | None, options: EnergyOptions) -> EnergyResult:
    """
    Return the energy of a recorded motion, or of the trajectory that the options name.

    Velocity and acceleration of a bag are smoothed as the model file states; along a trajectory
    joints have the temperatures of the identification. Raises DataError if the scale of the model
    is relative or the trajectory is of other joints, UsageError unless there is either a bag or a
    trajectory, or if a file cannot be used.
    """
    model = load_model(model_file)
    check_shows_gravity(model, 'the work against gravity is not in its torques')
    if (bag is None) == (options.trajectory is None):
        raise UsageError('the energy is that of a bag or of a trajectory: name one of the two')
    if model.relative_scale:
        raise DataError(
            f'the scale of the model of {model.robot.name} is relative, for its drive gains were '
            'unknown: an energy in J cannot be stated; identify with --drive-gains'
        )
    notes: Sequence[str] = ()
    if bag is not None:
        dataset, notes = load_for_model(model, bag)
        stamps, motion = dataset.stamps, dataset.motion
    else:
        assert options.trajectory is not None
        motion = motion_of_trajectory(options.trajectory, model.robot.joint_names)
        motion = motion.at_temperature(model.temperature)
        stamps = np.arange(len(motion)) / RATE
    possible, messages = with_possible_bodies(model)
    energy = energy_of_motion(possible, stamps, motion)
    check = None if options.threshold is None else check_threshold(energy, options.threshold)
    return EnergyResult(
        model, model_file, bag, options, energy, check,
        (*notes, *messages, *energy_notes(model, energy)),
    )


def with_possible_bodies(model: IdentifiedModel) -> tuple[IdentifiedModel, tuple[str, ...]]:
    """
    Return the model whose energies are taken, and what a reader should know of that.

    Parameters that predict torque best need not be physically consistent, and kinetic
    energy is then negative in some states. So it is taken from the physically consistent
    parameters where the model has them; the covariance stays.
    """
    if model.theta_consistent is None:
        return model, (
            'the model has no physically consistent parameters: energies are those of the '
            'identified ones, of which kinetic energy may come out negative',
        )
    return model.with_consistent_parameters(), ()


def energy_of_motion(
    model: IdentifiedModel, stamps: FloatArray, motion: Motion
) -> MotionEnergy:
    """
    Return the energy along N samples of a motion, at stamps (N,) that do not decrease [s].

    The `starts` of the motion are samples before which something is missing. Energies are
    trapezoidal sums. Where friction depends on the load, the error of its loss is that of the
    friction coefficients at the load of the estimate.
    """
    N, n = motion.q.shape
    theta, (freedom, _) = model.theta_base, degrees_of_freedom(model)
    potential, bias = np.zeros(N), np.zeros(N)
    # Kinetic energy, power, delivered, lost: figure and half of its interval.
    figures = np.zeros((4, 2, N))
    joint_powers = np.zeros((2, N, n))
    totals = np.zeros((3, n, len(theta)))
    last = np.zeros_like(totals)
    first: FloatArray | None = None
    for rows, kinetic, heights, powers in _blocks(model, motion):
        first = heights[0] if first is None else first
        potential[rows] = (heights - first) @ theta
        steps = np.diff(stamps[rows], prepend=stamps[max(rows.start - 1, 0)])
        steps[[at - rows.start for at in motion.starts if rows.start <= at < rows.stop]] = 0.0
        before = np.concatenate([last[:, None], powers[:, :-1]], axis=1)
        work = np.cumsum(0.5 * steps[:, None, None] * (powers + before), axis=1)
        so_far = (totals[:, None] + work).sum(axis=2)
        for index, each in enumerate(
            (kinetic, powers[ALL].sum(axis=1), so_far[ALL], so_far[LOSS])
        ):
            figures[index, :, rows] = each @ theta, _half_width(model, freedom, each)
        bias[rows] = so_far[BIAS] @ theta
        joint_powers[:, rows] = powers[[ALL, LOSS]] @ theta
        totals = totals + work[:, -1]
        last = powers[:, -1]
    of_joints = [
        Interval(totals[kind] @ theta, _half_width(model, freedom, totals[kind]))
        for kind in (ALL, LOSS)
    ]
    return MotionEnergy(
        model.robot.joint_names, stamps, Interval(*figures[0]), potential, Interval(*figures[1]),
        Interval(*figures[2]), Interval(*figures[3]), bias, joint_powers[0], joint_powers[1],
        *of_joints,
    )


def check_threshold(energy: MotionEnergy, threshold: float) -> ThresholdCheck:
    """Compare the kinetic energy along a motion with a positive threshold [J]."""
    t, value = energy.stamps, energy.kinetic.value
    above = np.concatenate([[False], value > threshold, [False]])
    edges = np.flatnonzero(np.diff(above.astype(int)))
    crossings = tuple(
        Crossing(
            _instant(t, value, first - 1, first, threshold),
            _instant(t, value, end, end - 1, threshold),
            float(value[first:end].max()),
        )
        for first, end in zip(edges[::2], edges[1::2], strict=True)
    )
    outcome = UNDECIDED if np.any(energy.kinetic.upper > threshold) else BELOW
    return ThresholdCheck(threshold, ABOVE if crossings else outcome, crossings)


def energy_notes(model: IdentifiedModel, energy: MotionEnergy) -> tuple[str, ...]:
    """Return what a reader of energies should know of a model."""
    notes = []
    lost = model.quality.get('lost') or ()
    if lost:
        notes.append(
            f'the model lacks {", ".join(lost)}, which its recordings do not determine: what '
            'these add to the energy is not in it'
        )
    if np.any(energy.kinetic.upper < 0.0):
        notes.append(
            'kinetic energy is negative by more than its interval somewhere: the parameters are '
            'not physically consistent, so take no energy from this model; identify with more '
            'motion'
        )
    return tuple(notes)


def _instant(t: FloatArray, value: FloatArray, outside: int, inside: int, level: float) -> float:
    """Return when a value passes a level between two samples; the inner one at an end."""
    if not 0 <= outside < len(t):
        return float(t[inside])
    share = (level - value[outside]) / (value[inside] - value[outside])
    return float(t[outside] + share * (t[inside] - t[outside]))


def _blocks(
    model: IdentifiedModel, motion: Motion
) -> Iterator[tuple[slice, FloatArray, FloatArray, FloatArray]]:
    """
    Yield factors of the b base parameters: of kinetic and potential energy (M, b), of powers.

    Each is of a slice of M samples; powers (3, M, n, b) are those of all that joints deliver, of
    friction, and of offsets.
    """
    robot, parameters = model.robot, model.parameters
    n, kept = robot.n, model.reduction.independent
    states = initial_friction_states(parameters)
    loaded = any(term.law.needs_rigid_torque for term in parameters.friction)
    parts = np.zeros((3, parameters.size))
    parts[ALL] = 1.0
    for term, columns in parameters.friction_columns:
        parts[BIAS if term.law.is_offset else LOSS, columns] = 1.0
    rotors = parameters.reflected_inertia_slice if parameters.reflected_inertia else slice(0, 0)
    for rows in block_slices(len(motion)):
        part = motion.part(rows)
        transmitted = None
        if loaded:
            _, transmitted = rigid_and_transmitted_torque(
                robot, parameters, model.theta_lifted, part
            )
        W = observation_matrix(robot, parameters, part, states, transmitted)
        Y = W.reshape(len(part), n, -1)
        drive = part.drive_side.dq
        # Bodies move with the links, friction and rotors with the drives.
        Y[:, :, : 10 * n] *= part.dq[:, :, None]
        Y[:, :, 10 * n:] *= drive[:, :, None]
        kinetic, potential = (
            np.zeros((len(part), parameters.size)) for _ in range(2)
        )
        kinetic[:, : 10 * n], potential[:, : 10 * n] = energy_regressor(robot, part)
        kinetic[:, rotors] = 0.5 * drive[:, : rotors.stop - rotors.start] ** 2
        yield (
            rows, kinetic[:, kept], potential[:, kept],
            parts[:, None, None, kept] * Y[None, :, :, kept],
        )


def _half_width(model: IdentifiedModel, freedom: FloatArray, M: FloatArray) -> FloatArray:
    """Return half the widths (m,) of the intervals of ``M @ theta``, M being (m, b)."""
    variance = np.einsum('mb,bc,mc->m', M, model.covariance, M, optimize=True)
    quantile = scipy.special.stdtrit(
        freedom_of_sums(M, np.diag(model.covariance), freedom), 0.5 + 0.5 * CONFIDENCE
    )
    half: FloatArray = quantile * np.sqrt(np.maximum(variance, 0.0))
    return half
