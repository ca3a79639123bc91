# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The guide that `init` writes: every command of a study in order, with minutes."""

from __future__ import annotations

from dataclasses import dataclass
import math
from pathlib import Path
import shlex
from typing import Any

import numpy as np
from robot_identification.excitation import (
    APPROACH_SPEED, GENTLE_SPEED, Laboratory, PlannedMotion, SLOW_SPEED, SLOW_TOOL_SPEED, STEPS,
)
from robot_identification.model import gravity_of_mounting, RobotModel, Tool

TITLES = {
    'warm_up': 'Warm-up',
    'excitation': 'The motion to identify from',
    'validation': 'Validation motions',
    'static_poses': 'Static poses',
    'friction_map': 'Friction map',
}
# Half an hour warmed the arms of Raviola et al. 2021; a minute is lost between two runs at most.
WARM_MINUTES = 30.0
WHY = {
    'warm_up': 'Friction falls while joints warm up, by up to 31 % in half an hour on a UR5 '
    '(Raviola et al. 2021). Repeat until joint temperatures, or viscous friction where there are '
    'none, settle; about half an hour.',
    'excitation': 'The model comes from this run. Do it right after the warm-up.',
    'validation': 'Motions that the model has not seen: by another criterion, by chance, and of '
    'another form. Nothing is fitted to them.',
    'static_poses': 'Rests at poses that are visited there and back, so that joints come to each '
    'of them from both sides and static friction cancels. For drive gains (A to N m), which need '
    "torques that something else knows: the controller's target_moment (docs/drive_gains.md), or "
    'masses that you trust (torque_from urdf).',
    'friction_map': 'One joint at a time: 25 constant-velocity segments, both ways, between '
    'random points of 3 rad at most (form trapezoidal: all segments take as long, so that '
    'lengths make the speeds). The other joints rest.',
}
LOOK = {
    'warm_up': 'what ~/state or the last lines say: settled, or ended by a maximum. Longer: raise '
    'maximum_minutes.',
    'excitation': 'the verdict and its reasons, and `lost` parameters in results.txt. BAD: follow '
    'the reasons before going on.',
    'validation': 'the error (NRMSE) of every joint and motion, and its bias. Errors that are far '
    'above those of the cross-validation mean a model of one motion only.',
    'static_poses': 'joints that are not seen, and `bias at most`: a joint that no pose loads, or '
    'reached from one side only, has no gain yet.',
    'friction_map': 'the friction curve of every joint in report.html: even on both sides, and '
    'the same law as in the motion to identify from.',
}

GAINS_UNKNOWN = (
    'Drive gains of this arm are not known, so torques have an unknown scale (--relative-scale). '
    'When the static poses have shown them, do it again with the --drive-gains that are printed '
    'there.'
)
RELAUNCH = (
    ' Until then the runner watches no effort, and its dry run says so: start the launch file '
    'again with drive_gains:="[...]" as well.'
)


@dataclass(frozen=True, eq=False)
class Study:
    """A planned study."""

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


def study_content(study: Study) -> dict[str, Any]:
    """Return a study as --json prints it; times are at most, at full speed."""
    laboratory = study.laboratory
    return {
        'folder': str(study.folder),
        'robot': study.robot_name,
        'mounting': list(laboratory.mounting),
        'effort_unit': laboratory.effort_unit,
        'source': laboratory.source,
        'guide': str(study.folder / 'guide.md'),
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
                'design': design_command(study, motion),
                'run': run_command(study, motion),
            }
            for motion in study.motions
        ],
    }


def design_command(study: Study, motion: PlannedMotion) -> str:
    """Return the command that designs a motion."""
    samples = (
        f' --csv {study.file(f"{motion.name}_samples.csv")}'
        if study.laboratory.source == 'csv' else ''
    )
    return (
        f'robot-identification excite --robot {shlex.quote(study.robot_name)} --experiment '
        f'{study.file(f"{motion.name}.yaml")} --seed {motion.seed} --time-limit '
        f'{motion.search_seconds:g} -o {_trajectory(study, motion)}{samples}'
    )


def run_command(study: Study, motion: PlannedMotion) -> str:
    """Return the command that executes and records a motion, or what to do where none does."""
    source = study.laboratory.source
    if source == 'csv':
        return (
            f'run {study.file(f"{motion.name}_samples.csv")} on the arm, record '
            f'{_bag(study, motion)}'
        )
    if source == 'simulated':
        repeated = (
            f' --warm-up --repeat {warm_up_runs(motion)} --separate-bags'
            if motion.step == 'warm_up' else ''
        )
        return (
            f'robot-identification simulate --robot {shlex.quote(study.robot_name)} --trajectory '
            f'{_trajectory(study, motion)}{_mounting(study)}{repeated} -o {_bag(study, motion)}'
        )
    programs = {'warm_up': 'temperature', 'static_poses': 'static_poses'}
    angles = ', '.join(repr(float(angle)) for angle in study.laboratory.mounting)
    minutes = (
        f' -p maximum_minutes:={1.5 * WARM_MINUTES:.1f} -p maximum_runs:='
        f'{math.ceil(1.5 * warm_up_runs(motion))}' if motion.step == 'warm_up' else ''
    )
    return (
        f'ros2 run robot_identification experiment_coordinator --ros-args -p program:='
        f'{programs.get(motion.step, "record")} -p robot:={shlex.quote(study.robot_name)} -p '
        f'"mounting:=[{angles}]" -p effort_unit:={study.laboratory.effort_unit} -p '
        f'trajectory_file:={_trajectory(study, motion)} -p output:={study.file(motion.name)}'
        # As the RTDE publisher of Universal Robots names it; recorded where it is there.
        + minutes
        + (' -p "optional_topics:=[rtde/joint_temperatures]"' if study.has_ur_driver else '')
    )


def warm_up_runs(motion: PlannedMotion) -> int:
    """Return how many runs of the warm-up make half an hour."""
    return math.ceil(60.0 * WARM_MINUTES / motion.motion_seconds)


def guide_text(study: Study) -> str:
    """Return the text of guide.md."""
    content = study_content(study)
    laboratory = study.laboratory
    things = ', '.join(obstacle.name for obstacle in laboratory.obstacles) or 'nothing'
    tool = 'no tool' if study.tool is None else f'a tool of {study.tool.mass:g} kg'
    lines = [
        f'# Study of {study.robot.name}', '',
        f'{study.robot.name} with {tool}, mounting {list(laboratory.mounting)} rad '
        f'({_down(study)}), in a cell with {things}. Effort in {laboratory.effort_unit}. Made by',
        '',
        *_console([f'robot-identification init {study.options} --defaults -o '
                   f'{shlex.quote(str(study.folder))}']), '',
        'Commands are for the folder in which that was typed; nodes read and write below it.', '',
        *_alias(study),
        '## Minutes', '',
        '| step | motions | design | at full speed, at most | slow, one period |',
        '|---|---|---|---|---|',
        *(_row(study, step) for step in STEPS), '',
        f'At most: from the durations and periods of the files, and a way to each start from '
        f'anywhere in the window at {APPROACH_SPEED:g} rad/s. In all {content["minutes"]:.0f} min '
        f'once at full speed, {content["slow_minutes"]:.0f} min slow (one period at '
        f'{SLOW_SPEED:.0%}, static poses and friction maps at {GENTLE_SPEED:.0%}; longer where '
        f'the tool would exceed {SLOW_TOOL_SPEED:g} m/s), and the warm-up repeated: '
        f'{warm_up_runs(study.motions[0])} runs are {WARM_MINUTES:.0f} min.', '',
        '## Design', '',
        'All motions before the arm is warm. Each line proves its motion free of collision in the '
        'cell above, or says why not.', '',
        *_console([design_command(study, motion) for motion in study.motions]), '',
        *_before(study),
    ]
    for number, step in enumerate(STEPS, start=1):
        lines += ['', f'## {number}. {TITLES[step]}', '', WHY[step], '']
        lines += _console([run_command(study, motion) for motion in study.of_step(step)])
        lines += ['', *_console(_evaluation(study, step))] if _evaluation(study, step) else []
        if step == 'excitation' and _needs_gains(study):
            lines += ['', GAINS_UNKNOWN + (RELAUNCH if study.laboratory.source == 'ros' else '')]
        lines += ['', f'Look at: {LOOK[step]}']
    return '\n'.join(lines) + '\n'


def _alias(study: Study) -> list[str]:
    """Return how the command line is found beside ROS."""
    if study.laboratory.source != 'ros':
        return []
    return [
        'In a colcon workspace the command line is not on the PATH. There, in every terminal:', '',
        *_console([
            "alias robot-identification='ros2 run robot_identification robot-identification'",
        ]), '',
    ]


def _row(study: Study, step: str) -> str:
    motions = study.of_step(step)
    design, full, slow = (
        sum(seconds) / 60.0 for seconds in (
            [motion.search_seconds for motion in motions],
            [motion.seconds for motion in motions],
            [motion.slow_seconds for motion in motions],
        )
    )
    return (
        f'| {TITLES[step]} | {len(motions)} | {design:.1f} min | {full:.1f} min | {slow:.1f} min |'
    )


def _down(study: Study) -> str:
    """Return in words which way of the base is down."""
    down = gravity_of_mounting(*study.laboratory.mounting)
    down /= np.linalg.norm(down)
    axis = int(np.argmax(np.abs(down)))
    if abs(down[axis]) > 1.0 - 1e-9:
        return f'{"+" if down[axis] > 0.0 else "-"}{"xyz"[axis]} of the base points to the floor'
    return f'the floor is towards {", ".join(f"{part:.3f}" for part in down)} of the base'


def _pendant(study: Study) -> str:
    """Return what to enter on the controller of a real arm."""
    tool = study.tool
    payload = (
        'payload 0 kg' if tool is None else
        f'payload {tool.mass:g} kg with its centre of mass at '
        f'({", ".join(f"{1000.0 * one:g}" for one in tool.center_of_mass)}) mm in the frame of '
        'the tool'
    )
    return (
        f'Enter on the pendant, before anything else: {payload}, and the mounting as the arm '
        f'really hangs ({_down(study)}). The controller holds the arm against gravity with them: '
        'with others it sags or stops by itself, and efforts that it publishes without gravity '
        'are wrong.'
    )


def _before(study: Study) -> list[str]:
    """Return what is done once, and before each motion."""
    if study.laboratory.source == 'simulated':
        return ['## Before', '', 'No arm moves: everything is simulated.']
    if study.laboratory.source == 'csv':
        return [
            '## Before', '', _pendant(study), '',
            'Move the arm to the start of each motion yourself, slowly and away from obstacles.',
        ]
    return [
        '## Before', '', _pendant(study), '',
        'One person holds the emergency stop. The runner is not a safety function. Start it '
        'beside the running driver, in this folder, with the number on the plate of the arm for '
        'SERIAL:', '',
        *_console([
            _launch_command(study),
            # The tool is in the description of the arm.
            'ros2 param set /experiment_runner payload "[0.0]"',
        ]), '',
        _description_words(study), '',
        'Every motion is commissioned in stages: a dry run, a slow run of one period, then full '
        'speed. For each, look at the trajectory and arm the runner. The '
        'commands below state what to call, wait for it, and record. For commissioning, before '
        'each:', '',
        *_console([
            'ros2 param set /experiment_runner dry_run true    # then the command, and arm',
            f'ros2 param set /experiment_runner speed {SLOW_SPEED:g}; ros2 param set '
            '/experiment_runner periods 1; ros2 param set /experiment_runner dry_run false',
            f'ros2 param set /experiment_runner slow_speed {SLOW_SPEED:g}; ros2 param set '
            '/experiment_runner speed 1.0; ros2 param set /experiment_runner periods 0; ros2 '
            'param set /experiment_runner dry_run false',
        ]), '',
        'Static poses and friction maps are long and move the tool slowly. For them '
        f'{GENTLE_SPEED:.0%} count as slow, as far as the tool keeps {SLOW_TOOL_SPEED:g} m/s; '
        'where it does not, the runner says how slow instead of the second line above:', '',
        *_console([
            f'ros2 param set /experiment_runner slow_speed {GENTLE_SPEED:g}; ros2 param set '
            f'/experiment_runner speed {GENTLE_SPEED:g}',
        ]), '',
        'A dry run and a slow run are made with `program:=record` and an `output` of their own: a '
        'slow run is recorded, too. The commands below are at full speed: type the third line of '
        'commissioning before each.', '',
        'The payload is part of the record: another payload is commissioned again.',
    ]


def _launch_command(study: Study) -> str:
    """Return the command that starts the nodes beside a running driver."""
    launch, more = (
        ('ur_robot.launch.py', '') if study.has_ur_driver else
        # A driver of another make has no safety mode of Universal Robots.
        ('experiment.launch.py', ' use_sim:=false launch_coordinator:=false watch_safety:=false')
    )
    return (
        f'ros2 launch robot_identification {launch}{more} ur_type:='
        f'{shlex.quote(study.robot_name)} effort_unit:={study.laboratory.effort_unit}'
        f'{_launch_mounting(study)} serial:=SERIAL'
    )


def _description_words(study: Study) -> str:
    if not study.has_ur_driver:
        return (
            f'Motions are certified for the description in {study.robot_name}. Compare its joint '
            'names, limits and zero positions with those of the driver, and state in it what is '
            '`null`: the runner refuses a real arm until every limit was checked. Where the '
            'experiment files say `generic: true`, the check of collisions is open, too: give the '
            'links collision shapes, or remove that line and keep everything out of reach '
            '(docs/adding_a_robot.md).'
        )
    return (
        'Motions are certified for the description that was designed with, and the one of a '
        'running driver is another: it has the calibration of the arm, meshes instead of boxes, '
        'and no tool. The runner refuses joints that are further apart than a calibration moves '
        'them; `robot-identification urdf --calibration` puts the calibration into ours '
        '(docs/tutorial_ur5e.md).'
    )


def _evaluation(study: Study, step: str) -> list[str]:
    """Return what is computed after a step."""
    robot = f'--robot {shlex.quote(study.robot_name)}'
    unit = f'--effort-unit {study.laboratory.effort_unit}'
    first = study.of_step('excitation')[0]
    model = study.file('result/identified_model.yaml')
    if _needs_gains(study):
        unit += ' --relative-scale'
    bags = ' '.join(_bag(study, motion) for motion in study.of_step(step))
    return {
        'excitation': [
            f'robot-identification identify {bags} {robot}{_mounting(study)} {unit} -o '
            f'{study.file("result")}'
        ],
        'validation': [
            f'robot-identification validate {model} {bags} -o {study.file("validation")}'
        ],
        'static_poses': [
            f'robot-identification drive-gains {bags} {robot}{_mounting(study)} --effort-unit A '
            f'--torque-from urdf -o {study.file("gains")}'
        ] if study.laboratory.effort_unit == 'A' and study.laboratory.source != 'ros' else [],
        'friction_map': [
            f'robot-identification identify {_bag(study, first)} {bags} {robot}'
            f'{_mounting(study)} {unit} -o {study.file("friction")}'
        ],
    }.get(step, [])


def _needs_gains(study: Study) -> bool:
    """Return whether currents are recorded and their torque constants are unknown."""
    return study.laboratory.effort_unit == 'A' and not bool(
        np.all(np.isfinite(study.robot.drives.drive_gain))
    )


def _trajectory(study: Study, motion: PlannedMotion) -> str:
    return study.file(f'{motion.name}.trajectory.yaml')


def _bag(study: Study, motion: PlannedMotion) -> str:
    source = study.laboratory.source
    if source == 'csv':
        return study.file(f'{motion.name}.csv')
    if source == 'simulated':
        return study.file(f'{motion.name}_bag')
    names = {'static_poses': 'poses_bag', 'warm_up': 'bag_001'}
    return study.file(f'{motion.name}/{names.get(motion.step, "bag")}')


def _mounting(study: Study) -> str:
    angles = study.laboratory.mounting
    return ' --mounting ' + ' '.join(repr(float(a)) for a in angles) if any(angles) else ''


def _launch_mounting(study: Study) -> str:
    angles = study.laboratory.mounting
    words = ', '.join(repr(float(a)) for a in angles)
    return f' "mounting:=[{words}]"' if any(angles) else ''


def _console(commands: list[str]) -> list[str]:
    return ['```console', *(f'$ {command}' for command in commands), '```']
