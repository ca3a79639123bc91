# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The code keeps the flake8 rules of ament."""

import os
from pathlib import Path
import subprocess
import sys

import pytest

ROOT = Path(__file__).resolve().parents[1]
CHECKED = ('robot_identification', 'launch', 'test', 'benchmarks', 'docs', 'setup.py')


@pytest.mark.flake8
@pytest.mark.linter
@pytest.mark.filterwarnings('ignore')
def test_flake8():
    """Use ament_flake8 on a ROS machine, elsewhere flake8 with the same rules from setup.cfg."""
    paths = [str(ROOT / name) for name in CHECKED if (ROOT / name).exists()]
    try:
        from ament_flake8.main import main_with_errors
    except ImportError:
        if os.environ.get('LINTED_BESIDE'):
            pytest.skip('make lint does the same beside the tests')
        pytest.importorskip('flake8')
        completed = subprocess.run(
            [sys.executable, '-m', 'flake8', *paths], cwd=ROOT, capture_output=True, text=True
        )
        assert completed.returncode == 0, completed.stdout + completed.stderr
    else:
        return_code, errors = main_with_errors(argv=paths)
        assert return_code == 0, '\n'.join(errors)
