# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The tutorial of Universal Robots."""

from contextlib import chdir
from functools import cache
from pathlib import Path
import re
import shlex
import subprocess
from typing import NamedTuple

from builders import run_command
from launch_descriptions import declared_in
from long_tests import long_test
import pytest
from robot_identification.files import dump_yaml, read_yaml

ROOT = Path(__file__).resolve().parents[1]
NODES = ROOT / 'robot_identification' / 'nodes'
PAGE = ROOT / 'docs' / 'tutorial_ur.md'
ARM_OF_THE_PAGE = 'ur5e'
ARMS = (ARM_OF_THE_PAGE, 'ur5')
SERVED = (ROOT / 'security' / 'policies' / 'operator.xml').read_text()
OWN = 'robot-identification'
NEEDS_ROBOT = '# needs the robot'
SHARE = '$(ros2 pkg prefix --share robot_identification)'
# What people do with their own files in blocks without a robot.
SHELL = ('cp', 'sed')
# Launch files of others: arguments that they declare, by package (ur_robot_driver 3.8.0).
FOREIGN_ARGUMENTS = {
    ('ur_robot_driver', 'ur_control.launch.py'): {
        'ur_type', 'robot_ip', 'kinematics_params_file', 'launch_rviz',
    },
    ('ur_calibration', 'calibration_correction.launch.py'): {'robot_ip', 'target_filename'},
}
# A search of one evaluation, and motions of seconds: the commands are what is tried.
SHORT = {
    '01_warm_up': {'base_period': 5.0},
    '02_excitation': {'base_period': 6.0},
    '04_validation_random': {'base_period': 5.0},
    '06_static_poses': {'poses': 3, 'move_time': 2.0, 'dwell': 2.5},
}
# Laws and filter by name, as what is compared otherwise takes longer than all of the page.
PLAIN = ('--friction', 'coulomb,viscous,offset', '--cutoff', '9')


class Block(NamedTuple):
    """One console block: whether it needs the robot, and its command lines."""

    robot: bool
    lines: tuple[str, ...]


class Run(NamedTuple):
    """A line that was run, how it ended, and what it said."""

    line: str
    code: int
    said: str


def blocks() -> list[Block]:
    """Return the console blocks of the page in their order."""
    found = []
    for text in re.findall(r'^```console\n(.*?)^```$', PAGE.read_text(), re.M | re.S):
        first, *_ = lines = text.splitlines()
        robot = first == NEEDS_ROBOT
        found.append(Block(robot, tuple(lines[1:] if robot else lines)))
    return found


def commands(*, robot: bool) -> list[str]:
    """Return the lines that are typed, without prompt, of blocks with or without the robot."""
    return [line[2:] for block in blocks() if block.robot == robot for line in block.lines]


def in_text() -> list[str]:
    text = re.sub(r'^```.*?^```$', '', PAGE.read_text(), flags=re.M | re.S)
    return re.findall(r'`(ros2 [^`]+)`', text)


def ros_commands() -> list[list[str]]:
    lines = [*commands(robot=True), *commands(robot=False), *in_text()]
    return [shlex.split(line) for line in lines if line.startswith('ros2 ')]


def shorten(folder: Path, robot: Path) -> None:
    """Make the motions of a study short, and their samples few where the arm is one's own."""
    # Every key of a form that is changed must be there.
    if robot.suffix:
        robot.write_text(dump_yaml({**read_yaml(robot), 'sampling_rate': 125.0}))
    for name, changes in SHORT.items():
        path = folder / f'{name}.yaml'
        content = read_yaml(path)
        form = content['trajectory']
        assert set(changes) <= set(form), f'{name} has no {set(changes) - set(form)}'
        path.write_text(dump_yaml({**content, 'periods': 1, 'trajectory': {**form, **changes}}))


def run_line(line: str) -> Run:
    """Run a line of a block without a robot, quickly, in the working directory."""
    words = shlex.split(line.replace(SHARE, str(ROOT)))
    if words[0] in SHELL:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        return Run(line, done.returncode, done.stderr)
    assert words[0] == OWN, line
    quick = re.sub(r'--time-limit \S+', '--max-evaluations 1', shlex.join(words[1:]))
    chosen = PLAIN if words[1] == 'identify' else ()
    outcome = run_command(*shlex.split(quick), *chosen)
    if words[1] == 'init':
        shorten(*(Path(words[words.index(option) + 1]) for option in ('-o', '--robot')))
    return Run(line, outcome.code, outcome.err)


@pytest.fixture(scope='module', params=[pytest.param(arm, marks=long_test) for arm in ARMS])
def walked(request, without_pictures, tmp_path_factory) -> tuple[Path, list[Run]]:
    """Return the folder in which the blocks without a robot were run for an arm, and the runs."""
    folder = tmp_path_factory.mktemp(request.param)
    runs = []
    with chdir(folder):
        for line in commands(robot=False):
            runs.append(run_line(line.replace(ARM_OF_THE_PAGE, request.param)))
            if runs[-1].code:
                break
    return folder, runs


def test_every_command_without_a_robot_ends_well(walked):
    """In the order of the page, each on what those before it have written."""
    folder, runs = walked
    assert [(run.line, run.said) for run in runs if run.code] == []
    assert len(runs) == len(commands(robot=False))
    verbs = {shlex.split(run.line)[1] for run in runs if run.line.startswith(OWN)}
    assert verbs >= {
        'urdf', 'init', 'excite', 'simulate', 'doctor', 'identify', 'validate', 'predict',
        'drive-gains',
    }
    # What `-o` names, and what the table at the end of the day says is worth keeping, is there.
    for run in runs:
        words = shlex.split(run.line)
        if '-o' in words:
            assert (folder / words[words.index('-o') + 1]).exists(), run.line
    kept = re.findall(r'^\| `(study/[^`]+)` \|', PAGE.read_text(), re.M)
    # It comes from repeated runs, by the coordinator.
    assert [name for name in kept if not (folder / name).exists()
            and not name.endswith('temperature_runs.json')] == []


def test_launch_arguments_are_declared():
    """Ours by our files; those of others by what they are known to declare."""
    launched = [words[2:] for words in ros_commands() if words[1] == 'launch']
    assert {package for package, *_ in launched} == {
        'robot_identification', *(package for package, _ in FOREIGN_ARGUMENTS)
    }
    for package, file, *arguments in launched:
        given = {word.partition(':=')[0] for word in arguments if word != '--show-args'}
        known = (
            set(declared_in(ROOT / 'launch' / file)) if package == 'robot_identification'
            else FOREIGN_ARGUMENTS[package, file]
        )
        assert given <= set(known), f'{file}: {given - set(known)}'


def test_nodes_parameters_and_services_are_there():
    """`ros2 param set`, `ros2 run` and `ros2 service call` name what our nodes declare."""
    seen = set()
    for words in ros_commands():
        verb = words[1:3]
        if verb == ['param', 'set']:
            node, parameter, _ = words[3:]
            assert parameter in declared_parameters(node.lstrip('/')), words
        elif words[1] == 'run':
            package, node = words[2:4]
            assert package == 'robot_identification'
            for given in words[words.index('--ros-args') + 1:]:
                assert given == '-p' or given.partition(':=')[0] in declared_parameters(node)
            (program,) = [w.partition(':=')[2] for w in words if w.startswith('program:=')]
            assert f"'{program}':" in (NODES / 'programs.py').read_text()
        elif verb == ['service', 'call']:
            assert words[4] == 'std_srvs/srv/Trigger'
            # What the running nodes serve is in the policy of the operator.
            assert f'<service>{words[3].removeprefix("/")}</service>' in SERVED, words
        else:
            continue
        seen.add(verb[0])
    assert seen == {'param', 'run', 'service'}


@cache
def declared_parameters(node: str) -> frozenset[str]:
    """Return the parameters of a node on the page that is made from the running nodes."""
    _, *sections = (ROOT / 'docs' / 'parameters.md').read_text().split('\n## ')
    tables = dict(section.split('\n', 1) for section in sections)
    rows = tables['Shared by several nodes'] + tables[node]
    return frozenset(re.findall(r'^\| `([\w.]+)` \|', rows, re.M))
