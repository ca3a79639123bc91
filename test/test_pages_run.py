# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The command lines of pages run in the order in which they stand there.

Searches have one evaluation, and friction laws are plain where a page names none. What a line
takes is prepared under its name: recordings of a simulated UR5 and the model of one of them.
Tutorials, `sim_to_real_mujoco.md`, `servo_arms.md`, `adding_a_robot.md`, `base_parameters.md` and
`link_table.md` have tests of their own; `arms.md` needs the repositories of the makers, whose arms
`test_descriptions_of_others.py` takes from packages.
"""

from contextlib import chdir
from dataclasses import replace
from pathlib import Path
import re
import shlex
import shutil

from builders import run_command, UR_JOINTS
from export.exported_models import changed_prior, model_of
from long_tests import long_test
import numpy as np
import pytest
from robot_identification import load_robot, read_recording
from robot_identification.cli.main import parse_arguments
from robot_identification.excitation import find_experiment
from robot_identification.model.model_file import dump_model
from robot_identification.recording import write_simulated_bag
from robot_identification.simulation import Sensors
from robot_identification.simulation.run import PoseOptions, simulate_poses
from studies.payload_cases import POSES, record_pair, true_arm

pytestmark = pytest.mark.usefixtures('without_pictures')

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = 'robot-identification'
PLAIN = ('--friction', 'coulomb,viscous,offset', '--cutoff', '9')
# Lines that cannot run here, by a part of them, and why.
LEFT_OUT = {
    'ur10_exciting_trajectory': 'test_real_recordings.py runs it where the recordings are',
    'panda_exciting_trajectory': 'test_real_recordings.py runs it where the recordings are',
    'init -o study': 'it asks a person',
    'ur3/identified_model.yaml': 'it takes arms of several sizes',
    'my_mapping.yaml': 'a person has edited it',
    'arm.urdf.xacro': 'a vendor has written it',
    'old.yaml': 'any other motion',
    'collision result': 'cli/test_studies.py has recordings of the length that it needs',
    'bag_1 bag_2 bag_3': 'test_temperature.py has recordings of several temperatures',
    'tcp://': 'test_many_bags.py has a scheduler',
}
DAY = ('README.md',)
NIGHT = (
    'docs/your_own_log.md',
    'docs/quick_start.md', 'docs/export.md', 'docs/compare.md', 'docs/payload.md',
    'docs/prediction.md', 'docs/descriptions.md', 'docs/experiments.md', 'docs/excitation.md',
    'docs/effort.md', 'docs/energy.md',
    'docs/temperature.md', 'docs/simulation.md', 'docs/ros2_control.md', 'docs/many_bags.md',
    'docs/execution.md', 'docs/campaign.md', 'docs/drive_gains.md', 'docs/measuring_friction.md',
    'docs/reproductions/raviola_2021.md', 'docs/install.md',
)
FLEET = """
schema_version: 1
name: fleet
options: {friction: 'coulomb,viscous,offset', cutoff: 9.0}
arms: [{name: left, robot: ur5}]
runs: [{name: left, arm: left, bags: bag}]
"""


def lines_of(page: Path) -> list[str]:
    """Return the command lines in the blocks of a page, without prompt and comment."""
    text = re.sub(r'\\\n\s*', ' ', page.read_text(encoding='utf-8'))
    lines = re.findall(rf'^(?:\$ )?{PROGRAM} (.+)$', text, re.M)
    return [shlex.join(shlex.split(line, comments=True)) for line in lines]


def quickly(words: list[str]) -> list[str]:
    """Return a command with a search of one evaluation and plain friction laws."""
    line = re.sub(r'--(time-limit|max-evaluations) \S+', '', shlex.join(words))
    words = shlex.split(line)
    if words[0] == 'excite' and '--evaluate' not in words:
        words += ['--max-evaluations', '1']
    if words[0] in ('identify', 'auto') and '--friction' not in words:
        words += PLAIN
    return words


def write_log(path: Path, bag: Path, drive_gains: np.ndarray) -> None:
    """Write a recording as a table with joint torques, which need no gain to be understood."""
    recording = read_recording(bag, UR_JOINTS)
    torque = recording.effort * drive_gains
    columns = np.column_stack([recording.stamps, recording.q, recording.dq, torque])
    names = [f'{kind}_{joint}' for kind in ('q', 'dq', 'tau') for joint in UR_JOINTS]
    np.savetxt(path, columns, delimiter=',', header=','.join(['t', *names]), comments='')


def expanded(word: str) -> list[str]:
    """Return the files that a word with stars stands for, or the word."""
    return sorted(map(str, Path().glob(word))) if '*' in word else [word]


def remove(path: Path) -> None:
    """Remove what was prepared, or written by a line before, under the name of a result."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@pytest.fixture
def prepared(scene, model_file, tmp_path) -> Path:
    """Return a folder with what the lines of the pages take."""
    bags, gains = scene('ur5').bags, scene('ur5').robot.drives.drive_gain
    for name, bag in {
        'bag': bags[0], 'bag_2': bags[1], 'loaded_bag': bags[1], 'free_motion': bags[0],
        'another_motion': bags[1],
    }.items():
        shutil.copytree(bag, tmp_path / name)
    for name in ('result', 'cold', 'warm', 'may', 'june'):
        (tmp_path / name).mkdir()
        shutil.copy(model_file, tmp_path / name / 'identified_model.yaml')
    for name in ('my_arm.urdf', 'my_ur5.urdf', 'arm.urdf'):
        assert run_command('urdf', '--robot', 'ur5', '-o', tmp_path / name).code == 0
    (tmp_path / 'out').mkdir()
    assert run_command('export', model_file, '--mjcf', tmp_path / 'scene.xml').code == 0
    (tmp_path / 'bags').mkdir()
    for name in ('bag', 'bag_2'):
        (tmp_path / 'bags' / name).symlink_to(tmp_path / name)
    write_log(tmp_path / 'log.csv', bags[0], gains)
    write_log(tmp_path / 'log2.csv', bags[1], gains)
    return tmp_path


def prepare_campaign(folder: Path) -> None:
    (folder / 'fleet.yaml').write_text(FLEET)


def prepare_gains(folder: Path) -> None:
    """Record static poses with the controller's targets, and motions with and without a load."""
    robot = load_robot('ur5')
    truth = true_arm(robot)
    write_simulated_bag(folder / 'poses_bag', robot, simulate_poses(
        robot, truth, Sensors(), POSES, PoseOptions(dwell=2.2)
    ))
    remove(folder / 'loaded_bag')
    record_pair(robot, truth, (folder / 'bare_bag', folder / 'loaded_bag'), 1500)


def prepare_segments(folder: Path) -> None:
    """Record segments of one joint for all bags of the page, as `simulate` does."""
    # With the whole window of the second wrist the tool comes too near to the forearm.
    (folder / 'cell.yaml').write_text(find_experiment('demo').read_text().replace(
        'wrist_2_joint: [-3.0, 0.0]', 'wrist_2_joint: [-2.2, -0.8]'
    ))
    remove(folder / 'loaded_bag')
    for command in (
        'friction-map --plan demo --robot ur5 --of elbow_joint --count 4 --slowest 0.2 -o plan',
        'simulate --robot ur5 --trajectory plan/friction_elbow_joint.trajectory.yaml '
        '-o cold_bag',
    ):
        assert run_command(*command.split()).code == 0
    for name in ('warm_bag', 'loaded_bag'):
        shutil.copytree(folder / 'cold_bag', folder / name)


def prepare_workspace(folder: Path) -> None:
    """Put the package where `colcon build` looks for it, and a home beside it."""
    (folder / 'src').mkdir()
    (folder / 'src' / 'robot_identification').symlink_to(ROOT)
    (folder / '.local' / 'share' / 'bash-completion' / 'completions').mkdir(parents=True)


PREPARE = {
    'docs/install.md': prepare_workspace,
    'docs/campaign.md': prepare_campaign, 'docs/drive_gains.md': prepare_gains,
    'docs/measuring_friction.md': prepare_segments,
    'docs/execution.md': lambda folder: shutil.copy(
        find_experiment('demo'), folder / 'cell.yaml'
    ),
}


@pytest.mark.parametrize(
    'page', sorted([*ROOT.glob('*.md'), *(ROOT / 'docs').rglob('*.md')]),
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_every_command_of_every_page_is_understood(page):
    """Commands and options are there, whatever files the lines take."""
    for line in lines_of(page):
        assert parse_arguments(shlex.split(line)).command


@pytest.mark.parametrize('page', [
    *DAY, *(pytest.param(page, marks=long_test) for page in NIGHT),
])
def test_every_command_of_a_page_ends_well(page, prepared):
    """With exit code 0; results of lines before are replaced."""
    ran = 0
    with chdir(prepared):
        if page in PREPARE:
            PREPARE[page](prepared)
        if any('--trajectory trajectory.yaml' in line for line in lines_of(ROOT / page)):
            assert run_command(
                *quickly('excite --robot ur5 --experiment demo -o trajectory.yaml'.split())
            ).code == 0
        for line in lines_of(ROOT / page):
            if any(part in line for part in LEFT_OUT):
                continue
            # The folder stands for the home, too.
            words = quickly(shlex.split(line.replace('~/', '')))
            if '-o' in words:
                output = words[words.index('-o') + 1]
                for path in (output, *expanded(f'{output}_*')):
                    remove(Path(path))
            # As a shell does.
            words = [file for word in words for file in expanded(word)]
            done = run_command(*words, *(['--force'] if words[0] == 'export' else []))
            assert done.code == 0, f'{line}: {done.err}'
            ran += 1
    assert ran > 0


DOCS = Path(__file__).resolve().parents[1] / 'docs'


def run_page(name, folder):
    """Run the blocks of a page that need no robot in a folder; return what was said and made."""
    page = DOCS / f'{name}.md'
    found = re.findall(
        r'^```(console|python)\n(.*?)^```$', page.read_text(encoding='utf-8'), re.M | re.S
    )
    said, names = '', {}
    with chdir(folder):
        for language, block in found:
            if language == 'python':
                exec(compile(block, str(page), 'exec'), names)
                continue
            for line in block.splitlines():
                program, *arguments = shlex.split(line.removeprefix('$ '))
                assert program == 'robot-identification'
                done = run_command(*arguments)
                assert done.code == 0, done.err
                said += done.out
    return [language for language, _ in found], said, names


@pytest.fixture
def result(ur5, tmp_path):
    """Return a folder with a model of a UR5 in its folder `result`, with errors of 1 %."""
    model = model_of(
        ur5, changed_prior(ur5), 'coulomb,viscous', provenance={'bags': []},
        quality={'verdict': 'good'},
    )
    model = replace(model, covariance=1e-4 * np.diag(model.theta_base**2 + 1e-6))
    (tmp_path / 'result').mkdir()
    (tmp_path / 'result' / 'identified_model.yaml').write_text(dump_model(model))
    return tmp_path


@long_test
def test_the_page_runs_from_the_bags_to_the_moving_arm(scene, tmp_path):
    """
    Every command ends well, and the code's simulation stays near the recording for 0.1 s.

    Within 10 mrad; the URDF's joints drift by some 40 to 280 mrad in that time.
    """
    pytest.importorskip('mujoco')
    for name, bag in zip(('bag', 'bag_2'), scene('ur5').bags, strict=True):
        (tmp_path / name).symlink_to(bag)
    languages, said, names = run_page('sim_to_real_mujoco', tmp_path)
    assert languages == ['console'] * 3 + ['python']
    assert 'drift of a simulation under the measured effort alone' in said
    assert 'the exported MJCF' in said
    assert np.all(names['drift'] < 10.0)


def test_a_plugin_of_ros2_control_gets_the_gravity_of_the_model(result):
    """The block asserts it; the calls of the driver are those that the file has for this arm."""
    languages, said, names = run_page('ros2_control', result)
    assert languages == ['console', 'python']
    assert 'written to arm_dynamics.yaml' in said
    assert np.abs(names['plugin']).max() > 10.0
    written = (result / 'arm_dynamics.yaml').read_text()
    calls = re.findall(r'^# (ros2 service call .*)$', written, re.M)
    page = (DOCS / 'ros2_control.md').read_text(encoding='utf-8')
    assert len(calls) == 2
    for call in calls:
        assert call in page
