# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A recipe file says everything that is tried, is checked by name, and comes back the same."""

from dataclasses import fields

import numpy as np
import pytest
from robot_identification.errors import DescriptionError, IdentificationError, UsageError
from robot_identification.estimation import IdentifyOptions, WeightedLeastSquares
from robot_identification.estimation.recipe import load_recipe, Recipe, thin_rows
from robot_identification.files import dump_yaml
from robot_identification.model import (
    CoulombFriction, DictionaryFriction, KinematicFilter, ViscousFriction,
)

OTHER = Recipe(
    cutoffs=(3.5, 1.0 / 3.0), preferred_cutoff=3.5, tie=0.02, order=3, prior_weights=(0.0,),
    dictionary=DictionaryFriction(sliding=(0.05,), stribeck=(), presliding=(1e-5,)), passes=2,
    huber=2.0, shrinkage=0.0, folds=3, gap=0.0, wide_gap=2.5, consistency_cost=0.2,
    samples_in_choice=600, bags_in_choice=3,
    kinematic_filter=KinematicFilter(kind='fourier', period=8.0, harmonics=5),
    effort_filter=KinematicFilter(kind='rloess', span=0.2), slowest=0.02, decimation=20.0,
)


def write(path, content):
    path.write_text(content if isinstance(content, str) else dump_yaml(content), encoding='utf-8')
    return path


@pytest.fixture
def file(tmp_path):
    return tmp_path / 'recipe.yaml'


@pytest.mark.parametrize('recipe', [Recipe(), OTHER], ids=['default', 'other'])
def test_round_trip(recipe, file):
    """Every number to the last bit, and every field."""
    loaded = load_recipe(write(file, recipe.as_plain()))
    assert loaded == recipe
    assert set(recipe.as_plain()) == {'schema_version', *(f.name for f in fields(Recipe))}


def test_what_a_file_leaves_out_has_its_default(file):
    """Inside the dictionary, too: by kind."""
    assert load_recipe(write(file, 'schema_version: 1\n')) == Recipe()
    some = load_recipe(write(
        file, 'schema_version: 1\nfolds: 4\ndictionary: {stribeck: [], sliding: [1]}\n'
    ))
    assert some == Recipe(
        folds=4, dictionary=DictionaryFriction(stribeck=(), sliding=(1.0,))
    )


@pytest.mark.parametrize(('text', 'message'), [
    ('schema_version: 2\n', 'schema_version is 2'),
    ('folds: 3\n', 'schema_version'),
    ('schema_version: 1\nfold: 3\n', 'fold'),
    ('schema_version: 1\ndictionary: [0.1]\n', 'dictionary is .* must be a mapping'),
    ('schema_version: 1\ndictionary: {slide: [0.1]}\n', 'slide'),
    ('schema_version: 1\ndictionary: {sliding: 0.1}\n', 'sliding of dictionary .* be a list'),
    ('schema_version: 1\ndictionary: {sliding: [-0.1]}\n', 'sliding of dictionary .* positive'),
    ('schema_version: 1\npasses: four\n', "passes of the recipe is 'four'"),
    ('schema_version: 1\ncorrections: [fast]\n', 'corrections of the recipe .* fast_velocity'),
    ('- 1\n', 'mapping'),
    ('schema_version: 1\nkinematic_filter: 9\n', 'kinematic_filter is 9, it must be a mapping'),
    ('schema_version: 1\neffort_filter: {kind: wavelet}\n', "filter 'wavelet' is unknown"),
    ('schema_version: 1\nfriction_candidates: [coulomb]\n', 'candidates was removed in 2.0: name'),
])
def test_files_that_are_wrong_are_refused_with_file_and_key(file, text, message):
    """Exit code 4."""
    with pytest.raises(IdentificationError, match=message) as caught:
        load_recipe(write(file, text))
    assert str(file) in str(caught.value)
    assert caught.value.exit_code == 4


RANGES = {
    'cutoffs': (0.1, 1000.0), 'preferred_cutoff': (0.1, 1000.0), 'tie': (0.0, 1.0),
    'order': (1, 10), 'prior_weights': (0.0, 1e9), 'passes': (1, 20), 'huber': (0.5, 1e6),
    'shrinkage': (0.0, 1.0), 'offset_deviation': (1e-6, 1e6), 'folds': (2, 20),
    'gap': (0.0, 60.0), 'wide_gap': (0.0, 60.0),
    'consistency_cost': (0.0, 10.0),
    'samples_in_choice': (500, 10**7),
    'bags_in_choice': (1, 1000),
    'slowest': (0.0, 10.0), 'decimation': (0.1, 1000.0),
}
# None is no treatment.
OPTIONAL = {'slowest', 'decimation'}
LISTS = {'cutoffs', 'prior_weights'}
WHOLE = {'order', 'passes', 'folds', 'samples_in_choice', 'bags_in_choice'}


def test_every_field_has_its_range_here():
    assert set(RANGES) | {
        'dictionary', 'kinematic_filter', 'effort_filter', 'two_encoders', 'corrections',
    } == {
        entry.name for entry in fields(Recipe)
    }


@pytest.mark.parametrize('name', RANGES)
def test_ranges_are_named(name):
    """Both ends are allowed; what is beyond, no number, or no list where one is needed is not."""
    low, high = RANGES[name]

    def given(value):
        return [5.0, value] if name in LISTS else value

    for value in (low, high, *([None] if name in OPTIONAL else [])):
        Recipe(**{name: given(value)})
    step = 1 if name in WHOLE else 1e-9 * max(abs(high), 1.0)
    for value in (low - step, high + step, np.nan, np.inf, 'much', None, True):
        if value is None and name in OPTIONAL:
            continue
        with pytest.raises(DescriptionError, match=f'^{name} of the recipe'):
            Recipe(**{name: given(value)})
    if name in LISTS:
        for value in ([], 5.0, 'much', None, [5.0] * 21):
            with pytest.raises(DescriptionError, match=f'^{name} of the recipe .* a list of 1 to'):
                Recipe(**{name: value})
    if name in WHOLE:
        with pytest.raises(DescriptionError, match=f'^{name} of the recipe .* whole number'):
            Recipe(**{name: float(low) + 0.5})


def test_cutoffs_stay_below_the_nyquist_frequency():
    """All at 125 Hz, two at 20 Hz, and of a very slow recording as much as there is."""
    recipe = Recipe()
    assert recipe.cutoffs_below(125.0) == (5.0, 9.0, 14.0)
    assert recipe.cutoffs_below(20.0) == (5.0, 9.0)
    assert recipe.cutoffs_below(18.0) == (5.0,)
    assert recipe.cutoffs_below(4.0) == (pytest.approx(1.9),)


def test_rows_are_thinned_evenly(rng):
    """At most as many as asked for, as evenly over all recordings as whole steps allow."""
    rows = [rng.random(10_000) < 0.8, rng.random(400) < 0.5]
    count = sum(int(chosen.sum()) for chosen in rows)
    for most in (10, 999, count // 2, count - 1):
        thinned = thin_rows(rows, most)
        kept = sum(int(chosen.sum()) for chosen in thinned)
        assert most / 2 - 2 < kept <= most + len(rows) - 1
        for chosen, part in zip(rows, thinned, strict=True):
            assert part.shape == chosen.shape
            assert not np.any(part & ~chosen)
            steps = np.diff(np.flatnonzero(part[chosen]))
            assert len(set(steps.tolist())) <= 1
    assert thin_rows(rows, count) is rows


def test_estimators_and_laws_with_their_constants_are_taken_as_they_are():
    """No alternatives of a law are tried; what does not fit together is refused all the same."""
    laws = (CoulombFriction(width=0.001), ViscousFriction())
    estimator = WeightedLeastSquares(reweightings=1)
    options = IdentifyOptions(estimator=estimator, friction=laws)
    assert options.used_estimator is estimator
    assert options.estimator_name == 'wls'
    assert options.laws == (laws,)
    with pytest.raises(UsageError, match='too many for the estimator wls'):
        IdentifyOptions(estimator=estimator, friction='dictionary')
    with pytest.raises(UsageError, match=r'estimator gls was removed in 2\.0: use wls'):
        IdentifyOptions(estimator='gls')
