# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The person at the arm, whatever moves: designs, climbs, arms, records, executes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
import pytest
from robot_identification.excitation.trajectory import load_trajectory
from ros_helpers import Graph, LATCHED, state_in, wait_until

# Ten seconds of a UR about the pose with its elbow up, inside the margins of a real arm.
EXPERIMENT = """
schema_version: 1
description: a motion for simulators
trajectory: {{form: fourier, harmonics: 5, base_period: {period}}}
periods: 1
margins: {{position: 0.15, velocity: 0.6, acceleration: 0.4, torque: 0.55}}
window:
  shoulder_pan_joint: [-1.5, 1.5]
  shoulder_lift_joint: [-2.3, -0.8]
  elbow_joint: [0.4, 2.2]
  wrist_1_joint: [-3.0, 0.0]
  wrist_2_joint: [-3.0, 0.0]
  wrist_3_joint: [-2.0, 2.0]
friction: coulomb,viscous,offset
criterion: log_determinant
samples: 60
"""
# What the arm stands on, below its base.
FLOOR = """
obstacles:
  floor: {size: [3.0, 3.0, 0.1], xyz: [0.0, 0.0, -0.06]}
"""
# One that is good enough is found with few.
EVALUATIONS = 100
# A slow run takes ten times the motion, and a simulator may not keep up with the clock [s].
PATIENCE = 900.0


class Person:
    """Calls the services that a person calls, and looks at what comes back."""

    # `robot` and `effort_unit` are noted in bags; `period` is that of the motions [s], `cell` is
    # added to their experiment, and within `deadline` [s] nodes come up.

    def __init__(
        self,
        graph: Graph,
        folder: Path,
        robot: str,
        effort_unit: str,
        *,
        period: float = 10.0,
        cell: str = '',
        deadline: float = 120.0,
    ) -> None:
        self._graph, self.folder = graph, folder
        self._robot, self._unit, self._deadline = robot, effort_unit, deadline
        self._states = graph.hear(DiagnosticArray, 'experiment_runner/state', LATCHED)
        self._experiment, self._bags = folder / 'experiment.yaml', 0
        self._experiment.write_text(EXPERIMENT.format(period=period) + cell)

    def state(self) -> dict[str, Any]:
        return state_in(self._states[-1]) if self._states else {}

    def design(self, seed: int) -> Path:
        """Have a motion designed for the live description; return its file."""
        path = self.folder / f'{self._experiment.stem}_{seed}_trajectory.yaml'
        self._set('trajectory_generator', {
            'generate.experiment': str(self._experiment), 'generate.output': str(path),
            'generate.seed': seed, 'generate.max_evaluations': EVALUATIONS,
        })
        self.call('trajectory_generator/generate', PATIENCE)
        return path

    def climb(self, trajectory: Path) -> Path:
        """Execute dry, slowly and at full speed; return the bag of the last one."""
        self.execute(trajectory, dry_run=True)
        self.execute(trajectory, speed=self.slow())
        return self.execute(trajectory)

    def slow(self) -> float:
        """Return a speed that is slow, as the dry run has found it: 0.25 m/s at the tool."""
        words = self.state()['reason'].split()
        fastest = float(words[words.index('most') + 1])
        return max(round(min(0.1, 0.25 / max(fastest, 1e-3)) - 0.0005, 3), 0.02)

    def execute(self, trajectory: Path, *, dry_run: bool = False, speed: float = 1.0) -> Path:
        """Execute to the end; return the bag (none of a dry run)."""
        bag = self.begin(trajectory, dry_run=dry_run, speed=speed)
        if dry_run:
            wait_until(lambda: self.state().get('state') == 'IDLE', 'the end of the dry run')
            return bag
        ended, said = self.wait_for(), self.end_recording()
        if ended != 'DONE':
            # A machine that stalls ends a motion, too: `make` tries once more what "waited".
            pytest.fail(f'waited for the end of the motion: {self.state()["reason"]}; {said}')
        return bag

    def begin(self, trajectory: Path, *, dry_run: bool = False, speed: float = 1.0) -> Path:
        """Arm by the hash, record and execute; return the bag (none of a dry run)."""
        sha256 = load_trajectory(trajectory).sha256
        self._set('experiment_runner', {
            'trajectory_file': str(trajectory), 'arm.sha256': sha256, 'dry_run': dry_run,
            'speed': speed,
        })
        self._arm()
        self._bags += 1
        bag = self.folder / f'{trajectory.stem}_{round(100 * speed):03d}_bag_{self._bags}'
        if not dry_run:
            self._set('bag_recorder', {
                'start.output': str(bag), 'start.robot': self._robot,
                'start.effort_unit': self._unit, 'start.trajectory_sha256': sha256,
            })
            self.call('bag_recorder/start')
        self.call('experiment_runner/execute')
        return bag

    def wait_for(self, *states: str) -> str:
        """Wait for a state of the runner, or an end; return the state."""
        wait_until(
            lambda: self.state().get('state') in (*states, 'DONE', 'FAULT'), ' or '.join(states),
            PATIENCE,
        )
        return str(self.state()['state'])

    def end_recording(self) -> str:
        """End the recording; return what was recorded."""
        return self.call('bag_recorder/stop')

    def _arm(self) -> None:
        """Arm; again for a while, because nodes that have just come up know little yet."""
        said = ''

        def armed() -> bool:
            nonlocal said
            answer = self._graph.call('experiment_runner/arm', PATIENCE)
            said = answer.message
            return answer.success

        try:
            wait_until(armed, 'the runner to be armed', self._deadline)
        finally:
            print(f'arm: {said}')

    def _set(self, node: str, values: dict[str, Any]) -> None:
        assert self._graph.configure(node, values) == []

    def call(self, service: str, deadline: float = 60.0) -> str:
        answer = self._graph.call(service, deadline)
        assert answer.success, f'{service}: {answer.message}'
        return answer.message
