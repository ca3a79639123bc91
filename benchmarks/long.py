# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Cost of a long recording: `identify` and `validate` of a UR5e, by the length of its one bag.

The arm is MuJoCo's, with Stribeck friction and friction that grows with the load. It moves in
stretches of half a minute, each another motion, between which nothing is recorded. Time is that
of the processor, memory that of the process at its peak, of which the libraries are some 200 MB.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
import subprocess
import sys
import tempfile

import numpy as np
from robot_identification.excitation.parametrizations.fourier import FourierParametrization
from robot_identification.model.registry import load_robot
from robot_identification.model.regressor import Motion
from robot_identification.recording.bag_writer import BagWriter, write_joint_states
from robot_identification.recording.joint_states import JOINT_STATE
from robot_identification.simulation.ground_truth import draw_truth, STATIC_RATIO
from robot_identification.simulation.mujoco_robot import inverse_dynamics

from .figures import Figure
from .whole import GAINS, OPTIONS

REPEATS = 1
RATE = 125.0
STRETCH = 27.5  # of motion [s]
PAUSE = 2.0  # without joint states [s]
# Stretches of a bag: 100 000 samples, 45 minutes, 3 hours.
LENGTHS = (29, 100, 400)
FIRST_SAMPLES = 100_000  # what they cost beyond the libraries and the choices is not asked


def measure(repeats: int) -> list[Figure]:
    """Return processor times and peak memory."""
    costs: dict[tuple[str, int], list[tuple[float, float]]] = {
        (verb, length): [] for verb in ('identify', 'validate') for length in LENGTHS
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for length in LENGTHS:
            write_long(folder / f'bag{length}', length)
        for repeat in range(repeats):
            for length in LENGTHS:
                bag, output = folder / f'bag{length}', folder / f'{length}.{repeat}'
                costs['identify', length].append(run(
                    'identify', str(bag), *OPTIONS, '-o', str(output)
                ))
                costs['validate', length].append(run(
                    'validate', str(output / 'identified_model.yaml'), str(bag), '-o',
                    str(folder / f'validation{length}.{repeat}'),
                ))
    return list(_figures(costs))


def _figures(costs: dict[tuple[str, int], list[tuple[float, float]]]) -> Iterator[Figure]:
    for (verb, length), found in costs.items():
        samples, first = (count * samples_of_stretch() for count in (length, LENGTHS[0]))
        seconds, memory = zip(*found, strict=True)
        yield Figure(f'{verb} {samples} samples, processor time', 's', seconds)
        yield Figure(f'{verb} {samples} samples, peak memory', 'MB', memory)
        if length > LENGTHS[0]:
            yield Figure(
                f'{verb} {samples} samples, each beyond the first {first}', 'us', tuple(
                    1e6 * (spent - few) / (samples - first)
                    for spent, (few, _) in zip(seconds, costs[verb, LENGTHS[0]], strict=True)
                ),
            )


def samples_of_stretch() -> int:
    """Return how many joint states a stretch has."""
    return round(STRETCH * RATE)


def write_long(path: Path, stretches: int) -> None:
    """Write a bag of so many stretches, with noisy velocities and currents."""
    robot = load_robot('ur5e').with_drive_gains(list(GAINS))
    writer = BagWriter(path, {'robot': 'ur5e', 'effort_unit': 'A'})
    writer.add_topic('/joint_states', JOINT_STATE)
    message, places = _template(robot.joint_names)
    for number in range(stretches):
        times = 1.0 + number * (STRETCH + PAUSE) + np.arange(samples_of_stretch()) / RATE
        stamps = np.round(times * 1e9).astype(np.int64)
        raw = np.tile(message, (len(stamps), 1))
        # Seconds and nanoseconds follow the four bytes that say how it is encoded.
        raw[:, 4:12] = np.stack(np.divmod(stamps, 10**9), axis=1).astype('<i4').view(np.uint8)
        for place, values in zip(places, _stretch(number), strict=True):
            data = np.ascontiguousarray(values).view(np.uint8)
            raw[:, place: place + data.shape[1]] = data
        for stamp, row in zip(stamps.tolist(), raw, strict=True):
            writer.write('/joint_states', stamp, row.tobytes())
    writer.close()


def _stretch(number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return positions, velocities and currents of a stretch, shape (N, n)."""
    robot = load_robot('ur5e').with_drive_gains(list(GAINS))
    truth = draw_truth(robot, seed=1)
    truth = replace(
        truth, static=STATIC_RATIO * truth.coulomb, load_share=np.full(robot.n, 0.05)
    )
    rng = np.random.default_rng((3, number))
    form = FourierParametrization(harmonics=8, base_period=STRETCH)
    coefficients = rng.normal(size=(robot.n, form.n_coefficients))
    bases = form.basis(np.arange(samples_of_stretch()) / RATE)
    # Within a turn to either side of the middle.
    coefficients *= 2.5 / np.abs(bases[0] @ coefficients.T).max(axis=0)[:, None]
    q, dq, ddq = (basis @ coefficients.T for basis in bases)
    current = inverse_dynamics(robot, truth, Motion(q, dq, ddq)) / truth.drive_gain
    return (
        q + 1e-5 * rng.standard_normal(q.shape),
        dq + 1e-3 * rng.standard_normal(q.shape),
        current + 0.02 * current.std(axis=0) * rng.standard_normal(q.shape),
    )


def _template(joint_names: tuple[str, ...]) -> tuple[np.ndarray, list[int]]:
    """Return the bytes of a message, and where its positions, velocities and efforts begin."""
    from rosbags.rosbag2 import Reader

    n = len(joint_names)
    marks = [np.full((1, n), 1.5 + at) for at in range(3)]
    with tempfile.TemporaryDirectory() as name:
        bag = Path(name) / 'bag'
        write_joint_states(
            bag, joint_names, np.ones(1), {'/joint_states': (marks[0], marks[1], marks[2])}, {}
        )
        with Reader(bag) as reader:
            raw, = (bytes(raw) for _, _, raw in reader.messages())
    return np.frombuffer(raw, dtype=np.uint8), [raw.index(mark.tobytes()) for mark in marks]


def run(*arguments: str) -> tuple[float, float]:
    """Return processor time [s] and peak memory [MB] of a command, in a process of its own."""
    completed = subprocess.run(
        [sys.executable, '-m', 'benchmarks.long', *arguments],
        capture_output=True, text=True, check=True, cwd=Path(__file__).resolve().parents[1],
    )
    seconds, peak = completed.stdout.split()[-2:]
    return float(seconds), float(peak)


if __name__ == '__main__':
    import resource

    from robot_identification.cli.main import main

    code = main(sys.argv[1:])
    usages = [
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    ]
    print(
        sum(usage.ru_utime + usage.ru_stime for usage in usages), usages[0].ru_maxrss / 1000.0
    )
    sys.exit(code)
