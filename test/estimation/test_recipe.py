# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A recipe file says everything that is tried, is checked by name, and comes back the same."""

from dataclasses import fields

import numpy as np
import pytest
from robot_identification.errors import UsageError
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
