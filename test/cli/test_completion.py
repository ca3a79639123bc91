# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification completion`: what the shells make of its scripts."""

import shutil
import subprocess

import pytest
from robot_identification.cli.completion import completion_script
from robot_identification.cli.main import make_parser
from robot_identification.model.friction import FRICTION_LAWS
from robot_identification.model.registry import known_robots

# As bash does when Tab is pressed: words so far, then the function that `complete` names.
ASK = """
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
function_name=$(complete -p robot-identification | sed 's/.* -F \\([^ ]*\\) .*/\\1/')
"$function_name" 2>/dev/null
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope='module')
def ask(tmp_path_factory):
    """Return a function that says what bash offers for the last of some words."""
    pytest.importorskip('shtab', reason='shtab writes the scripts')
    bash = shutil.which('bash')
    if bash is None:
        pytest.skip('there is no bash')
    folder = tmp_path_factory.mktemp('completion')
    script = folder / 'script'
    script.write_text(completion_script(make_parser(), 'bash'))
    (folder / 'my_arm.yaml').touch()
    (folder / 'bag').mkdir()

    def offered(*words: str) -> set[str]:
        asked = subprocess.run(
            [bash, '-c', ASK, 'bash', str(script), 'robot-identification', *words],
            capture_output=True, text=True, check=True, cwd=folder,
        )
        assert asked.stderr == ''
        return set(asked.stdout.split())

    return offered


def test_bash_completes_commands_options_and_their_values(ask):
    """Of robots known names that begin so, and YAML files beside them."""
    assert ask('ide') == {'identify'}
    assert ask('fri') == {'friction-map'}
    names = {robot.name for robot in known_robots()}
    assert ask('identify', 'bag', '--robot', 'ur5') == {
        name for name in names if name.startswith('ur5')
    }
    assert ask('simulate', '--robot', 'my') == {'my_arm.yaml'}
    assert ask('identify', '--esti') == {'--estimator'}
    assert ask('identify', 'bag', '--estimator', 'wl') == {'wls'}
    assert ask('identify', 'bag', '--friction', 'pow') == {
        name for name in FRICTION_LAWS if name.startswith('pow')
    }
    assert ask('excite', '--experiment', 'stat') == {'static_poses'}
    assert ask('doctor', 'ba') == {'bag'}
