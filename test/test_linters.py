# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The code keeps the rules of ament's linters, which exist on ROS machines only."""

from importlib import import_module
import os
from pathlib import Path
import subprocess
import sys

import pytest

ROOT = Path(__file__).resolve().parents[1]
CHECKED = (
    'robot_identification', 'launch', 'test', 'benchmarks', 'reproductions', 'docs', 'setup.py',
)


@pytest.mark.linter
@pytest.mark.filterwarnings('ignore')
@pytest.mark.parametrize(('ours', 'of_ament'), [
    pytest.param('flake8', 'ament_flake8', marks=pytest.mark.flake8),
    pytest.param('pydocstyle', 'ament_pep257', marks=pytest.mark.pep257),
])
def test_the_linter_finds_nothing(ours, of_ament, capfd):
    """Elsewhere the linter that it calls is used, with the same rules from setup.cfg."""
    paths = [str(ROOT / name) for name in CHECKED if (ROOT / name).exists()]
    try:
        code = import_module(f'{of_ament}.main').main(argv=paths)
    except ImportError:
        if os.environ.get('LINTED_BESIDE'):
            pytest.skip('make lint does the same beside the tests')
        pytest.importorskip(ours)
        code = subprocess.run([sys.executable, '-m', ours, *paths], cwd=ROOT).returncode
    assert code == 0, ''.join(capfd.readouterr())
