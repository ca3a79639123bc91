# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The experiment of an arm that has no experiment file: window, margins and period from its limits.

Rests and slow reversals, and a Fourier series as in the other experiments, about the middle of
every joint's range. Nothing is known of the cell, so nothing in it is avoided.
"""

from __future__ import annotations

from collections.abc import Mapping
import math
from typing import Any, NamedTuple

import numpy as np
from robot_identification.excitation.collision import links_without_shapes
from robot_identification.excitation.experiment import Experiment
from robot_identification.excitation.experiment_file import read_experiment
from robot_identification.excitation.experiment_plan import usual_window
from robot_identification.excitation.margins import adapt_margins, MARGINS
from robot_identification.model import RobotModel


class GenericExperiment(NamedTuple):
    """An experiment, its content as in a file, and remarks on what was chosen."""

    experiment: Experiment
    content: dict[str, Any]
    notes: tuple[str, ...]


def make_generic_experiment(robot: RobotModel) -> GenericExperiment:
    """
    Return an experiment for an arm of which only its description is known.

    Joints stay in their usual window. Where the description states no limit of velocity or
    acceleration one is chosen, which the certificate lists as not checked. A clearance between
    links is proved where all of them have collision shapes.
    """
    window, open_ = usual_window(robot), find_open_choices(robot)
    limits, notes = open_.limits, list(open_.notes)
    period = _period(robot, window, limits)
    content: dict[str, Any] = {
        'schema_version': 1,
        'description': f'generic motion of {robot.name} from the limits of its description',
        'trajectory': {'form': 'fourier', 'harmonics': 5, 'base_period': period},
        'segments': [
            # A few rests do, and poses are as far off as joints get in that time.
            {'name': 'stops', 'poses': 3, 'dwell': 0.5, 'move_time': 0.1 * period},
            {'name': 'slow_reversals', 'reversals': 4, 'move_time': 0.8},
            # Last, so that what `auto` holds out of a recording is motion.
            'fourier',
        ],
        'gravity': [float(value) for value in robot.gravity],
        'margins': dict(MARGINS),
        'limits': limits,
        'window': {joint: list(ends) for joint, ends in window.items()},
        'criterion': 'log_determinant',
        'samples': 100,
        'collision': 'off' if open_.bare_links else 'on',
        'generic': True,
    }
    content['margins'], remarks = adapt_margins(robot, content)
    experiment = read_experiment(content, 'the generic experiment')
    return GenericExperiment(experiment, content, (*notes, *remarks))


class OpenChoices(NamedTuple):
    """Limits and shapes that a description does not state, and limits to take instead."""

    # Limits where none is stated, by kind and joint: [rad/s], [rad/s^2] or [m/s], [m/s^2].
    limits: dict[str, dict[str, float]]
    bare_links: tuple[str, ...]  # links without collision shapes
    notes: tuple[str, ...]  # a remark on each


def find_open_choices(robot: RobotModel) -> OpenChoices:
    """Return what a description leaves open: limits of velocity and acceleration, and shapes."""
    kinds = {joint.name: joint.kind for joint in robot.urdf.joints}
    # Slow for any arm.
    usual = {'revolute': (1.0, 4.0), 'continuous': (1.0, 4.0), 'prismatic': (0.1, 0.5)}
    limits: dict[str, dict[str, float]] = {}
    notes = []
    for index, (kind, stated, units) in enumerate((
        ('velocity', robot.limits.velocity, 'rad/s (m/s)'),
        ('acceleration', robot.limits.acceleration, 'rad/s^2 (m/s^2)'),
    )):
        found = {
            joint: usual[kinds[joint]][index]
            for joint, limit in zip(robot.joint_names, stated, strict=True)
            if not np.isfinite(limit)
        }
        if found:
            limits[kind] = found
            values = ', '.join(f'{value:g}' for value in dict.fromkeys(found.values()))
            where = '' if len(found) == robot.n else f' of {", ".join(found)}'
            notes.append(f'no {kind} limit{where} is stated: the motion keeps {values} {units}')
    bare = links_without_shapes(robot)
    if bare:
        notes.append(
            f'collisions are not checked: {robot.name} has no collision shapes (boxes, cylinders, '
            f'spheres; meshes are not read) at {", ".join(bare)}'
        )
    return OpenChoices(limits, bare, tuple(notes))


def _period(
    robot: RobotModel, window: Mapping[str, tuple[float, float]],
    limits: Mapping[str, Mapping[str, float]],
) -> float:
    """
    Return a period [s] in which the base harmonic of every joint sweeps its window.

    A sweep of 1 rad (or m) to either side is enough: the torque of gravity changes well over some
    60 degrees. The period is that of the shipped experiments at least, and a minute at most.
    """
    chosen = limits.get('velocity', {})
    slowest = max(
        2.0 * math.pi * min(1.0, 0.5 * (window[joint][1] - window[joint][0]))
        / (MARGINS['velocity'] * chosen.get(joint, float(stated)))
        for joint, stated in zip(robot.joint_names, robot.limits.velocity, strict=True)
    )
    return float(min(max(math.ceil(slowest), 10.0), 60.0))
