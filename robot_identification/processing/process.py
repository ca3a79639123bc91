# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
From a recording to a dataset.

Only kinematics are filtered: the effort stays as it was recorded, and errors are taken on the
recorded samples.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from robot_identification.errors import DataError
from robot_identification.experiment.recording import Recording
from robot_identification.model.identified_model import KinematicFilter
from robot_identification.model.regressor import Motion
from robot_identification.processing.dataset import BoolArray
from robot_identification.processing.dataset import Dataset
from robot_identification.processing.dataset import FloatArray
from robot_identification.processing.dataset import MOVING_SPEED
from robot_identification.processing.filters import central_difference
from robot_identification.processing.filters import low_pass

# A pause of more periods than this is a gap: nothing is interpolated across it.
GAP_PERIODS = 3.5
MINIMUM_SEGMENT_SAMPLES = 10
MINIMUM_SAMPLES = 50
MAXIMUM_NAN_SHARE = 0.01
# Kinematics to find first and last motion by are smoothed harder than those that are fitted.
TRIM_FILTER = KinematicFilter(cutoff=5.0)


def process(
    recording: Recording,
    kinematic_filter: KinematicFilter,
    effort_unit: str,
    *,
    start: float | None = None,
    stop: float | None = None,
) -> Dataset:
    """
    Make a dataset of a recording.

    Parameters
    ----------
    recording : Recording
        Raw joint states.
    kinematic_filter : KinematicFilter
        Smoothing of velocity and acceleration.
    effort_unit : {'A', 'Nm'}
        Unit of the recorded effort.
    start, stop : float, optional
        Window in seconds after the first joint state. Kinematics before `start` run through the
        filter, effort there is not read; nothing after `stop` is.

    Raises
    ------
    DataError
        If the effort is absent or zero, more than 1 % of the samples is not finite, or too few
        samples remain.

    """
    recording = recording.until(stop)
    excluded: dict[str, int] = {}
    notes: list[str] = []
    if recording.stamps_from == 'log':
        notes.append('header stamps are absent or broken: the time of recording was used instead')
    order = np.argsort(recording.stamps, kind='stable')
    displaced = int(np.count_nonzero(np.diff(recording.stamps) < 0.0))
    if displaced:
        notes.append(f'{displaced} joint states came out of order and were sorted by stamp')
    stamps, q, dq, effort = (
        values[order]
        for values in (recording.stamps, recording.q, recording.dq, recording.effort)
    )
    in_window = stamps >= (-np.inf if start is None else start)
    if not in_window.any():
        raise DataError(
            f'{recording.source} has no joint state on {recording.topic} between '
            f'{start or 0.0:g} s and {"its end" if stop is None else f"{stop:g} s"}: change '
            '--start/--stop'
        )
    _check_effort(recording, effort[in_window])
    # Velocity may be absent altogether; then it comes from the position.
    has_velocity = bool(np.isfinite(dq).any())
    if not has_velocity:
        notes.append('velocity was not recorded: it is differentiated from position')
    kinematics = np.hstack([q, dq]) if has_velocity else q
    kinematic = np.all(np.isfinite(kinematics), axis=1)
    finite = kinematic & (np.all(np.isfinite(effort), axis=1) | ~in_window)
    _check_finite(recording, finite)
    if not np.all(finite):
        excluded['not finite'] = int(np.count_nonzero(~finite))
    stamps, kinematics, effort = stamps[finite], kinematics[finite], effort[finite]
    in_window = in_window[finite]
    if np.count_nonzero(in_window) < MINIMUM_SAMPLES:
        raise DataError(
            f'{recording.source}: {np.count_nonzero(in_window)} usable joint states on '
            f'{recording.topic} between {start or 0.0:g} s and '
            f'{"the end" if stop is None else f"{stop:g} s"}, at least {MINIMUM_SAMPLES} are '
            'needed: record longer, or widen --start/--stop'
        )
    values = np.hstack([kinematics, np.where(in_window[:, None], effort, 0.0)])
    duplicate = _duplicates(stamps, values)
    if duplicate.any():
        excluded['duplicate (scored, not fitted)'] = int(np.count_nonzero(duplicate & in_window))
    fresh = np.flatnonzero(~duplicate)
    if len(fresh) < MINIMUM_SEGMENT_SAMPLES:
        raise DataError(
            f'{recording.source}: {len(fresh)} of {len(stamps)} joint states on '
            f'{recording.topic} are new, all others repeat a stamp or all values: the driver or '
            'its clock stood still'
        )
    period = float(np.median(np.diff(stamps[fresh])))
    segments = _segments(stamps, fresh, GAP_PERIODS * period)
    n = q.shape[1]
    smooth = np.full((len(stamps), 2 * n), np.nan)
    speed = np.full((len(stamps), n), np.nan)
    kept = []
    for segment in segments:
        known = fresh[(fresh >= segment.start) & (fresh < segment.stop)]
        if len(known) < MINIMUM_SEGMENT_SAMPLES:
            excluded['in a part between gaps too short to filter'] = (
                excluded.get('in a part between gaps too short to filter', 0)
                + segment.stop - segment.start
            )
            continue
        smooth[segment] = _smooth(
            stamps[known], kinematics[known], stamps[segment], period, kinematic_filter, n
        )
        speed[segment] = _smooth(
            stamps[known], kinematics[known], stamps[segment], period, TRIM_FILTER, n
        )[:, :n]
        kept.append(segment)
    if len(segments) > 1:
        notes.append(f'{len(segments) - 1} gaps of more than {GAP_PERIODS * period * 1e3:.0f} ms')
    usable = np.isfinite(smooth[:, 0])
    scored = usable & in_window
    fitted = scored & ~duplicate & _between_motions(speed)
    resting = int(np.count_nonzero(scored & ~duplicate & ~fitted))
    if resting:
        excluded['at rest before or after all motion (scored, not fitted)'] = resting
    # Rows that no filter could reach keep their position, so that friction states run on.
    smooth = np.where(usable[:, None], smooth, 0.0)
    return Dataset(
        source=recording.source,
        joint_names=recording.joint_names,
        stamps=stamps,
        motion=Motion(kinematics[:, :n].copy(), smooth[:, :n].copy(), smooth[:, n:].copy()),
        effort=np.where(in_window[:, None], effort, np.nan),
        effort_unit=effort_unit,
        scored=scored,
        fitted=fitted,
        segments=tuple(kept),
        excluded=excluded,
        rate=1.0 / period,
        notes=tuple(notes),
    )


def _check_effort(recording: Recording, effort: FloatArray) -> None:
    where = f'{recording.source}: effort on {recording.topic}'
    if effort.size and not np.isfinite(effort).any():
        raise DataError(
            f'{where} is absent (not one value): record a driver that fills it, or name another '
            'topic with --topic'
        )
    if effort.size and not np.nan_to_num(effort).any():
        raise DataError(
            f'{where} is zero throughout: mock hardware and older Gazebo bridges publish that; '
            'there is nothing to identify from'
        )


def _check_finite(recording: Recording, finite: BoolArray) -> None:
    share = np.count_nonzero(~finite) / max(len(finite), 1)
    if share > MAXIMUM_NAN_SHARE:
        raise DataError(
            f'{recording.source}: {share:.1%} of the joint states on {recording.topic} are not '
            f'finite, more than the {MAXIMUM_NAN_SHARE:.0%} accepted: find out what the driver '
            'published, or cut the part out with --start/--stop'
        )


def _duplicates(stamps: FloatArray, values: FloatArray) -> BoolArray:
    """Return which rows repeat the stamp or all the values of the row before."""
    duplicate = np.zeros(len(stamps), dtype=bool)
    duplicate[1:] = (np.diff(stamps) <= 0.0) | np.all(values[1:] == values[:-1], axis=1)
    return duplicate


def _segments(stamps: FloatArray, fresh: np.ndarray, longest: float) -> list[slice]:
    """Return the parts of the recording without a pause longer than `longest` seconds."""
    breaks = fresh[1:][np.diff(stamps[fresh]) > longest]
    edges = [0, *breaks.tolist(), len(stamps)]
    return [slice(a, b) for a, b in pairwise(edges)]


def _smooth(
    known: FloatArray,
    kinematics: FloatArray,
    stamps: FloatArray,
    period: float,
    kinematic_filter: KinematicFilter,
    n: int,
) -> FloatArray:
    """Return smoothed velocity and acceleration at `stamps`, shape (N, 2 n)."""
    rate = 1.0 / period
    grid = np.arange(known[0], known[-1] + 0.5 * period, period)
    uniform = np.column_stack([np.interp(grid, known, column) for column in kinematics.T])
    velocity = uniform[:, n:] if uniform.shape[1] > n else central_difference(uniform, rate)
    velocity = low_pass(velocity, rate, kinematic_filter)
    acceleration = low_pass(central_difference(velocity, rate), rate, kinematic_filter)
    smooth = np.hstack([velocity, acceleration])
    return np.column_stack([np.interp(stamps, grid, column) for column in smooth.T])


def _between_motions(speed: FloatArray) -> BoolArray:
    """Return the samples between the first and the last one at which any joint moves."""
    moving = np.flatnonzero(np.any(np.abs(np.nan_to_num(speed)) > MOVING_SPEED, axis=1))
    between = np.zeros(len(speed), dtype=bool)
    if moving.size:
        between[moving[0]: moving[-1] + 1] = True
    return between
