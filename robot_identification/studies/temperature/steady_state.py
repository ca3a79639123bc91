# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Test of whether an arm that repeats a motion is at a thermal steady state.

Joint temperatures decide where they were recorded. Elsewhere viscous friction does, which falls as
grease warms up (Raviola et al. 2021, section 6). It comes from a plain fit to each run by itself,
with fixed laws and a fixed filter. Such a fit has a bias, as friction is more than two lines; but
the same motion gives the same bias, so that the change from run to run is right where the value
is not. A whole `identify` would choose laws and filters anew for each run, takes longer than the
arm may rest between runs, and its values change with the choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import NotIdentifiableError, UsageError
from robot_identification.estimation import ESTIMATORS, fit_parameters, observe
from robot_identification.model import (
    EFFORT_UNITS, KinematicFilter, parse_friction, PLAIN_FRICTION, RobotModel,
)
from robot_identification.processing import find_unexcited_joints, process
from robot_identification.recording import Recording

TEMPERATURE, FRICTION = 'temperature', 'friction'
# Of the fit to a run; see the module's words.
QUICK_FILTER = KinematicFilter(order=4, cutoff=8.0)
# A change is seen where it is larger than so many of its standard errors.
SEEN = 2.0


@dataclass(frozen=True)
class SteadyStateOptions:
    """Criteria of a thermal steady state."""

    rise: float = 0.5  # largest change of any joint's mean temperature from run to run [K]
    # Largest change of any joint's viscous friction from run to run, as a share.
    change: float = 0.02
    runs: int = 2  # changes in a row that must be as small

    def __post_init__(self) -> None:
        for name, value in (('rise', self.rise), ('change', self.change)):
            if not (np.isfinite(value) and value > 0.0):
                raise UsageError(f'steady state: {name} is {value:g}, it must be above 0')
        if self.runs < 1:
            raise UsageError(f'steady state: runs is {self.runs}, at least 1 is needed')


@dataclass(frozen=True, eq=False)
class RunFigures:
    """Figures of one run of the motion."""

    # (n,): mean temperature of each joint [deg C], if recorded.
    temperature: FloatArray | None = None
    # (n,): viscous friction of each joint [N m s/rad, or that per unknown drive gain]; NaN of a
    # joint whose friction the motion does not show.
    viscous: FloatArray | None = None
    error: FloatArray | None = None  # (n,): its standard error


@dataclass(frozen=True)
class SteadyState:
    """Judgement after the runs so far."""

    reached: bool  # whether the arm may be taken as warm
    by: str  # 'temperature' or 'friction'
    joint: int  # whose it is; -1 where there is none
    reason: str  # the same in words


def mean_temperature_of(recording: Recording) -> FloatArray | None:
    """Return the mean temperature of each joint [deg C], None if any was not recorded."""
    channel = recording.channels.get('temperature')
    if channel is None or not len(channel):
        return None
    values = np.asarray(channel.values, dtype=float)
    values = values[np.all(np.isfinite(values), axis=1)]
    if not len(values):
        return None
    mean: FloatArray = values.mean(axis=0)
    return mean


def viscous_friction_of(
    robot: RobotModel, recording: Recording, unit: str
) -> tuple[FloatArray, FloatArray]:
    """
    Return the viscous friction (n,) of a run by a quick fit, and its standard errors.

    Unknown drive gains count as one. NaN stands for a joint whose friction the motion does not
    show. Errors are those of white residuals: friction beyond the laws is the same in all runs.
    Raises `NotIdentifiableError` if no joint moved.
    """
    robot = robot.for_effort(unit)
    if EFFORT_UNITS[unit].is_current and not np.all(np.isfinite(robot.drives.drive_gain)):
        robot = robot.with_drive_gains(np.ones(robot.n))
    dataset = process(recording, QUICK_FILTER, unit, robot=robot)
    unexcited = find_unexcited_joints([dataset])
    if len(unexcited) == robot.n:
        raise NotIdentifiableError(f'{recording.source}: no joint moved, record a motion')
    fit = fit_parameters(
        observe(robot, parse_friction(PLAIN_FRICTION), [dataset], [dataset.fitted]), unexcited,
        ESTIMATORS['wls'](),
    )
    viscous, error = np.full(robot.n, np.nan), np.full(robot.n, np.nan)
    for name, value, its_error in zip(
        fit.problem.reduction.names, fit.estimate.theta, fit.estimate.standard_errors, strict=True
    ):
        for joint in range(robot.n):
            if name == f'fv{joint + 1}':
                viscous[joint], error[joint] = value, its_error
    return viscous, error


def figures_of_run(robot: RobotModel, recording: Recording, unit: str) -> RunFigures:
    """
    Return the figures of a run that show the steady state: temperatures, else viscous friction.

    `unit` of the effort is one of EFFORT_UNITS. Raises NotIdentifiableError if there are no
    temperatures and no joint moved.
    """
    temperature = mean_temperature_of(recording)
    if temperature is not None:
        return RunFigures(temperature)
    return RunFigures(None, *viscous_friction_of(robot, recording, unit))


def judge_steady_state(
    runs: Sequence[RunFigures], joint_names: Sequence[str], options: SteadyStateOptions
) -> SteadyState:
    """
    Judge from runs in the order of time whether an arm is at a steady state.

    Joint names are for the reason in words. Raises UsageError if some runs have temperatures and
    others have not.
    """
    have = {run.temperature is not None for run in runs}
    if len(have) > 1:
        raise UsageError(
            'some runs have joint temperatures and others have not: record them in all runs or '
            'in none'
        )
    if have == {True}:
        values = np.array([run.temperature for run in runs])
        changes = np.abs(np.diff(values, axis=0))
        return _judge(TEMPERATURE, changes, joint_names, options.runs, options.rise)
    viscous = np.array([run.viscous for run in runs if run.viscous is not None])
    errors = np.array([run.error for run in runs if run.error is not None])
    return _judge(
        FRICTION, friction_changes(viscous, errors, options.change), joint_names, options.runs,
        options.change,
    )


def friction_changes(viscous: FloatArray, errors: FloatArray, change: float) -> FloatArray:
    """
    Return changes of viscous friction from run to run, as shares of the run before, (R - 1, n).

    Friction and errors are of shape (R, n). NaN where `change`, a share, is within the errors.
    """
    if len(viscous) < 2:
        return np.zeros((0, viscous.shape[1] if viscous.ndim == 2 else 0))
    before = np.abs(viscous[:-1])
    noise = SEEN * np.hypot(errors[:-1], errors[1:])
    known = noise <= change * before
    shares = np.abs(np.diff(viscous, axis=0)) / np.where(known, before, 1.0)
    return np.where(known & np.isfinite(shares), shares, np.nan)


def _judge(
    by: str, changes: FloatArray, joint_names: Sequence[str], runs: int, limit: float
) -> SteadyState:
    what = 'temperatures' if by == TEMPERATURE else 'viscous friction'
    if not len(changes):
        return SteadyState(False, by, -1, f'{what} of one run: nothing to compare with')
    last = changes[-runs:]
    if not np.all(np.any(np.isfinite(last), axis=1)):
        return SteadyState(
            False, by, -1,
            f'{what}: the errors of every joint are larger than a change of {limit:.1%} would '
            'be; record joint temperatures, or a longer or faster motion',
        )
    largest = float(np.nanmax(last))
    joint = int(np.nanargmax(np.nanmax(last, axis=0, initial=-np.inf, where=np.isfinite(last))))
    amount, bound = (
        (f'{largest:.2f} K', f'{limit:g} K') if by == TEMPERATURE
        else (f'{largest:.2%}', f'{limit:.2%}')
    )
    reached = len(changes) >= runs and largest < limit
    many = f'in the last {len(last)} change{"s" if len(last) > 1 else ""} from run to run'
    reason = f'{what} changed by {amount} at most ({joint_names[joint]}) {many}; settled is '
    reason += f'below {bound} in {runs}'
    silent = [
        name for name, column in zip(joint_names, last.T, strict=True)
        if not np.any(np.isfinite(column))
    ]
    if silent:
        reason += f'; too noisy to decide: {", ".join(silent)}'
    return SteadyState(reached, by, joint, reason)
