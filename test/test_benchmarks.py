# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The benchmarks run; what they measure is for people to judge, not for a test."""

import json
from pathlib import Path
import subprocess
import sys

ROOT = Path(__file__).resolve().parents[1]


def test_figures_come_with_the_facts_of_the_machine(tmp_path):
    """A table for people, JSON for programs; one BLAS thread."""
    completed = subprocess.run(
        [sys.executable, '-m', 'benchmarks', 'regressor', '--repeats', '2', '--output', tmp_path],
        cwd=ROOT, capture_output=True, text=True, timeout=240,
    )
    assert completed.returncode == 0, completed.stderr
    content = json.loads((tmp_path / 'regressor.json').read_text())
    assert content['repeats'] == 2
    assert content['machine']['blas_threads'] == 1
    assert content['machine']['cores'] >= 1
    assert content['machine']['processor']
    assert content['figures']
    for figure in content['figures']:
        assert len(figure['values']) == 2
        assert 0.0 < figure['lowest'] <= figure['median'] <= figure['highest']
        assert figure['name'] in completed.stdout
    table = (tmp_path / 'table.md').read_text()
    assert table.count('| regressor') == len(content['figures'])
