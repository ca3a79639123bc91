# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The docstrings keep the rules of ament_pep257."""

import os
from pathlib import Path
import subprocess
import sys

import pytest

ROOT = Path(__file__).resolve().parents[1]
CHECKED = ('robot_identification', 'launch', 'test', 'benchmarks', 'docs', 'setup.py')


@pytest.mark.linter
@pytest.mark.pep257
@pytest.mark.filterwarnings('ignore')
def test_pep257():
    """Use ament_pep257 on a ROS machine, elsewhere pydocstyle with its rules from setup.cfg."""
    paths = [str(ROOT / name) for name in CHECKED if (ROOT / name).exists()]
    try:
        from ament_pep257.main import main
    except ImportError:
        if os.environ.get('LINTED_BESIDE'):
            pytest.skip('make lint does the same beside the tests')
        pytest.importorskip('pydocstyle')
        completed = subprocess.run(
            [sys.executable, '-m', 'pydocstyle', *paths], cwd=ROOT, capture_output=True, text=True
        )
        assert completed.returncode == 0, completed.stdout + completed.stderr
    else:
        assert main(argv=paths) == 0, 'see the errors above'
