# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Gain of worker processes for a model fitted to many bags: one process and two.

Bags are the minute of `recordings` at 250 Hz with other noise, of a UR5e. What is timed is what an
executor does: reading, processing and the four passes of a dictionary fit; the choices before it
are made by one process in any case.
"""

from __future__ import annotations

from pathlib import Path
import tempfile
import time

import numpy as np
from robot_identification.estimation import (
    fit_parameters, IdentifyOptions, Observations, TIME_BLOCKS,
)
from robot_identification.estimation.bags import BagSource, Processing
from robot_identification.estimation.fitted_recordings import read_bags
from robot_identification.files import file_sha256
from robot_identification.model import KinematicFilter, load_robot, RobotModel
from robot_identification.parallel import open_executor

from .figures import Figure
from .recordings import GAINS, RATE, simulate_minute, write_states

REPEATS = 3
FEW = 3
MANY = 12
STEP = 2


def measure(repeats: int) -> list[Figure]:
    """Return times, most as ratios."""
    robot = load_robot('ur5e').with_drive_gains(list(GAINS))
    cases: dict[tuple[int, int], list[float]] = {
        (count, processes): [] for count in (FEW, MANY) for processes in (0, 1, 2)
    }
    with tempfile.TemporaryDirectory() as name:
        bags = write_bags(Path(name))
        for _ in range(repeats):
            for (count, processes), times in cases.items():
                times.append(take_time(robot, bags[:count], processes))
    seconds = {case: np.array(times) for case, times in cases.items()}
    figures = []
    for count in (FEW, MANY):
        here, one, two = (seconds[count, processes] for processes in (0, 1, 2))
        figures += [
            Figure(f'{count} bags of a minute at 250 Hz in this process', 's', tuple(here)),
            Figure(f'{count} bags, 1 local process / this process', '', tuple(one / here)),
            Figure(f'{count} bags, 2 local processes / this process', '', tuple(two / here)),
            Figure(f'{count} bags, 2 local processes / 1', '', tuple(two / one)),
        ]
    return figures


def write_bags(folder: Path) -> list[Path]:
    """Write bags of one motion, each with noise of its own."""
    states = tuple(values[::STEP] for values in simulate_minute())
    rng = np.random.default_rng(2)
    bags = [folder / f'bag{number}' for number in range(MANY)]
    for bag in bags:
        write_states(bag, states, RATE / STEP, rng)
    return bags


def take_time(robot: RobotModel, bags: list[Path], processes: int) -> float:
    """Return how long reading and fitting take, the start of the processes included [s]."""
    options = IdentifyOptions()
    started = time.monotonic()
    sources = [
        BagSource(
            str(bag), bag, file_sha256(bag), robot, Processing(robot, 'A', KinematicFilter())
        ) for bag in bags
    ]
    with open_executor('local' if processes else None, processes or None) as executor:
        read = [part for _, part in read_bags(sources, {}, executor)]
        reduction = options.observe(robot, options.laws[0], (), ()).reduction
        fit_parameters(
            Observations(
                robot, reduction, read, offset_by_recording=True, time_blocks=TIME_BLOCKS,
                executor=executor,
            ), (), options.used_estimator,
        )
    return time.monotonic() - started
