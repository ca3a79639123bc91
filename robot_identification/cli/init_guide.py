# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The guide that `init` writes: every command of a study in order, with minutes."""

from dataclasses import dataclass
import math
from pathlib import Path
import shlex
from typing import Any

import numpy as np
from robot_identification.errors import needing
from robot_identification.excitation import (
    APPROACH_SPEED, GENTLE_SPEED, Laboratory, PlannedMotion, SLOW_SPEED, SLOW_TOOL_SPEED,
)
from robot_identification.model import gravity_of_mounting, RobotModel, Tool

GUIDE = 'guide.md'
# Half an hour warmed the arms of Raviola et al. 2021; a minute is lost between two runs at most.
WARM_MINUTES = 30.0


@dataclass(frozen=True, eq=False)
class Study:
    """A planned study, and the commands of its motions."""

    folder: Path  # where its files are
    robot_name: str  # as --robot takes it
    robot: RobotModel  # the arm with its tool
    tool: Tool | None  # what is mounted
    laboratory: Laboratory  # the cell
    motions: tuple[PlannedMotion, ...]  # in their order
    options: str  # options that give the same study again
    has_ur_driver: bool = True  # whether its driver is that of Universal Robots

    def file(self, name: str) -> str:
        """Return a path below the folder, as a command line takes it."""
        return shlex.quote(str(self.folder / name))

    def of_step(self, step: str) -> list[PlannedMotion]:
        """Return the motions of a step."""
        return [motion for motion in self.motions if motion.step == step]

    def bags(self, step: str) -> str:
        """Return the recordings of a step, as a command line takes them."""
        return ' '.join(map(self.bag, self.of_step(step)))

    def bag(self, motion: PlannedMotion) -> str:
        """Return where a motion is recorded."""
        names = {'static_poses': 'poses_bag', 'warm_up': 'bag_001'}
        return self.file({
            'csv': f'{motion.name}.csv',
            'simulated': f'{motion.name}_bag',
            'ros': f'{motion.name}/{names.get(motion.step, "bag")}',
        }[self.laboratory.source])

    def trajectory(self, motion: PlannedMotion) -> str:
        """Return the trajectory file of a motion."""
        return self.file(f'{motion.name}.trajectory.yaml')

    @property
    def mounting(self) -> str:
        """Return the option for the mounting, with a blank before it; empty if it is upright."""
        angles = self.laboratory.mounting
        return ' --mounting ' + ' '.join(repr(float(a)) for a in angles) if any(angles) else ''

    @property
    def down(self) -> str:
        """Return in words which way of the base is down."""
        down = gravity_of_mounting(*self.laboratory.mounting)
        down /= np.linalg.norm(down)
        axis = int(np.argmax(np.abs(down)))
        if abs(down[axis]) > 1.0 - 1e-9:
            sign = '+' if down[axis] > 0.0 else '-'
            return f'{sign}{"xyz"[axis]} of the base points to the floor'
        return f'the floor is towards {", ".join(f"{part:.3f}" for part in down)} of the base'

    def design_command(self, motion: PlannedMotion) -> str:
        """Return the command that designs a motion."""
        samples = (
            f' --csv {self.file(f"{motion.name}_samples.csv")}'
            if self.laboratory.source == 'csv' else ''
        )
        return (
            f'robot-identification excite --robot {shlex.quote(self.robot_name)} --experiment '
            f'{self.file(f"{motion.name}.yaml")} --seed {motion.seed} --time-limit '
            f'{motion.search_seconds:g} -o {self.trajectory(motion)}{samples}'
        )

    def run_command(self, motion: PlannedMotion) -> str:
        """Return what executes and records a motion: a command, or what to do without one."""
        robot = shlex.quote(self.robot_name)
        is_warm_up = motion.step == 'warm_up'
        if self.laboratory.source == 'csv':
            samples = self.file(f'{motion.name}_samples.csv')
            return f'run {samples} on the arm, record {self.bag(motion)}'
        if self.laboratory.source == 'simulated':
            repeated = (
                f' --warm-up --repeat {warm_up_runs(motion)} --separate-bags'
                if is_warm_up else ''
            )
            return (
                f'robot-identification simulate --robot {robot} --trajectory '
                f'{self.trajectory(motion)}{self.mounting}{repeated} -o {self.bag(motion)}'
            )
        programs = {'warm_up': 'temperature', 'static_poses': 'static_poses'}
        angles = ', '.join(repr(float(angle)) for angle in self.laboratory.mounting)
        minutes = (
            f' -p maximum_minutes:={1.5 * WARM_MINUTES:.1f} -p maximum_runs:='
            f'{math.ceil(1.5 * warm_up_runs(motion))}' if is_warm_up else ''
        )
        return (
            f'ros2 run robot_identification experiment_coordinator --ros-args -p program:='
            f'{programs.get(motion.step, "record")} -p robot:={robot} -p "mounting:=[{angles}]" '
            f'-p effort_unit:={self.laboratory.effort_unit} -p '
            f'trajectory_file:={self.trajectory(motion)} -p output:={self.file(motion.name)}'
            + minutes
            # As the RTDE publisher of Universal Robots names it; recorded where it is there.
            + (' -p "optional_topics:=[rtde/joint_temperatures]"' if self.has_ur_driver else '')
        )


def warm_up_runs(motion: PlannedMotion) -> int:
    """Return how many runs of the warm-up make half an hour."""
    return math.ceil(60.0 * WARM_MINUTES / motion.motion_seconds)


def study_content(study: Study) -> dict[str, Any]:
    """Return a study as --json prints it; times are at most, at full speed."""
    laboratory = study.laboratory
    return {
        'folder': str(study.folder),
        'robot': study.robot_name,
        'mounting': list(laboratory.mounting),
        'effort_unit': laboratory.effort_unit,
        'source': laboratory.source,
        'guide': str(study.folder / GUIDE),
        'minutes': round(sum(motion.seconds for motion in study.motions) / 60.0, 1),
        'slow_minutes': round(sum(motion.slow_seconds for motion in study.motions) / 60.0, 1),
        'steps': [
            {
                'step': motion.step,
                'file': str(study.folder / f'{motion.name}.yaml'),
                'seed': motion.seed,
                'minutes': round(motion.seconds / 60.0, 1),
                'motion_seconds': round(motion.motion_seconds, 3),
                'approach_seconds': round(motion.approach_seconds, 3),
                'design': study.design_command(motion),
                'run': study.run_command(motion),
            }
            for motion in study.motions
        ],
    }


def guide_text(study: Study) -> str:
    """Return the text of guide.md; raises MissingDependencyError without what fills templates."""
    with needing('jinja2', 'the guide of a study'):
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).resolve().parent), undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )
    environment.filters['quote'] = lambda text: shlex.quote(str(text))
    tool = study.tool
    has_gains = np.all(np.isfinite(study.robot.drives.drive_gain))
    return environment.get_template('guide.md.j2').render(
        study=study, content=study_content(study),
        needs_gains=study.laboratory.effort_unit == 'A' and not has_gains,
        payload='0 kg' if tool is None else (
            f'{tool.mass:g} kg with its centre of mass at '
            f'({", ".join(f"{1000.0 * one:g}" for one in tool.center_of_mass)}) mm in the frame '
            'of the tool'
        ),
        approach_speed=APPROACH_SPEED, slow=SLOW_SPEED, gentle=GENTLE_SPEED,
        tool_speed=SLOW_TOOL_SPEED, warm_minutes=WARM_MINUTES,
        warm_up_runs=warm_up_runs(study.motions[0]),
    )
