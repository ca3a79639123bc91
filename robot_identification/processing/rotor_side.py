# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The rotors of a recording with a second encoder, on the stamps of its joint states."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import allocate, BoolArray, FloatArray, IntegerArray
from robot_identification.errors import DataError
from robot_identification.model import KinematicFilter, Motion
from robot_identification.processing.blocks import extremes, row_blocks
from robot_identification.processing.repairs import GAP_PERIODS, sampling_period
from robot_identification.processing.smoothing import (
    DIFFERENCE_REACH, follow_period, interpolate, Kinematics, MINIMUM_SEGMENT_SAMPLES, Samples,
    smooth_kinematics,
)
from robot_identification.recording import Channel, Recording, ROTOR_CHANNEL

# A rotor of which less is readable has no encoder.
SMALLEST_SHARE = 0.9
# If the rotors are known at fewer of the samples in motion, the recording counts as without.
SMALLEST_COVERAGE = 0.5
# A rotor turns with its link but for the deflection: this far apart, and this share of the travel,
# it is of another joint, in another unit, on the motor's side, or of the other sign.
LARGEST_DEFLECTION = 0.2
LARGEST_SHARE = 0.02  # of the travel [1]; chosen


@dataclass(frozen=True, eq=False)
class RotorSide:
    """Readings of the second encoders of a recording."""

    # At every stamp; None where nothing is usable. The links' own motion stands for rotors without
    # an encoder, and for all rotors where `known` is false
    motion: Motion | None = None
    known: BoolArray | None = None  # shape (N,); where the rotors were recorded
    notes: tuple[str, ...] = ()  # What a reader should know


def follow_rotors(
    recording: Recording,
    samples: Samples,
    links: Kinematics,
    fitted: BoolArray,
    kinematic_filter: KinematicFilter,
) -> RotorSide:
    """
    Match rotor positions to joint states by stamp, and smooth them as those of the links.

    Between rotor positions at most three of their periods apart it is interpolated. What cannot
    be used is noted; the links stand for it.
    """
    channel = recording.channels.get(ROTOR_CHANNEL)
    if channel is None:
        return RotorSide()
    notes: list[str] = []

    def give_up(why: str) -> RotorSide:
        notes.append(f'rotor positions are left out, one encoder a joint is used: {why}')
        return RotorSide(notes=tuple(notes))

    n = samples.q.shape[1]
    if channel.values.shape[1] != n:
        return give_up(f'there are {channel.values.shape[1]} for the {n} joints')
    if samples.clock_was_set:
        return give_up('the clock was set back, and which are from before cannot be known')
    times, rows, has_rotor = _usable_messages(channel)
    if not has_rotor.any() or len(times) < MINIMUM_SEGMENT_SAMPLES:
        return give_up(f'{len(times)} messages hold any')
    theta, segments, known = _interpolate(samples, times, channel.values, rows)
    strays = _find_strays(recording, samples.q, theta, known)
    notes += [note for joint, note in strays.items() if has_rotor[joint]]
    has_rotor[list(strays)] = False
    if not has_rotor.any():
        return give_up('none is usable')
    of_rotors = Samples(
        samples.stamps, theta, None, np.ones(n, dtype=bool), samples.fresh, segments,
        samples.period, samples.effort, samples.delay,
    )
    is_series = kinematic_filter.kind == 'fourier'
    rotors = smooth_kinematics(
        of_rotors, KinematicFilter() if is_series else kinematic_filter
    )
    known = rotors.usable
    covered = int(np.count_nonzero(fitted & known))
    moving = int(np.count_nonzero(fitted))
    if covered < SMALLEST_COVERAGE * max(moving, 1):
        return give_up(f'they cover {covered} of {moving} samples in motion')
    if is_series:
        try:
            follow_period(of_rotors, rotors, fitted & known, kinematic_filter)
        except DataError as error:
            return give_up(str(error))
    missing = [recording.joint_names[joint] for joint in np.flatnonzero(~has_rotor)]
    notes.append(
        'rotor positions are used: friction and rotor inertia see the rotors'
        + (f', but for {", ".join(missing)}' if missing else '')
    )
    return RotorSide(_fill_in(rotors, links, known, has_rotor), known, tuple(notes))


def _usable_messages(channel: Channel) -> tuple[FloatArray, IntegerArray, BoolArray]:
    """Return stamps (M,) of usable messages, their rows (M,), and the joints (n,) they hold."""
    read = np.isfinite(channel.values)
    has_rotor = (
        read.mean(axis=0) >= SMALLEST_SHARE if len(read) else np.zeros(read.shape[1], dtype=bool)
    )
    times = np.asarray(channel.stamps)
    rows = np.flatnonzero(np.isfinite(times) & read[:, has_rotor].all(axis=1))
    times, first = np.unique(times[rows], return_index=True)
    return times, rows[first], has_rotor


def _interpolate(
    samples: Samples, times: FloatArray, values: FloatArray, rows: IntegerArray
) -> tuple[FloatArray, tuple[slice, ...], BoolArray]:
    """
    Return rotor positions at the stamps, the parts that neither side has a gap in, and all rows.

    At the increasing `times`, shape (M,), they are ``values[rows]``.
    """
    longest = GAP_PERIODS * sampling_period(times)
    edges = np.flatnonzero(np.diff(times) > longest) + 1
    theta = allocate(samples.q.shape)
    known = np.zeros(len(samples.stamps), dtype=bool)
    segments = []
    for first, last in zip([0, *edges], [*edges, len(times)], strict=True):
        for segment in samples.segments:
            at = samples.stamps[segment]
            low, high = np.searchsorted(at, times[first]), np.searchsorted(
                at, times[last - 1], side='right'
            )
            if high <= low:
                continue
            part = slice(segment.start + int(low), segment.start + int(high))
            segments.append(part)
            known[part] = True
            for block in row_blocks(part.stop - part.start, theta, values):
                inside = slice(part.start + block.start, part.start + block.stop)
                t = samples.stamps[inside]
                near = slice(
                    max(int(np.searchsorted(times, t[0])) - DIFFERENCE_REACH, first),
                    min(int(np.searchsorted(times, t[-1])) + 1 + DIFFERENCE_REACH, last),
                )
                read = values[rows[near]]
                theta[inside] = interpolate(
                    t, times[near], np.where(np.isfinite(read), read, 0.0)
                )
    return theta, tuple(sorted(segments, key=lambda part: part.start)), known


def _find_strays(
    recording: Recording, q: FloatArray, theta: FloatArray, known: BoolArray
) -> dict[int, str]:
    """Return a note for each joint whose rotor does not turn with the link."""
    lowest, highest = extremes(
        len(q), lambda rows: np.hstack([q[rows], theta[rows] - q[rows]])[known[rows]], q, theta
    )
    travel, apart = np.split(highest - lowest, 2)
    return {
        int(joint): f'the rotor of {recording.joint_names[joint]} is left out: its position less '
        f'that of the link varies by {apart[joint]:.3g} rad while the link moves by '
        f'{travel[joint]:.3g} rad; it must be the angle of the motor over the gear ratio, with '
        'the sign of the joint'
        for joint in np.flatnonzero(~(apart <= LARGEST_DEFLECTION + LARGEST_SHARE * travel))
    }


def _fill_in(
    rotors: Kinematics, links: Kinematics, known: BoolArray, has_rotor: BoolArray
) -> Motion:
    """Return the motion of the rotors, that of the links where they are not known."""
    pairs = (rotors.q, links.q), (rotors.dq, links.dq), (rotors.ddq, links.ddq)
    for rotor, link in pairs:
        for block in row_blocks(len(known), rotor, link):
            seen = known[block][:, None] & has_rotor
            rotor[block] = np.where(seen, rotor[block], link[block])
    return Motion(rotors.q, rotors.dq, rotors.ddq)
