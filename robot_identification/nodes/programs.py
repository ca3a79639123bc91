# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Programs of the experiment coordinator: one function each, in terms of its methods.

To add one: write its function, add one line to PROGRAMS.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from rclpy.node import Node
from robot_identification.errors import UsageError
from robot_identification.estimation import choose_effort_unit
from robot_identification.files import ResultFolder, write_atomically
from robot_identification.model import RobotModel
from robot_identification.nodes.common import declare
from robot_identification.processing import held_joint_remarks
from robot_identification.recording import read_recording
from robot_identification.report import json_text
from robot_identification.studies.drive_gains import (
    DriveGainsOptions, GAIN_FILES, run_drive_gains,
)
from robot_identification.studies.temperature import (
    figures_of_run, judge_steady_state, RunFigures, SteadyState, SteadyStateOptions,
)

# Sources of drive gains, by any publisher.
TARGET_TOPICS = ('rtde/target_moment', 'rtde/target_current', 'target_moment', 'target_current')
TORQUE_SOURCES = ('target', 'urdf')
NO_PAYLOAD, UNKNOWN_PAYLOAD = '0', 'unknown'
STUDY_FILE = 'temperature_runs.json'


class Coordinator(Protocol):
    """Interface of the experiment coordinator to its programs; documented there."""

    @property
    def simulated(self) -> bool:
        """Return whether the arm is simulated."""

    @property
    def output(self) -> Path:
        """Folder for everything that is written."""

    def value(self, name: str) -> Any:
        """Return the value of a parameter."""

    def allowed_to_read(self, name: str, path: str) -> Path:
        """Return a path that a parameter led to, if it may be read."""

    def robot(self) -> RobotModel:
        """Return the arm in its mounting."""

    def robot_named(self) -> str:
        """Return how a command names the arm."""

    def effort_unit(self) -> str:
        """Return the unit of the effort, empty where it is not known."""

    def announce(self, text: str, *, step: str | None = None) -> None:
        """Publish and log progress."""

    def trajectory(self) -> Path:
        """Return the trajectory that the parameters name, or one designed now."""

    def design(self, path: Path, seed: int) -> Path:
        """Design a motion into a file, and return it."""

    def identify(self, bag: Path, output: Path) -> Path:
        """Identify a model from a bag, and return its file."""

    def execute(
        self, path: Path, bag: Path, *, executions: int = 1, payload: str = '',
        topics: tuple[str, ...] = (),
    ) -> None:
        """Run a trajectory and record it."""

    def wait_for_person(self, what: str) -> None:
        """Wait until an operator confirms what is to be done by hand."""

    def set_parameters_of(self, node: str, values: dict[str, Any]) -> None:
        """Set parameters of another node."""


def declare_programs(node: Node) -> None:
    """Declare the parameters that only some programs have."""
    declare(node, 'torque_from', 'target',
            'static_poses: source of the torques, target (recorded target_moment), urdf, or '
            'the path of a model whose masses are trusted')
    declare(node, 'payload.mass', 0.0, 'payload: its mass [kg]; 0: not known',
            minimum=0.0, maximum=100.0)
    declare(node, 'payload.center_of_mass', [0.0, 0.0, 0.0],
            "payload: its centre of mass in the tool's frame [m]",
            minimum=-3.0, maximum=3.0, longest=3)
    declare(node, 'settled_rise', 0.5,
            'temperature: settled when no joint changes by more than this from run to run [K]',
            minimum=0.01, maximum=10.0)
    declare(node, 'settled_change', 0.02,
            'temperature: the same for viscous friction where no temperature is published, as a '
            'share', minimum=0.001, maximum=1.0)
    declare(node, 'settled_runs', 2, 'temperature: changes in a row that must be as small',
            minimum=1, maximum=100)
    declare(node, 'maximum_runs', 30, 'temperature: runs at most', minimum=1, maximum=1000)
    declare(node, 'maximum_minutes', 60.0,
            "temperature: no run begins that would end later, by the bags' stamps [min]",
            minimum=0.1, maximum=1440.0)


def excitation(coordinator: Coordinator) -> None:
    """Design, execute and record one motion a seed; identify from the first, predict the next."""
    if not coordinator.simulated:
        raise UsageError(
            'program excitation designs new motions as it goes, and on a real arm each of them '
            'is commissioned first: design with `excite`, then use program record'
        )
    named = coordinator.value('trajectory_file')
    if named:
        raise UsageError(
            f'program excitation designs its motions and would not execute {named}: take program '
            'record for that file, or leave trajectory_file empty'
        )
    output, seeds = coordinator.output, coordinator.value('seeds')
    aside = ThreadPoolExecutor(1)
    coordinator.announce('a motion is designed first', step='designing')
    try:
        # While the arm moves or a model is identified, the next motion is designed.
        designs = [
            aside.submit(coordinator.design, output / f'trajectory_{number}.yaml', seed)
            for number, seed in enumerate(seeds, start=1)
        ]
        for number, designed in enumerate(designs, start=1):
            bag = output / f'bag_{number}'
            coordinator.execute(designed.result(), bag)
            if number == 1:
                model = coordinator.identify(bag, output / 'result')
                coordinator.set_parameters_of('torque_predictor', {'model_file': str(model)})
                coordinator.announce(f'predicting live with {model}')
    finally:
        aside.shutdown(cancel_futures=True)


def record(coordinator: Coordinator) -> None:
    """Execute one motion and record it."""
    coordinator.execute(coordinator.trajectory(), coordinator.output / 'bag')


def static_poses(coordinator: Coordinator) -> None:
    """Record a motion with rests, and report what `drive-gains` finds in it."""
    bag, gains = coordinator.output / 'poses_bag', coordinator.output / 'gains'
    folder = ResultFolder(
        gains, command_line='the experiment coordinator node',
        remedy='move it away, or set output to another folder',
    )
    # Before the arm moves for results that could not be written.
    folder.check(GAIN_FILES)
    coordinator.execute(coordinator.trajectory(), bag, topics=TARGET_TOPICS)
    unit, source = coordinator.effort_unit(), str(coordinator.value('torque_from'))
    if source not in TORQUE_SOURCES:
        source = str(coordinator.allowed_to_read('torque_from', source))
    coordinator.announce(f'finding drive gains from {bag.name}', step='drive_gains')
    result = run_drive_gains(
        coordinator.robot(), [bag],
        DriveGainsOptions(torque_from=source, effort_unit=unit or None),
        folder,
    )
    for note in result.found.notes:
        coordinator.announce(note)
    coordinator.announce(f'drive gains are in {gains / "results.txt"}')


def payload(coordinator: Coordinator) -> None:
    """Record the bare arm, wait for the payload, record the same motion with it."""
    mass = coordinator.value('payload.mass')
    center = coordinator.value('payload.center_of_mass')
    if len(center) != 3:
        raise UsageError(
            f'payload.center_of_mass has {len(center)} numbers, x, y and z [m] are needed'
        )
    words = ' '.join(repr(value) for value in (mass, *center)) if mass else UNKNOWN_PAYLOAD
    output = coordinator.output
    trajectory = coordinator.trajectory()
    bare, loaded = output / 'bare_bag', output / 'loaded_bag'
    coordinator.execute(trajectory, bare, payload=NO_PAYLOAD)
    coordinator.wait_for_person(
        'mount the payload and set it in the controller' + (f' ({mass:g} kg)' if mass else '')
    )
    coordinator.execute(trajectory, loaded, payload=words)
    robot = coordinator.robot_named()
    coordinator.announce(
        f'next: robot-identification drive-gains {bare} --robot {robot} --loaded {loaded} '
        f'--payload {words} -o {output / "gains"}' if mass else
        f'next: robot-identification identify {bare} --robot {robot} -o {output / "bare"}; '
        f'robot-identification payload {output / "bare" / "identified_model.yaml"} {loaded} -o '
        f'{output / "payload"}'
    )


def temperature(coordinator: Coordinator) -> None:
    """Repeat one motion, one bag a run, until temperatures or friction settle."""
    options = SteadyStateOptions(
        rise=coordinator.value('settled_rise'), change=coordinator.value('settled_change'),
        runs=coordinator.value('settled_runs'),
    )
    robot, output = coordinator.robot(), coordinator.output
    trajectory = coordinator.trajectory()
    most, minutes = coordinator.value('maximum_runs'), coordinator.value('maximum_minutes')
    runs: list[_Run] = []
    reason = ''
    while not reason:
        bag = output / f'bag_{len(runs) + 1:03d}'
        coordinator.execute(trajectory, bag, executions=most - len(runs))
        recording = read_recording(
            bag, robot.joint_names, encoders=robot.encoders, others=robot.watched_joints
        )
        for remark in held_joint_remarks(robot, recording):
            coordinator.announce(remark)
        unit = choose_effort_unit(coordinator.effort_unit() or None, [recording], robot)
        start = 1e-9 * recording.start
        runs.append(_Run(
            bag.name, figures_of_run(robot, recording, unit), start,
            start + float(recording.stamps[-1]),
        ))
        steady = judge_steady_state([run.figures for run in runs], robot.joint_names, options)
        write_atomically(output / STUDY_FILE, json_text(_study(runs, steady)))
        coordinator.announce(f'{bag.name}: {steady.reason}', step='settling')
        reason = _why_ended(steady, runs, most, minutes)
    coordinator.announce(
        f'{reason} after {len(runs)} runs; next: one `identify` for each bag, then '
        '`robot-identification temperature` with all models'
    )


class _Run(NamedTuple):
    """One run: its bag, what it shows, and its first and last stamp [s]."""

    bag: str
    figures: RunFigures
    start: float
    stop: float


def _why_ended(steady: SteadyState, runs: list[_Run], most: int, minutes: float) -> str:
    """Return why no other run is made, empty where one is."""
    if steady.reached:
        return f'settled by {steady.by}'
    if len(runs) >= most:
        return f'not settled, ended by maximum_runs {most}'
    elapsed = runs[-1].stop - runs[0].start
    if elapsed * (1.0 + 1.0 / len(runs)) > 60.0 * minutes:
        return f'not settled, ended by maximum_minutes {minutes:g}'
    return ''


def _study(runs: list[_Run], steady: SteadyState) -> dict:
    """Return what the runs showed, to be kept with the bags."""
    return {
        'settled': steady.reached,
        'by': steady.by,
        'reason': steady.reason,
        'runs': [
            {'bag': run.bag, 'start': run.start, 'stop': run.stop, **vars(run.figures)}
            for run in runs
        ],
    }


PROGRAMS: dict[str, Callable[[Coordinator], None]] = {
    'excitation': excitation,
    'record': record,
    'static_poses': static_poses,
    'payload': payload,
    'temperature': temperature,
}
