# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Time to import the package beyond Pinocchio, each in a fresh process, in turn."""

from __future__ import annotations

import os
import subprocess
import sys

from .figures import Figure, ratio

REPEATS = 15
LOADED = {
    'the package with its pipeline': 'robot_identification.pipeline',
    'the command `identify`': 'robot_identification.cli.identify',
    'the live prediction': 'robot_identification.prediction.torque_predictor',
}


def measure(repeats: int) -> list[Figure]:
    """Return the processor time that each import adds [s], and its ratio to Pinocchio's own."""
    modules = ('pinocchio', *LOADED.values())
    for module in modules:
        processor_time(module)
    times: dict[str, list[float]] = {module: [] for module in modules}
    for _ in range(repeats):
        for module, found in times.items():
            found.append(processor_time(module))
    own = times['pinocchio']
    figures = [Figure('import of Pinocchio', 's', tuple(own))]
    for name, module in LOADED.items():
        added = [found - base for found, base in zip(times[module], own, strict=True)]
        figures += [
            Figure(f'{name}, beyond Pinocchio', 's', tuple(added)),
            Figure(f'{name}, beyond Pinocchio / Pinocchio', '', ratio(added, own)),
        ]
    return figures


def processor_time(module: str) -> float:
    """Return the processor time of a process that imports a module and ends [s]."""
    before = os.times()
    subprocess.run([sys.executable, '-c', f'import {module}'], check=True)
    after = os.times()
    return (
        after.children_user + after.children_system
        - before.children_user - before.children_system
    )
