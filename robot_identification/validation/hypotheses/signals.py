# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Hypotheses about signals: what was clipped, computed, late, filtered, or stamped wrongly."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.model import rigid_torque, RobotModel
from robot_identification.processing import (
    Dataset, find_stationary_joints, orthonormal, seconds_by_direction,
)
from robot_identification.validation.bag_errors import noise_deviation
from robot_identification.validation.hypotheses.evidence import Evidence
from robot_identification.validation.hypotheses.posterior import BodyFit
from robot_identification.validation.hypotheses.thresholds import (
    Candidate, FEWEST_CLIPPED, FILTER_CUTOFFS, FLOOR, LARGEST_DELAY, LARGEST_STRUCTURE,
    LARGEST_TIME_SCATTER, LARGEST_TIME_SHARE, LEAST_CLIPPED, LEAST_DELAY, LEAST_FALL, LEAST_GAIN,
    LEAST_OVER_NOISE, LEAST_REMOVED, LEAST_TIME_SCALE, SHORTEST_DIRECTION,
)
from robot_identification.validation.verdict import DataWarning
import scipy

# Efforts that differ by less than this share of the range are the same.
SAME = 1.0e-6
# Part of the range next to an extreme, and the same in levels of an effort of coarse resolution:
# without clipping it holds more samples than the extreme. A peak has twice as many samples at its
# top level as at the next, and as many as at the next three.
NEXT, NEXT_LEVELS = 0.02, 3.5
# How many times as many samples the extreme itself must have.
TIMES_AS_MANY = 2.0
# A joint that moves less than this in a window says nothing of the speed of time [rad or m].
LEAST_MOTION = 0.05
# Clocks and filters can make the effort a little early, too [s]; delays are tried in such steps.
EARLIEST, DELAY_STEP = -0.03, 0.006
# Of the Butterworth filters that are tried: between an RC element and a steep one.
ORDER = 2


def find_clipping(evidence: Evidence) -> list[Candidate]:
    """Return the joints whose effort stands at its largest or smallest value repeatedly."""
    shares = np.zeros(evidence.robot.n)
    for joint in range(evidence.robot.n):
        effort = np.concatenate([
            dataset.effort[dataset.fitted, joint] for dataset in evidence.datasets
        ])
        shares[joint] = max(share_at_top(effort), share_at_top(-effort))
    joints = np.flatnonzero(shares > LEAST_CLIPPED)
    if not joints.size:
        return []
    names = evidence.names(joints)
    return [Candidate(DataWarning(
        'clipping', names, f'the effort of {", ".join(names)} may be clipped',
        'share of the samples at the largest effort', '', float(shares.max()), LEAST_CLIPPED,
        'raise the limit of what drive or driver reports, or move more gently',
    ))]


def share_at_top(effort: FloatArray) -> float:
    """Return the share of samples (N,) at the largest value, 0 where it is no plateau."""
    span = float(np.ptp(effort)) if len(effort) else 0.0
    if not span > 0.0:
        return 0.0
    below = (effort.max() - effort) / span
    count = np.count_nonzero(below <= SAME)
    if count < FEWEST_CLIPPED:
        return 0.0
    steps = np.diff(np.unique(below))
    resolution = float(steps[steps > SAME].min(initial=1.0))
    following = np.count_nonzero(below <= max(NEXT, NEXT_LEVELS * resolution)) - count
    return 0.0 if count < TIMES_AS_MANY * following else float(count / len(effort))


def find_computed(evidence: Evidence) -> list[Candidate]:
    """
    Return a warning where the bodies of the URDF alone give the effort of every joint.

    An arm has friction, and bodies that differ from their description by per cents.
    """
    if evidence.relative_scale:
        return []
    rigid = evidence.in_band(rigid_torque(evidence.robot, evidence.motion))
    left = evidence.in_band(evidence.torque) - rigid
    worst = float((np.sqrt(np.mean(left**2, axis=0)) / evidence.deviation).max())
    moved = np.std(rigid, axis=0) > FLOOR * evidence.deviation
    if worst > FLOOR or not moved.any():
        return []
    return [Candidate(DataWarning(
        'computed', (),
        'the effort of all joints is what the bodies of the URDF give without friction: it may '
        'be a desired, computed or simulated torque, and no measurement',
        'largest residual over the standard deviation of the effort', '', worst, FLOOR,
        'record the measured current or torque, not the desired one or that of a feed-forward',
    ))]


def find_time_scale(evidence: Evidence) -> list[Candidate]:
    """Return the factor of all stamps by which positions follow the recorded velocities."""
    return judge_time_scales(time_scales(evidence))


def judge_time_scales(scales: FloatArray) -> list[Candidate]:
    """Return a warning where factors of the stamps, by joint and window, agree on one."""
    if not scales.size:
        return []
    scale = float(np.median(scales))
    scatter = float(np.median(np.abs(scales - scale)))
    # Rows that are missing here and there make time run unevenly, too.
    largest = max(LARGEST_TIME_SCATTER, LARGEST_TIME_SHARE * abs(scale - 1.0))
    if abs(scale - 1.0) < LEAST_TIME_SCALE or scatter > largest:
        return []
    return [Candidate(DataWarning(
        'time_scale', (), f'the stamps may run {scale:.3g} times as fast as time',
        'factor', '', scale, 1.0 + np.sign(scale - 1.0) * LEAST_TIME_SCALE,
        'positions do not change as the recorded velocities say: check the clock behind the '
        'stamps, or the factor of all velocities',
    ))]


def time_scales(evidence: Evidence) -> FloatArray:
    """Return the factor of the stamps by joint and window, of those that move."""
    scales = []
    for window in evidence.windows:
        dataset = evidence.datasets[window.recording]
        t = dataset.stamps[window.samples]
        q, dq = dataset.motion.q[window.samples], dataset.motion.dq[window.samples]
        way = np.zeros_like(q)
        way[1:] = np.cumsum(0.5 * (dq[1:] + dq[:-1]) * np.diff(t)[:, None], axis=0)
        for own, measured in zip(way.T, q.T, strict=True):
            moved, seen = own - own.mean(), measured - measured.mean()
            if np.ptp(measured) > LEAST_MOTION and seen @ seen > 0.0:
                scales.append(float(moved @ seen / (seen @ seen)))
    return np.array(scales)


def find_delays(evidence: Evidence) -> list[Candidate]:
    """
    Return the delays of all joints, or of one, that explain the data better.

    Friction that follows displacement imitates a delay, of tens of milliseconds in a slow joint.
    The delay that `processing` finds by a richer friction model is believed where it is known.
    """
    # Whole periods of the joint states.
    period = 1.0 / min(dataset.rate for dataset in evidence.datasets)
    step = period * np.ceil(DELAY_STEP / period - 1e-6)
    shifts = step * np.arange(np.ceil(EARLIEST / step), np.floor(LARGEST_DELAY / step) + 1.0)
    rows = evidence.reduce(evidence.rows, evidence.in_band(
        np.stack([*(evidence.torque_at(s) for s in shifts), evidence.torque], axis=2)
    ))
    targets, measured = rows.targets[:, :, :-1], rows.targets[:, :, -1]
    everywhere = np.arange(evidence.robot.n)
    found = []
    for joints in ((), *((joint,) for joint in everywhere.tolist())):
        late = np.isin(everywhere, joints or everywhere)[:, None]
        fits = [
            evidence.explain(rows, np.where(late, targets[:, :, k], measured))
            for k in range(len(shifts))
        ]
        found += _delay(evidence, joints, shifts, fits)
    return found


def _delay(
    evidence: Evidence, joints: tuple[int, ...], shifts: FloatArray, fits: Sequence[BodyFit]
) -> list[Candidate]:
    """Return the most likely of some shifts of joints, if it is a delay worth a warning."""
    at = int(np.argmin([fit.score for fit in fits]))
    # What explains ever more with ever later effort is none that was late.
    if at in (0, len(shifts) - 1) or not evidence.supports(fits[at], LEAST_GAIN, LEAST_FALL):
        return []
    least = max(LEAST_DELAY, *(1.0 / dataset.rate for dataset in evidence.datasets))
    delay = _believed(evidence, joints, float(shifts[at]), float(shifts[1] - shifts[0]))
    if abs(delay) < least:
        return []
    whose = f'the effort of {evidence.names(joints)[0]}' if joints else 'the effort of all joints'
    return [Candidate(DataWarning(
        'delay', evidence.names(joints),
        f'{whose} may be recorded {"later" if delay > 0.0 else "earlier"} than the position',
        'delay', 's', delay, least,
        'look for filters and buffers of the effort in drive and driver, and stamp it when it is '
        'measured',
    ), evidence.gain(fits[at]))]


def _believed(
    evidence: Evidence, joints: tuple[int, ...], shift: float, step: float
) -> float:
    """
    Return the delay that the most likely shift stands for [s].

    It is the shift where no delay was found in the recordings, which is so where it is beyond
    the range of that search, or where those that were found agree with it; else it is that of
    them which is nearest to zero. It is zero where one of them is not certain.
    """
    found = [dataset.found_delay for dataset in evidence.datasets]
    own = [
        delay.of_joints[joints[0]] if delay is not None and joints else delay for delay in found
    ]
    known = [delay for delay in own if delay is not None]
    if not all(one.is_significant for one in known):
        return 0.0
    if all(abs(shift - one.value) <= 3.0 * one.standard_error + step for one in known):
        return shift
    return min(known, key=lambda one: abs(one.value)).value


def find_filtering(evidence: Evidence) -> list[Candidate]:
    """Return the low-pass of the effort that explains the data better."""
    rate = min(rate for _, rate in evidence.parts)
    tried = [
        (evidence.explain(evidence.reduce(
            _filtered(evidence, evidence.rows, cutoff, causal),
            friction=[
                orthonormal(_filtered(evidence, own, cutoff, causal)) for own in evidence.friction
            ],
        )), cutoff)
        # A cut-off near half of the sampling rate is none.
        for cutoff in FILTER_CUTOFFS if cutoff <= 0.4 * rate
        for causal in (True, False)
    ]
    if not tried:
        return []
    fit, cutoff = min(tried, key=lambda one: one[0].score)
    if not evidence.supports(fit, LEAST_GAIN, LEAST_FALL):
        return []
    removed = float(np.mean(np.sqrt(np.maximum(evidence.fit.variance - fit.variance, 0.0))))
    return [Candidate(DataWarning(
        'filtering', (),
        f'the effort may have been filtered at about {cutoff:g} Hz before it was recorded',
        'removed part of the deviation', '', removed, LEAST_REMOVED,
        'turn off filters of the effort in drive and driver, and record the raw value',
    ), evidence.gain(fit), matters=removed > LEAST_REMOVED)]


def _filtered(
    evidence: Evidence, values: FloatArray, cutoff: float, causal: bool
) -> FloatArray:
    """Return signals (m, ..) after a low-pass, window by window."""
    parts = []
    for part, rate in evidence.parts:
        sos = scipy.signal.butter(ORDER, cutoff, fs=rate, output='sos')
        own = values[part]
        # As many as SciPy takes by itself, or all of a short window.
        padding = min(3 * (2 * len(sos) + 1), len(own) - 1)
        parts.append(
            scipy.signal.sosfilt(sos, own - own[:1], axis=0) + own[:1] if causal
            else scipy.signal.sosfiltfilt(sos, own, axis=0, padlen=padding)
        )
    joined: FloatArray = np.concatenate(parts)
    return joined


def find_one_direction(robot: RobotModel, datasets: Sequence[Dataset]) -> tuple[DataWarning, ...]:
    """Return a warning of the joints that move too briefly in one direction, if there are any."""
    seconds = np.sum([seconds_by_direction(dataset) for dataset in datasets], axis=0).min(axis=0)
    joints = np.setdiff1d(
        np.flatnonzero(seconds < SHORTEST_DIRECTION), find_stationary_joints(datasets)
    )
    if not joints.size:
        return ()
    names = tuple(robot.joint_names[joint] for joint in joints)
    return (DataWarning(
        'one_direction', names,
        f'{", ".join(names)} moved in one direction only, so that friction in the other one and '
        'an offset of the effort are not known',
        'motion in the other direction', 's', float(seconds[joints].min()), SHORTEST_DIRECTION,
        'record a motion in which every joint moves both ways, and identify from both recordings',
    ),)


def find_structure(
    robot: RobotModel, datasets: Sequence[Dataset], sigma: FloatArray
) -> tuple[DataWarning, ...]:
    """
    Return a warning where residuals are large compared with the effort and its noise.

    `sigma` (n,) is the standard deviation of the residual of each joint [N m].
    """
    fitted = [dataset.effort[dataset.fitted] for dataset in datasets]
    scale = np.abs(datasets[0].torque_per_effort(robot))
    noise = scale * np.mean([noise_deviation(effort) for effort in fitted], axis=0)
    deviation = scale * np.mean([np.std(effort, axis=0) for effort in fitted], axis=0)
    known = (deviation > 0.0) & np.isfinite(noise)
    structure = np.sqrt(np.maximum(sigma**2 - noise**2, 0.0))
    share = np.divide(structure, deviation, out=np.zeros_like(deviation), where=known)
    above = known & (sigma > LEAST_OVER_NOISE * noise)
    mean = float(share[above].sum() / max(np.count_nonzero(known), 1))
    if mean <= LARGEST_STRUCTURE:
        return ()
    worst = int(np.argmax(np.where(above, share, 0.0)))
    return (DataWarning(
        'structure', (robot.joint_names[worst],),
        'the residual is no noise and too large for a good model, most of all that of '
        f'{robot.joint_names[worst]}',
        "mean share of the torque's deviation", '', mean, LARGEST_STRUCTURE,
        'look at the residuals in the report: friction, elasticity or vibration that the model '
        'lacks, or data that are wrong in a way that no test knows',
    ),)
