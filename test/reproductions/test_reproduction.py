# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A reproduction's files: JSON, page and pictures say the same."""

import json
from pathlib import Path

import pytest
from reproductions.page import prose_of, render_markdown, write_reproduction
from reproductions.reproduction import (
    compare, load_seed, Misprint, picture_of, Reproduction, reproduction_content, SEEDS, Table,
)
from robot_identification.report.canvas import new_figure
from robot_identification.report.json_file import json_text

DOCS = Path(__file__).resolve().parents[2] / 'docs' / 'reproductions'
PROSE = (
    '# {{ title }}\n\nRank {{ cell("rank", "UR5", "here") }}.\n\n{{ table("rank") }}\n\n'
    '{{ picture("curve") }}\n\n{{ claims() }}\n\n{{ misprints() }}\n'
)


@pytest.fixture
def reproduction():
    """Return a reproduction with one of everything."""
    figure = new_figure(2.0, 1.0, 50)
    figure.add_subplot().plot([0.0, 1.0])
    return Reproduction(
        'tika_2020',
        (Table('rank', 'Table 3', ('arm', 'paper', 'here'), (('UR5', 52, 52.123456789),)),),
        (picture_of('curve', 'Figure 2', 'A line', figure),),
        (compare('rank a|b', 52, 52),),
        (Misprint('eq. 1', '+', '-', 'a test'),),
    )


@pytest.mark.parametrize(('ours', 'better', 'outcome'), [
    (41.0, None, 'agrees'),
    (41.5, None, 'agrees'),
    (43.0, None, 'differs'),
    (43.0, 'less', 'differs'),
    (38.0, 'less', 'better'),
    (43.0, 'more', 'better'),
    (float('nan'), 'less', 'differs'),
])
def test_outcome_follows_from_the_numbers(ours, better, outcome):
    """No claim says more than its numbers do."""
    assert compare('k', 41.0, ours, relative=0.01, absolute=0.1, better=better).outcome == outcome


def test_table_refuses_a_row_of_another_length():
    """A cell that is missing would shift the others under wrong headings."""
    with pytest.raises(ValueError, match=r'table t: 1 cells in row'):
        Table('t', 'T', ('a', 'b'), (('x',),))


def test_page_shows_the_numbers_of_the_file(reproduction):
    """The page is made from the JSON alone, and a bar in a text opens no column."""
    content = reproduction_content(reproduction, 'A title', 'A reference')
    stored = json.loads(json_text(content))
    page = render_markdown(stored, PROSE)
    assert '# A title' in page
    assert 'Rank 52.12.' in page
    assert '| UR5 | 52 | 52.12 |' in page
    assert '![A line](images/tika_2020/curve.png)' in page
    assert '| rank a\\|b | 52 | 52 | agrees |  |' in page


@pytest.mark.parametrize('wanted', ['table("no")', 'cell("rank", "UR9", "here")', 'picture("no")'])
def test_page_refuses_what_the_file_has_not(reproduction, wanted):
    """A sentence cannot lose its number in silence."""
    content = reproduction_content(reproduction, 'A title', 'A reference')
    with pytest.raises(KeyError):
        render_markdown(content, f'{{{{ {wanted} }}}}')


def test_files_of_a_reproduction(reproduction, tmp_path, monkeypatch):
    """All files are there, and the report needs none of the others."""
    monkeypatch.setattr('reproductions.page.prose_of', lambda seed: PROSE)
    names = write_reproduction(
        reproduction, 'A title', 'A reference', tmp_path, 'the command', force=False
    )
    assert sorted(names) == [
        'images/tika_2020/curve.png', 'tika_2020.html', 'tika_2020.json', 'tika_2020.md'
    ]
    assert (tmp_path / 'images/tika_2020/curve.png').read_bytes().startswith(b'\x89PNG')
    report = (tmp_path / 'tika_2020.html').read_text()
    assert 'src="data:image/png;base64,' in report
    assert 'images/tika_2020' not in report


@pytest.mark.parametrize('seed', SEEDS)
def test_page_in_the_docs_is_that_of_its_numbers(seed):
    """`make reproductions` wrote both; a number changed by hand in one of them is noticed."""
    content = json.loads((DOCS / f'{seed}.json').read_text())
    module = load_seed(seed)
    assert (content['title'], content['reference']) == (module.TITLE, module.REFERENCE)
    assert (DOCS / f'{seed}.md').read_text() == render_markdown(content, prose_of(seed))
    pictures = {DOCS / picture['file'] for picture in content['pictures'].values()}
    assert pictures == set((DOCS / 'images' / seed).glob('*.png'))


@pytest.mark.parametrize('seed', SEEDS)
def test_differences_are_explained(seed):
    """What does not agree with the paper says why."""
    content = json.loads((DOCS / f'{seed}.json').read_text())
    assert content['claims']
    assert not [
        claim['what'] for claim in content['claims']
        if claim['outcome'] in ('differs', 'not comparable') and not claim['why']
    ]
