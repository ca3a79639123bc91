# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Cost of a long recording: `identify` and `validate` of a UR5e, by the length of its one bag.

With `--hours` and `--rate` a bag of that length and rate takes the place of the longest one.

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
from typing import NamedTuple

import numpy as np
from robot_identification.excitation import FourierParametrization
from robot_identification.model import load_robot, Motion
from robot_identification.recording import BagWriter, JOINT_STATE
from robot_identification.recording.bag_writer import write_joint_states
from robot_identification.simulation import draw_truth
from robot_identification.simulation.ground_truth import STATIC_RATIO
from robot_identification.simulation.mujoco_robot import inverse_dynamics

from .figures import Figure
from .recordings import GAINS, OPTIONS

REPEATS = 1
STRETCH = 27.5  # of motion [s]
PAUSE = 2.0  # without joint states [s]


class Bag(NamedTuple):
    """A bag of so many stretches at a rate [Hz]."""

    stretches: int
    rate: float = 125.0

    @property
    def of_stretch(self) -> int:
        """Return how many joint states a stretch has."""
        return round(STRETCH * self.rate)

    @property
    def samples(self) -> int:
        """Return how many joint states the bag has."""
        return self.stretches * self.of_stretch

    @property
    def name(self) -> str:
        """Return what the figures call it."""
        return f'{self.samples} samples at {self.rate:g} Hz'


# What the first 100 000 samples cost beyond the libraries and the choices is not asked.
FIRST = Bag(29)
SHORT, LONG = Bag(100), Bag(400)  # 45 minutes, 3 hours


def measure(repeats: int, hours: float | None = None, rate: float = LONG.rate) -> list[Figure]:
    """Return processor times and peak memory; the longest bag has that length and rate [Hz]."""
    longest = LONG.stretches if hours is None else round(3600.0 * hours / STRETCH)
    bags = FIRST, SHORT, Bag(longest, rate)
    costs: dict[tuple[str, Bag], list[tuple[float, float]]] = {
        (verb, bag): [] for verb in ('identify', 'validate') for bag in bags
    }
    for bag in bags:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_long(folder / 'bag', bag)
            for repeat in range(repeats):
                output = folder / str(repeat)
                costs['identify', bag].append(run(
                    'identify', str(folder / 'bag'), *OPTIONS, '-o', str(output)
                ))
                costs['validate', bag].append(run(
                    'validate', str(output / 'identified_model.yaml'), str(folder / 'bag'), '-o',
                    str(folder / f'validation.{repeat}'),
                ))
    return list(_figures(costs))


def _figures(costs: dict[tuple[str, Bag], list[tuple[float, float]]]) -> Iterator[Figure]:
    for (verb, bag), found in costs.items():
        seconds, memory = zip(*found, strict=True)
        yield Figure(f'{verb} {bag.name}, processor time', 's', seconds)
        yield Figure(f'{verb} {bag.name}, peak memory', 'MB', memory)
        if bag is not FIRST:
            yield Figure(
                f'{verb} {bag.name}, each beyond the first {FIRST.samples}', 'us', tuple(
                    1e6 * (spent - few) / (bag.samples - FIRST.samples)
                    for spent, (few, _) in zip(seconds, costs[verb, FIRST], strict=True)
                ),
            )
        if bag not in (FIRST, SHORT):
            yield Figure(f'{verb} {bag.name} / {SHORT.name}, peak memory', '', tuple(
                much / little
                for much, (_, little) in zip(memory, costs[verb, SHORT], strict=True)
            ))


def write_long(path: Path, bag: Bag) -> None:
    """Write a bag with noisy velocities and currents."""
    robot = load_robot('ur5e').with_drive_gains(list(GAINS))
    writer = BagWriter(path, {'robot': 'ur5e', 'effort_unit': 'A'})
    writer.add_topic('/joint_states', JOINT_STATE)
    message, places = _template(robot.joint_names)
    for number in range(bag.stretches):
        times = 1.0 + number * (STRETCH + PAUSE) + np.arange(bag.of_stretch) / bag.rate
        stamps = np.round(times * 1e9).astype(np.int64)
        raw = np.tile(message, (len(stamps), 1))
        # Seconds and nanoseconds follow the four bytes that say how it is encoded.
        raw[:, 4:12] = np.stack(np.divmod(stamps, 10**9), axis=1).astype('<i4').view(np.uint8)
        for place, values in zip(places, _stretch(number, bag), strict=True):
            data = np.ascontiguousarray(values).view(np.uint8)
            raw[:, place: place + data.shape[1]] = data
        for stamp, row in zip(stamps.tolist(), raw, strict=True):
            writer.write('/joint_states', stamp, row.tobytes())
    writer.close()


def _stretch(number: int, bag: Bag) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return positions, velocities and currents of a stretch, shape (N, n)."""
    robot = load_robot('ur5e').with_drive_gains(list(GAINS))
    truth = draw_truth(robot, seed=1)
    truth = replace(
        truth, static=STATIC_RATIO * truth.coulomb, load_share=np.full(robot.n, 0.05)
    )
    rng = np.random.default_rng((3, number))
    form = FourierParametrization(harmonics=8, base_period=STRETCH)
    coefficients = rng.normal(size=(robot.n, form.n_coefficients))
    bases = form.basis(np.arange(bag.of_stretch) / bag.rate)
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
