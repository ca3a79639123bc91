# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A search that was interrupted goes on from its file as if nothing had happened."""

from dataclasses import fields
import json

from builders import two_link_urdf
from excitation.optimizers.fake_problem import state_bytes
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
import numpy as np
import pytest
from robot_identification.errors import DescriptionError, UsageError
from robot_identification.excitation import Knowledge, load_experiment, load_search, search_owner
from robot_identification.excitation.optimizers.optimizer import Candidate, SearchState
from robot_identification.excitation.search_file import dump_search
from robot_identification.model import make_robot_model, parse_urdf

EXPERIMENT = """
schema_version: 1
trajectory: {form: fourier, harmonics: 3, base_period: 4.0}
collision: off
friction: none
samples: 20
"""
SMALL = {'spectral': '{name: spectral, starts: 4, kept: 3}',
         'multistart': '{name: multistart, starts: 2}'}


@pytest.fixture(scope='module')
def arm():
    return make_robot_model(parse_urdf(two_link_urdf(), 'two'))


@pytest.fixture(scope='module')
def write(tmp_path_factory):
    def made(optimizer, more=''):
        path = tmp_path_factory.mktemp('experiment') / 'e.yaml'
        path.write_text(f'{EXPERIMENT}optimizer: {SMALL.get(optimizer, optimizer)}\n{more}')
        return load_experiment(path)
    return made


@pytest.fixture(scope='module')
def owner(arm, write):
    return search_owner(arm, write('multistart'), 3)


numbers = st.floats(allow_nan=False, allow_infinity=False)
vectors = arrays.arrays(float, 4, elements=numbers)
candidates = st.builds(
    Candidate, vectors, st.floats(allow_nan=False, min_value=-1e300), st.floats(0.0, 1e9),
    st.booleans(), st.none() | vectors,
)
states = st.builds(
    SearchState, st.integers(0, 99), st.integers(0, 9**9), st.integers(0, 9**9),
    st.none() | candidates, st.lists(candidates, max_size=3).map(tuple),
    st.dictionaries(st.text(max_size=5), numbers, max_size=3),
)


@given(state=states)
def test_states_come_back_to_the_last_bit(owner, tmp_path_factory, state):
    """Infinity is null in between: JSON has no word for it."""
    path = tmp_path_factory.mktemp('s') / 'search.json'
    text = dump_search(owner, state)
    json.loads(text, parse_constant=pytest.fail)
    path.write_text(text)
    assert state_bytes(load_search(path, owner)) == state_bytes(state)


def test_a_search_of_another_owner_is_refused_by_what_differs(arm, write, tmp_path, owner):
    path = tmp_path / 'search.json'
    path.write_text(dump_search(owner, SearchState()))
    mirrored = make_robot_model(parse_urdf(two_link_urdf(axis=(0, 0, -1)), 'two'))
    knowledge = Knowledge(*(np.ones(2) for _ in fields(Knowledge)))
    experiment = write('multistart')
    others = {
        'seed': search_owner(arm, experiment, 4),
        'optimizer ': search_owner(arm, write('spectral'), 3),
        'options of the optimizer': search_owner(
            arm, write('{name: multistart, starts: 5}'), 3
        ),
        'experiment': search_owner(arm, write('multistart', 'periods: 2'), 3),
        'limits or URDF': search_owner(mirrored, experiment, 3),
        'recordings': search_owner(arm, experiment, 3, knowledge),
    }
    for words, other in others.items():
        with pytest.raises(UsageError, match=rf'search\.json.*another {words}'):
            load_search(path, other)
    # Defaults that are spelt out are the same options.
    full = search_owner(arm, write('{name: multistart, starts: 2}'), 3)
    assert state_bytes(load_search(path, full)) == state_bytes(SearchState())


@pytest.mark.parametrize('damage', [
    lambda text: text[: len(text) // 2],
    lambda text: text.replace('"evaluations": 0', '"evaluations": 7'),
    lambda text: text.replace('"evaluations": 0', '"evaluations": NaN'),
    lambda text: text.replace('"schema_version": 1', '"schema_version": 2'),
    lambda text: text.replace('"memory"', '"memories"'),
    lambda text: '[1, 2]',
    lambda text: '',
])
def test_damaged_files_are_refused(owner, tmp_path, damage):
    path = tmp_path / 'search.json'
    path.write_text(damage(dump_search(owner, SearchState())))
    with pytest.raises(DescriptionError, match=r'search\.json'):
        load_search(path, owner)
