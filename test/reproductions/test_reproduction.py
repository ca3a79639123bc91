# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A reproduction's files: JSON, page and pictures say the same."""

import json
from pathlib import Path
import re

import numpy as np
import pytest
from reproductions.__main__ import other_outcomes
from reproductions.page import prose_of, render_markdown, write_reproduction
from reproductions.panels import new_figure
from reproductions.pieces import Pieces
from reproductions.raviola_2021_motions import half_claim
from reproductions.reproduction import (
    Claim, compare, Control, CONTROLLED, load_seed, Misprint, picture_of, Reproduction,
    reproduction_content, SCHEMA_VERSION, SEEDS, statement, Table,
)
from reproductions.seeds import compare_found, compare_ratios, interval_of, ratios_to_itself
from robot_identification.report.formatting import json_text

DOCS = Path(__file__).resolve().parents[2] / 'docs' / 'reproductions'
PROSE = (
    '# {{ title }}\n\nRank {{ cell("rank", "UR5", "here") }}.\n\n{{ table("rank") }}\n\n'
    '{{ picture("curve") }}\n\n{{ claims() }}\n\n{{ misprints() }}\n'
)
# What is said by the table of claims alone: it is computed, prose is not.
OUTCOME_WORDS = re.compile(
    r'\b(agree\w*|disagree\w*|better|worse|differ|differs|differed|untested|comparable|'
    r'reproduces?|reproduced|confirm\w*|refut\w*)\b', re.IGNORECASE,
)


@pytest.fixture
def reproduction():
    figure = new_figure(2.0, 1.0, 50)
    figure.add_subplot().plot([0.0, 1.0])
    return Reproduction(
        'tika_2020',
        (Table('rank', 'Table 3', ('arm', 'paper', 'here'), (('UR5', 52, 52.123456789),)),),
        (picture_of('curve', 'Figure 2', 'A line', figure),),
        (compare('rank a|b', 52, 52, control=('tilted', 54)),),
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
    claim = compare(
        'k', 41.0, ours, relative=0.01, absolute=0.1, better=better,
        control=('other', 60.0 if better != 'more' else 20.0),
    )
    assert claim.outcome == outcome


def test_nothing_agrees_whose_opposite_would_not_have_been_seen():
    """Without a control, or with one that has the outcome of the claim, it is untested."""
    assert compare('k', 41.0, 41.0).outcome == 'untested'
    assert compare('k', 41.0, 41.0, control=('other', 41.0)).outcome == 'untested'
    assert compare('k', 41.0, 43.0).outcome == 'differs'
    assert statement('s', 'yes', 'yes', True).outcome == 'untested'
    assert statement('s', 'yes', 'yes', True, control=Control('c', False)).outcome == 'untested'
    assert statement('s', 'yes', 'yes', True, control=Control('c', True)).outcome == 'agrees'
    assert statement('s', 'yes', 'yes', None, control=Control('c', True)).outcome == 'untested'
    with pytest.raises(ValueError, match="claim 's': agrees"):
        Claim('s', 'yes', 'yes', 'agrees')


def test_intervals_hold_what_they_say():
    """95 % of intervals of ten lognormal numbers hold their centre, and one more number."""
    rng = np.random.default_rng(5)
    held, one, draws = 0, 0, 2000
    for _ in range(draws):
        values = np.exp(rng.normal(1.0, 0.3, 11))
        found = interval_of(values[:10])
        held += found.low <= np.e <= found.high
        one += found.one_low <= values[10] <= found.one_high
    # Four standard errors of a share of 2000.
    for count in (held, one):
        assert count / draws == pytest.approx(0.95, abs=4.0 * np.sqrt(0.95 * 0.05 / draws))


@pytest.mark.parametrize(('factor', 'drift', 'outcome'), [
    (0.8, 1.0, 'agrees'), (1.25, 1.0, 'differs'), (1.0, 1.0, 'untested'), (0.8, 0.8, 'untested'),
])
def test_ratios_of_seeds_decide_only_where_their_interval_does(factor, drift, outcome):
    """Nothing is decided either where a search differs from itself as much as from the other."""
    spread = np.exp(0.05 * np.array([-1.0, 1.0, -0.5, 0.5, 0.2, -0.2, 0.8, -0.8, 0.3, -0.3]))
    other = spread * np.repeat([drift, 1.0], 5)
    assert compare_ratios('a below b', 'yes', factor * spread, other).outcome == outcome


@pytest.mark.parametrize(('factor', 'drift', 'outcome'), [
    (0.5, 1.0, 'agrees'), (0.8, 1.0, 'differs'), (0.6, 1.0, 'untested'), (0.5, 0.5, 'untested'),
])
def test_about_half_is_told_from_a_search_against_itself(factor, drift, outcome):
    spread = np.exp(0.05 * np.array([-1.0, 1.0, -0.5, 0.5, 0.2, -0.2, 0.8, -0.8, 0.3, -0.3]))
    same = ratios_to_itself(spread * np.repeat([drift, 1.0], 5))
    assert half_claim('a over b', factor * spread, same).outcome == outcome


@pytest.mark.parametrize(('printed', 'outcome'), [
    (40.0, 'agrees'), (60.0, 'better'), (30.0, 'differs'),
])
def test_one_search_of_a_paper_is_judged_by_ten(printed, outcome):
    values = [39.0, 41.0, 40.0, 38.0, 42.0, 40.5, 39.5, 41.5, 38.5, 40.0]
    claim = compare_found('k', printed, values, control=Control('c', True))
    assert claim.outcome == outcome


def test_pieces_are_computed_once(tmp_path):
    """What is kept is what was computed, as plain data; without a folder it is computed again."""
    calls = []

    def compute():
        calls.append(1)
        return {'x': np.array([0.1, 1.0 / 3.0])}

    pieces = Pieces(tmp_path / 'pieces')
    assert pieces.get('a', compute) == pieces.get('a', compute) == {'x': [0.1, 1.0 / 3.0]}
    assert len(calls) == 1
    assert Pieces().get('a', compute) == {'x': [0.1, 1.0 / 3.0]}
    assert len(calls) == 2


def test_outcomes_are_compared_with_another_run(reproduction):
    """Digits may be others, outcomes and claims may not."""
    content = reproduction_content(reproduction, 'T', 'R')
    same = [{'what': 'rank a|b', 'outcome': 'agrees', 'ours': '52.1'}]
    assert not other_outcomes(reproduction.claims, {'claims': same})
    other = [{'what': 'rank a|b', 'outcome': 'differs'}, {'what': 'more', 'outcome': 'agrees'}]
    assert other_outcomes(reproduction.claims, {'claims': other}) == [
        'rank a|b: agrees, there differs', 'more: no claim, there agrees',
    ]
    assert content['claims'][0]['control'] == 'tilted: 54'


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
    assert '| rank a\\|b | 52 | 52 | agrees | tilted: 54 |  |' in page
    assert 'Outcomes: agrees 1.' in page


@pytest.mark.parametrize('wanted', ['table("no")', 'cell("rank", "UR9", "here")', 'picture("no")'])
def test_page_refuses_what_the_file_has_not(reproduction, wanted):
    """A sentence cannot lose its number in silence."""
    content = reproduction_content(reproduction, 'A title', 'A reference')
    with pytest.raises(KeyError):
        render_markdown(content, f'{{{{ {wanted} }}}}')


def test_files_of_a_reproduction(reproduction, tmp_path, monkeypatch):
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
    """
    `make reproductions` wrote both; a number changed by hand in one of them is noticed.

    No table or picture is left out of the page.
    """
    content = json.loads((DOCS / f'{seed}.json').read_text())
    module = load_seed(seed)
    assert content['schema_version'] == SCHEMA_VERSION
    assert (content['title'], content['reference']) == (module.TITLE, module.REFERENCE)
    page = (DOCS / f'{seed}.md').read_text()
    assert page == render_markdown(content, prose_of(seed))
    pictures = [picture['file'] for picture in content['pictures'].values()]
    assert {DOCS / file for file in pictures} == set((DOCS / 'images' / seed).glob('*.png'))
    wanted = [f'*{table["title"]}*' for table in content['tables'].values()]
    assert not [one for one in wanted + [f']({file})' for file in pictures] if one not in page]


@pytest.mark.parametrize('seed', SEEDS)
def test_claims_in_the_docs_have_their_grounds(seed):
    """What differs says why; what agrees says how the opposite would have been seen."""
    content = json.loads((DOCS / f'{seed}.json').read_text())
    assert content['claims']
    assert not [
        claim['what'] for claim in content['claims']
        if not claim['control' if claim['outcome'] in CONTROLLED else 'why']
    ]


@pytest.mark.parametrize('seed', SEEDS)
def test_prose_leaves_outcomes_to_the_table(seed):
    """Templates have no word of an outcome; what is computed stands in their braces."""
    text = re.sub(r'{{.*?}}', '', prose_of(seed), flags=re.DOTALL)
    assert OUTCOME_WORDS.findall(text) == []
