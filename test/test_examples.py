# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Scripts and notebooks in examples/ run as they stand, and print what their pages promise."""

import json
import os
from pathlib import Path
import re
import subprocess
import sys

from long_tests import long_test
import numpy as np
import pytest
from robot_identification import load_model

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / 'examples'
SCRIPTS = sorted(EXAMPLES.glob('*.py'))
NOTEBOOKS = sorted(EXAMPLES.glob('*.ipynb'))
LONGEST = 60  # lines
# They identify, as 01 does; the notebook of 02 has the same calls by day.
LONG = ('02_from_arrays', '10_many_bags_with_dask', '11_compare_two_arms')
SKIPPED = re.compile(r'skipped: (\w+) is missing')


def run(arguments, folder):
    """Return what a fresh process prints; it starts in a folder and has no other variables."""
    environment = {
        key: value for key, value in os.environ.items() if key not in ('ROS_DOMAIN_ID', 'DISPLAY')
    }
    ran = subprocess.run(
        [sys.executable, '-W', 'error::DeprecationWarning:__main__', *map(str, arguments)],
        cwd=folder, capture_output=True, text=True, check=False,
        env={**environment, 'PYTHONPATH': str(ROOT), 'MPLBACKEND': 'Agg'},
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def number(pattern, text):
    """Return the only number that a pattern finds."""
    (found,) = re.findall(pattern, text)
    return float(found)


def check_identified(said, folder):
    """Hold the model that is shipped against the one that the script makes."""
    assert 'Identification of ur5: GOOD' in said
    assert 'torque' in (folder / 'report.html').read_text(encoding='utf-8')
    made, shipped = (
        load_model(path / 'model.yaml') for path in (folder, EXAMPLES / 'data')
    )
    assert made.parameter_names == shipped.parameter_names
    apart = np.abs(made.theta_base - shipped.theta_base) / shipped.standard_errors
    assert apart.max() < 1e-3
    assert (EXAMPLES / 'data' / 'model.yaml').stat().st_size < 150_000


def check_arrays(said, folder):
    assert 'verdict: good' in said
    assert len((folder / 'base_parameters.csv').read_text().splitlines()) > 50


def check_score(said, folder):
    assert 'Validation of ur5 on 1 recording: GOOD' in said
    assert number(r'mean +NRMSE (\S+)', said) < 0.05
    assert (folder / 'torque.png').read_bytes().startswith(b'\x89PNG')


def check_friction(said, folder):
    assert len(re.findall(r'_joint +[\d.]+ \+- [\d.]+ N m', said)) == 6
    assert (folder / 'friction.png').read_bytes().startswith(b'\x89PNG')


def check_payload(said, folder):
    assert number(r'mass: (\S+)', said) == pytest.approx(2.0, rel=0.05)
    assert 'set_target_payload' in (folder / 'payload.txt').read_text()


def check_excitation(said, folder):
    assert max(map(int, re.findall(r'(\d+) % used', said))) <= 100
    assert number(r'nearest: (\d+) mm', said) >= 20
    assert len(np.loadtxt(folder / 'motion.csv', delimiter=',')) == 1251


def check_drift(said, folder):
    after = {
        time: [float(one) for one in re.findall(rf'([\d.]+) mrad after {time} s', said)]
        for time in ('0.1', '1')
    }
    assert [len(found) for found in after.values()] == [4, 4]
    assert max(after['0.1']) < 5.0
    assert max(after['1']) < 100.0


def check_push(said, folder):
    assert number(r'push on the elbow: (\S+)', said) == pytest.approx(15.0, rel=0.05)


def check_node(said, folder):
    assert number(r'(\d+) joint states', said) > 300
    rms = [float(one) for one in said.partition('[N m]: [')[2].strip(' ]\n').split()]
    assert len(rms) == 6
    assert max(rms) < 2.0


def check_many(said, folder):
    assert 'From: 2 recordings, 2500 samples' in said
    assert number(r'median: (\S+)', said) == pytest.approx(np.sqrt(0.5), rel=0.15)


def check_comparison(said, folder):
    assert 'inertial parameters agree' in said
    for kind in ('Coulomb', 'viscous'):
        assert number(rf'{kind} friction moved by \+(\d+) %', said) == pytest.approx(30, abs=3)


def check_table(said, folder):
    assert said.startswith('5 base parameters of 30')
    assert 'Izz2 = Izz2 + 0.55 mx3 + Izz3' in said
    assert (folder / 'motion.yaml').exists()


CHECKS = (
    check_identified, check_arrays, check_score, check_friction, check_payload, check_excitation,
    check_drift, check_push, check_node, check_many, check_comparison, check_table,
)


@pytest.mark.parametrize(('script', 'check'), [
    pytest.param(script, check, id=script.stem, marks=long_test if script.stem in LONG else ())
    for script, check in zip(SCRIPTS, CHECKS, strict=True)
])
def test_script(script, check, tmp_path):
    """It writes only into the folder that it is given, and makes that."""
    before = {path: path.stat().st_mtime_ns for path in EXAMPLES.rglob('*.*')}
    (tmp_path / 'elsewhere').mkdir()
    said = run([script, tmp_path / 'results'], tmp_path / 'elsewhere')
    assert list((tmp_path / 'elsewhere').iterdir()) == []
    assert before == {path: path.stat().st_mtime_ns for path in EXAMPLES.rglob('*.*')}
    if missing := SKIPPED.match(said):
        pytest.skip(f'{missing.group(1)} is missing')
    check(said, tmp_path / 'results')


@pytest.mark.parametrize('notebook', NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(notebook, tmp_path):
    """Its cells run in their order, in its folder."""
    content = json.loads(notebook.read_text(encoding='utf-8'))
    assert (content['nbformat'], content['nbformat_minor']) == (4, 5)
    code = [cell for cell in content['cells'] if cell['cell_type'] == 'code']
    assert all(not cell['outputs'] and cell['execution_count'] is None for cell in code)
    assert len({cell['id'] for cell in content['cells']}) == len(content['cells'])
    cells = tmp_path / 'cells.json'
    cells.write_text(json.dumps([''.join(cell['source']) for cell in code]))
    said = run(['-c', (
        'import json, sys\n'
        'names = {"__name__": "__main__"}\n'
        'for text in json.load(open(sys.argv[1])):\n'
        '    exec(compile(text, "cell", "exec"), names)\n'
        'print("all cells ran")'
    ), cells], notebook.parent)
    assert said == 'all cells ran\n'


def test_examples_are_short_and_listed():
    """The page names each of them; their first line says what they do."""
    page = (ROOT / 'docs' / 'examples.md').read_text(encoding='utf-8')
    assert [path.stem[:2] for path in SCRIPTS] == [f'{number:02}' for number in range(1, 13)]
    for path in SCRIPTS:
        assert len(path.read_text(encoding='utf-8').splitlines()) <= LONGEST, path.name
    for path in (*SCRIPTS, *NOTEBOOKS):
        assert page.count(f'(../examples/{path.name})') == 1, path.name
