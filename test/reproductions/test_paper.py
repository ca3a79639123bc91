# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Claims follow from numbers, and JSON, page and picture of a paper say the same."""

import json
from pathlib import Path
import re

import numpy as np
import pytest
from reproductions import paper as papers
from reproductions.__main__ import other_outcomes
from reproductions.paper import (
    Claim, CONTROLLED, Paper, Pieces, prose_of, render_markdown, SCHEMA_VERSION, SEEDS,
)
from reproductions.seeds import compare_ratios, interval_of
from robot_identification.files import read_yaml
from robot_identification.report.formatting import json_text

DOCS = Path(__file__).resolve().parents[2] / 'docs' / 'reproductions'
SAID = """
title: A title
reference: A reference
printed: {floats: [1.0, 2.5], counts: [3, 4], words: [a, b], nested: {x: [[1.0], [2.0]]}}
tables:
  rank: {title: 'Table {number}', columns: [arm, paper, here], note: ''}
pictures:
  curve: {title: Figure 2, alternative: A line, unit: torque}
claims:
  rank: {what: 'rank a|b', printed: 52, control: tilted}
  close: {what: k, printed: 41.0, control: other, relative: 0.01, absolute: 0.1}
  less: {what: k, printed: 41.0, control: other, relative: 0.01, absolute: 0.1, better: less}
  more: {what: k, printed: 41.0, control: other, relative: 0.01, absolute: 0.1, better: more}
  words: {what: s, printed: 'yes', ours: 'with {count}', why: because, control: 'c, {other}'}
  ratio: {what: a below b, printed: 'yes'}
  found: {what: k, control: c}
misprints:
- {where: eq. 1, printed: +, correct: '{right}', shown_by: a test}
- {where: 'row {row}', printed: a, correct: b, shown_by: c, for_each: wrong}
"""
PROSE = (
    '# {{ title }}\n\nRank {{ cell("rank", "UR5", "here") }}.\n\n{{ table("rank") }}\n\n'
    '{{ picture("curve") }}\n\n{{ claims() }}\n\n{{ misprints() }}\n'
)


@pytest.fixture
def paper(tmp_path, monkeypatch):
    """Return a paper of few words."""
    (tmp_path / 'made_up.yaml').write_text(SAID)
    (tmp_path / 'made_up.md.j2').write_text(PROSE)
    monkeypatch.setattr(papers, 'PAGES', tmp_path)
    return Paper('made_up')


@pytest.fixture
def full(paper):
    """Return it with something of everything."""
    paper.table('rank', [('UR5', 52, 52.123456789)], number=3)
    t = np.linspace(0.0, 1.0, 20)
    paper.picture('curve', t, {'line': np.outer(t, np.ones(3))}, ['1', '2', '3'])
    paper.compare('rank', 52, 54)
    paper.misprints(right='-', wrong=[{'row': 1}, {'row': 2}])
    return paper


@pytest.mark.parametrize(('ours', 'key', 'outcome'), [
    (41.0, 'close', 'agrees'), (41.5, 'close', 'agrees'), (43.0, 'close', 'differs'),
    (43.0, 'less', 'differs'), (38.0, 'less', 'better'), (43.0, 'more', 'better'),
    (float('nan'), 'less', 'differs'),
])
def test_outcome_follows_from_the_numbers(paper, ours, key, outcome):
    """No claim says more than its numbers do."""
    paper.compare(key, ours, 60.0 if key != 'more' else 20.0)
    assert paper.claims[0].outcome == outcome


def test_nothing_agrees_whose_opposite_would_not_have_been_seen(paper):
    """Without a control, or with one that has the outcome of the claim, it is untested."""
    paper.compare('close', 41.0)
    paper.compare('close', 41.0, 41.0)
    paper.compare('close', 43.0)
    words = {'count': 3, 'other': 4}
    paper.statement('words', True, **words)
    paper.statement('words', True, False, **words)
    paper.statement('words', True, True, **words)
    paper.statement('words', None, True, **words)
    paper.statement('words', False, True, **words)
    paper.untested('words', **words)
    assert [claim.outcome for claim in paper.claims] == [
        'untested', 'untested', 'differs', 'untested', 'untested', 'agrees', 'untested', 'differs',
        'untested',
    ]
    assert [claim.control for claim in paper.claims] == [
        'no control', 'the control is the same, other: 41', '', 'no control',
        'the control is the same, c, 4', 'c, 4', '', '', '',
    ]
    assert {claim.ours for claim in paper.claims[3:]} == {'with 3'}
    with pytest.raises(ValueError, match="claim 's': agrees"):
        Claim('s', 'yes', 'yes', 'agrees', '', '')


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


def test_page_shows_the_numbers_of_the_file(full):
    """The page is made from the JSON alone, and a bar in a text opens no column."""
    page = render_markdown(json.loads(json_text(full.content())), PROSE)
    assert '# A title' in page
    assert '*Table 3*' in page
    assert 'Rank 52.12.' in page
    assert '| UR5 | 52 | 52.12 |' in page
    assert '![A line](images/made_up/curve.png)' in page
    assert '| rank a\\|b | 52 | 52 | agrees | tilted: 54 |  |' in page
    assert 'Outcomes: agrees 1.' in page
    assert '| eq. 1 | + | - | a test |' in page
    assert '| row 2 | a | b | c |' in page


def test_files_of_a_reproduction(full, tmp_path):
    """The same picture again has the same bytes."""
    names = full.write(tmp_path / 'out', force=False)
    assert sorted(names) == ['images/made_up/curve.png', 'made_up.json', 'made_up.md']
    png = (tmp_path / 'out' / 'images/made_up/curve.png').read_bytes()
    assert png.startswith(b'\x89PNG')
    t = np.linspace(0.0, 1.0, 20)
    full.picture('curve', t, {'line': np.outer(t, np.ones(3))}, ['1', '2', '3'])
    assert full.pixels['curve'] == png
    assert len(png) < 60_000


@pytest.mark.parametrize('seed', SEEDS)
def test_page_in_the_docs_is_that_of_its_numbers(seed):
    """`make reproductions` wrote both; a number changed by hand in one of them is noticed."""
    content = json.loads((DOCS / f'{seed}.json').read_text())
    paper = Paper(seed)
    assert content['schema_version'] == SCHEMA_VERSION
    assert (content['title'], content['reference']) == (paper.title, paper.reference)
    page = (DOCS / f'{seed}.md').read_text()
    assert page == render_markdown(content, prose_of(seed))
    pictures = [picture['file'] for picture in content['pictures'].values()]
    assert {DOCS / file for file in pictures} == set((DOCS / 'images' / seed).glob('*.png'))
    wanted = [f'*{table["title"]}*' for table in content['tables'].values()]
    assert not [one for one in wanted + [f']({file})' for file in pictures] if one not in page]


def fits(said, text):
    """Return whether a text is what was said, with anything in its places."""
    return re.fullmatch(re.sub(r'\\{.*?\\}', '.*', re.escape(said)), text) is not None


@pytest.mark.parametrize('seed', SEEDS)
def test_pages_have_the_words_of_the_paper_and_no_others(seed):
    """All tables, claims and misprints that are stored are said in the YAML file, none is idle."""
    said = read_yaml(papers.PAGES / f'{seed}.yaml')
    content = json.loads((DOCS / f'{seed}.json').read_text())
    assert said['tables'].keys() == content['tables'].keys()
    assert said['pictures'].keys() == content['pictures'].keys()
    for name, table in content['tables'].items():
        assert said['tables'][name]['columns'] == table['columns']
        assert fits(said['tables'][name].get('note', ''), table['note'])
    used = []
    for claim in content['claims']:
        key, = (
            key for key, words in said['claims'].items() if fits(words['what'], claim['what'])
        )
        used.append(key)
        for field in ('printed', 'ours', 'why'):
            words = said['claims'][key].get(field)
            assert not isinstance(words, str) or fits(words, claim[field]), (key, field)
    assert set(used) == set(said['claims'])
    for misprint in content['misprints']:
        assert any(
            all(fits(words[field], misprint[field]) for field in misprint)
            for words in said['misprints']
        ), misprint


@pytest.mark.parametrize('seed', SEEDS)
def test_claims_in_the_docs_have_their_grounds(seed):
    """What differs says why; what agrees says how the opposite would have been seen."""
    content = json.loads((DOCS / f'{seed}.json').read_text())
    assert content['claims']
    assert not [
        claim['what'] for claim in content['claims']
        if not claim['control' if claim['outcome'] in CONTROLLED else 'why']
    ]


SPREAD = np.exp(0.05 * np.array([-1.0, 1.0, -0.5, 0.5, 0.2, -0.2, 0.8, -0.8, 0.3, -0.3]))


@pytest.mark.parametrize(('factor', 'drift', 'outcome'), [
    (0.8, 1.0, 'agrees'), (1.25, 1.0, 'differs'), (1.0, 1.0, 'untested'), (0.8, 0.8, 'untested'),
])
def test_ratios_of_seeds_decide_only_where_their_interval_does(paper, factor, drift, outcome):
    """Nothing is decided either where a search differs from itself as much as from the other."""
    compare_ratios(paper, 'ratio', factor * SPREAD, SPREAD * np.repeat([drift, 1.0], 5))
    assert paper.claims[0].outcome == outcome


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


def test_outcomes_are_compared_with_another_run(full):
    """Digits may be others, outcomes and claims may not."""
    same = [{'what': 'rank a|b', 'outcome': 'agrees', 'ours': '52.1'}]
    assert not other_outcomes(full.claims, {'claims': same})
    other = [{'what': 'rank a|b', 'outcome': 'differs'}, {'what': 'more', 'outcome': 'agrees'}]
    assert other_outcomes(full.claims, {'claims': other}) == [
        'rank a|b: agrees, there differs', 'more: no claim, there agrees',
    ]
    assert full.content()['claims'][0]['control'] == 'tilted: 54'
