# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Results of studies, and the tables of pages that show them."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def medians(study, repeats=1):
    """Return the median of every figure by its name, of a study with enough repeats."""
    path = ROOT / 'validation_studies' / 'results' / f'{study}.json'
    if not path.is_file():
        pytest.skip(f'no {path.name}: run `python -m validation_studies {study}`')
    content = json.loads(path.read_text(encoding='utf-8'))
    assert content['repeats'] >= repeats
    return {figure['name']: figure['median'] for figure in content['figures']}


def page_table(page, first_cell):
    """Return the cells of a table of a page, header first and without the rule below it."""
    lines = (ROOT / 'docs' / f'{page}.md').read_text(encoding='utf-8').splitlines()
    first = next(k for k, line in enumerate(lines) if line.startswith(f'| {first_cell} |'))
    rows = []
    for line in lines[first:]:
        if not line.startswith('|'):
            break
        rows.append([cell.strip() for cell in line.strip('|').split('|')])
    return [rows[0], *rows[2:]]
