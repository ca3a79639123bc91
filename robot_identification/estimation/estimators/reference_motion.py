# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Recorded motions at hand, and the smooth motion behind one, for a simulated arm to follow.

Of a motion that repeats itself it is a Fourier series, in which the noise of all samples shares a
few numbers; of others it is a spline with knots much farther apart than samples. Neither uses the
measured velocities, so that what it keeps of the noise is small and slow.
"""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import allocate, BoolArray, FloatArray
from robot_identification.model import Motion
from robot_identification.processing import Dataset, find_periodic_motion, NotPeriodicError
import scipy

# Of the splines: accelerations are smooth.
DEGREE = 5
# A knot needs so many samples, at any sampling rate.
SAMPLES_PER_KNOT = 4


def smooth_reference(
    dataset: Dataset, rows: BoolArray, knot_spacing: float
) -> tuple[Motion, str]:
    """
    Return the smooth motion behind a recorded one at all N samples, and what it is in words.

    A period is looked for in all samples that may be estimated from, not `rows` alone: positions
    that are left out in order to test a model are no secret, torques are. Elsewhere knots of
    splines are `knot_spacing` apart [s].
    """
    motion = dataset.motion
    q, dq, ddq = (allocate(motion.q.shape) for _ in range(3))
    smooth = Motion(q, dq, ddq, motion.temperature, starts=motion.starts)
    try:
        periodic = find_periodic_motion(dataset.stamps, motion.q, rows | dataset.fitted)
    except NotPeriodicError:
        follows, description = np.zeros(len(dataset), dtype=bool), ''
    else:
        # Samples that are not estimated from are part of the motion, too.
        follows = periodic.is_followed(dataset.stamps, motion.q)
        description = (
            f'a Fourier series of {periodic.harmonics} harmonics and period '
            f'{periodic.series.period:.6g} s'
        )
        for order, values in enumerate((q, dq, ddq)):
            values[follows] = periodic.series.evaluate(dataset.stamps[follows], order)
    if not np.all(follows | ~rows):
        description += (', and ' if description else '') + (
            f'splines with knots {knot_spacing:g} s apart'
        )
    for segment in dataset.segments:
        for part in _runs(~follows, segment):
            q[part], dq[part], ddq[part] = fit_spline(
                dataset.stamps[part], motion.q[part], knot_spacing
            )
    return smooth, description


def fit_spline(
    t: FloatArray, q: FloatArray, knot_spacing: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """
    Return the least-squares spline of positions (N, n) at times (N,) [s], and its derivatives.

    Knots are at least `knot_spacing` apart [s]; it is at rest where there are too few samples.
    """
    times, first = np.unique(t, return_index=True)
    if len(times) <= 2 * DEGREE:
        rest = np.broadcast_to(q.mean(axis=0), q.shape)
        return rest.copy(), np.zeros(q.shape), np.zeros(q.shape)
    rate = (len(times) - 1) / (times[-1] - times[0])
    step = max(round(knot_spacing * rate), SAMPLES_PER_KNOT)
    # At samples, so that each piece has some of them.
    inner = times[step: len(times) - step: step]
    knots = np.concatenate([
        np.full(DEGREE + 1, times[0]), inner, np.full(DEGREE + 1, times[-1])
    ])
    spline = scipy.interpolate.make_lsq_spline(times, q[first], knots, k=DEGREE)
    return spline(t), spline(t, 1), spline(t, 2)


def _runs(chosen: BoolArray, segment: slice) -> list[slice]:
    """Return the consecutive samples of a segment that are chosen."""
    inside = np.concatenate([[False], chosen[segment], [False]])
    edges = segment.start + np.flatnonzero(np.diff(inside))
    return [slice(first, last) for first, last in zip(edges[::2], edges[1::2], strict=True)]
