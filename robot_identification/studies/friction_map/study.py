# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The friction map of an arm from its bags, and the motions for it: each as one function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
import math
from pathlib import Path
import re

import numpy as np
from robot_identification.blas import one_blas_thread
from robot_identification.errors import UsageError
from robot_identification.estimation import choose_drive_gains, choose_effort_unit, LATEST_TIME
from robot_identification.excitation import dump_trajectory, Experiment, Trajectory
from robot_identification.files import ResultFolder
from robot_identification.model import (
    check_shows_gravity, EFFORT_UNITS, IdentifiedModel, KinematicFilter, load_model, RobotModel,
)
from robot_identification.options import option
from robot_identification.processing import Dataset, process
from robot_identification.report import json_text
from robot_identification.studies.friction_map.estimate import FrictionMap, map_friction
from robot_identification.studies.friction_map.plan import certified_segments, SegmentPlan
from robot_identification.studies.friction_map.report import (
    friction_curves_yaml, friction_map_content, friction_map_csv, FRICTION_MAP_FILES,
    friction_map_text, render_friction_map_report,
)
from robot_identification.studies.friction_map.segments import BINS
from robot_identification.studies.reading import ReadingOptions

_NUMBER = re.compile(r'\s*\[?\s*([0-9]+\.?[0-9]*(?:[eE][-+]?[0-9]+)?)(?:\s*kg)?(?:[\s,;\]]|$)')
# File of the segments of a joint.
PLAN_FILE = 'friction_{}.trajectory.yaml'


@dataclass(frozen=True)
class FrictionMapOptions(ReadingOptions):
    """
    Options of the friction map.

    `model_gains` takes the drive gains of the model, where it has them, instead of those of the
    arm. Raises UsageError if a payload mass is negative or not finite.
    """

    relative_scale: bool = option(
        bool, 'accept currents of unknown drive gains: friction is then in A', default=False,
    )
    payload: tuple[float, ...] | None = option(
        float, 'mass on the flange [kg], one for all bags or one for each',
        otherwise='what the bags note', count='+', minimum=0.0, metavar='KG',
    )
    model: str | None = option(
        str, 'identified_model.yaml: its gravity distinguishes the directions, and its delay is '
        'taken', otherwise='gravity is found in the segments', metavar='FILE',
    )
    delay: float | None = option(
        float, 'time by which effort lags behind position [s]',
        otherwise='that of the model, or 0', metavar='S',
    )
    bins: int = option(
        int, 'largest number of positions at which both directions are compared',
        default=BINS, minimum=4,
    )
    start: float | None = option(
        float, 'start of the window after the first joint state [s]', minimum=0.0,
        maximum=LATEST_TIME, metavar='S',
    )
    stop: float | None = option(
        float, 'end of the window after the first joint state [s]', minimum=0.0,
        maximum=LATEST_TIME, metavar='S',
    )
    model_gains: bool = True

    def payload_of(self, number: int, metadata: Mapping[str, str]) -> float:
        """Return the mass that a bag was recorded with [kg], NaN where it is not stated."""
        if self.payload is not None:
            return self.payload[number if len(self.payload) > 1 else 0]
        return payload_mass(metadata.get('payload', ''))


def payload_mass(text: str) -> float:
    """Return the mass [kg] that a bag's note of the payload begins with; NaN without one."""
    match = _NUMBER.match(text)
    return float(match[1]) if match else math.nan


@one_blas_thread()
def run_friction_map(
    robot: RobotModel, bags: Sequence[Path], options: FrictionMapOptions | None = None,
    folder: ResultFolder | None = None,
) -> FrictionMap:
    """
    Map the friction of an arm at constant velocity.

    In `bags` one joint after the other makes constant-velocity segments; without `folder` nothing
    is written. Raises DataError if no joint moves alone at constant velocity, both ways, or a bag
    cannot be used, UsageError if the model is of another arm, or an option or the folder cannot be
    used.
    """
    options = FrictionMapOptions() if options is None else options
    if folder is not None:
        folder.check(FRICTION_MAP_FILES)
    if options.payload is not None and len(options.payload) not in (1, len(bags)):
        raise UsageError(
            f'--payload names {len(options.payload)} masses for {len(bags)} bags: give one for '
            'all, or one for each'
        )
    model = None if options.model is None else load_model(Path(options.model))
    if model is not None:
        check_shows_gravity(model, 'its torques at constant velocity lack those of gravity')
    if model is not None and options.model_gains:
        gains = model.robot.drives.drive_gain
        robot = robot.with_drive_gains(gains) if np.all(np.isfinite(gains)) else robot
    robot, runs, notes = _read(robot, bags, options, model)
    found = map_friction(robot, runs, options.bins, model)
    found = replace(found, notes=(*dict.fromkeys(notes), *found.notes))
    if folder is not None:
        folder.write({
            'friction_map.json': json_text(friction_map_content(found)),
            'friction_map.csv': friction_map_csv(found),
            'friction_curves.yaml': friction_curves_yaml(found),
            'report.html': render_friction_map_report(
                found, [str(bag) for bag in bags], folder.command_line
            ),
            'results.txt': friction_map_text(found),
        })
    return found


def _read(
    robot: RobotModel, bags: Sequence[Path], options: FrictionMapOptions,
    model: IdentifiedModel | None,
) -> tuple[RobotModel, list[tuple[Dataset, float]], list[str]]:
    """Return the arm with usable gains, the runs, and notes on them."""
    robot, recordings, notes = options.read(robot, bags)
    if model is not None and model.relative_scale:
        notes.append('the model has a relative scale: what is called N m here has it, too')
    unit = choose_effort_unit(options.effort_unit, recordings, robot)
    if not EFFORT_UNITS[unit].with_gravity:
        raise UsageError(
            f'effort is {EFFORT_UNITS[unit].description}: the load of each joint is not in it, '
            'which friction is mapped over; record motor current or whole torque'
        )
    robot, relative = choose_drive_gains(robot, unit, options.relative_scale)
    if relative:
        notes.append('drive gains are unknown: what is called N m here is A')
        if model is not None:
            raise UsageError('--model is in N m and drive gains are unknown: leave one out')
    delay = options.delay
    if delay is None:
        delay = 0.0 if model is None else model.source.delay
    runs = []
    for number, recording in enumerate(recordings):
        # A segment at reduced speed is a segment at another speed.
        dataset = process(
            recording, KinematicFilter(), unit, start=options.start, stop=options.stop,
            robot=robot, delay=delay, keep_slowed=True,
        )
        runs.append((dataset, options.payload_of(number, recording.metadata)))
        notes += _notes_of(dataset)
    return robot, runs, notes


def _notes_of(dataset: Dataset) -> list[str]:
    """
    Return the notes on a dataset, without that on its delay.

    Nothing but friction shows the delay of a friction map: what is found is not one.
    """
    delay = [] if dataset.found_delay is None else [dataset.found_delay.describe(dataset.delay)]
    return [note for note in dataset.notes if note not in delay]


@one_blas_thread()
def run_friction_plan(
    robot: RobotModel, experiment: Experiment, joints: Sequence[str] | None = None,
    plan: SegmentPlan | None = None, folder: ResultFolder | None = None,
) -> Mapping[str, Trajectory]:
    """
    Make certified constant-velocity segments for a friction map, by joint.

    Limits, window and centre of the experiment are kept; `joints` are all by default, and without
    `folder` nothing is written. Raises UnsafeMotionError if a motion breaks a limit of the
    experiment or collides, UsageError if the arm has no such joint, there is no room, or the
    folder cannot be used.
    """
    names = {joint: PLAN_FILE.format(joint) for joint in joints or robot.joint_names}
    if folder is not None:
        folder.check(names.values())
    made = {joint: certified_segments(robot, experiment, joint, plan) for joint in names}
    if folder is not None:
        folder.write({names[joint]: dump_trajectory(one) for joint, one in made.items()})
    return made
