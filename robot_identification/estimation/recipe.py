# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The automatic recipe: every candidate and constant of it, open to the user as a file."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.errors import DescriptionError
from robot_identification.estimation.two_encoders import two_encoders_from_content, TwoEncoders
from robot_identification.files import check_keys, check_schema_version, read_yaml, to_mapping
from robot_identification.model import (
    check_between, CORRECTIONS, DictionaryFriction, kinematic_filter_from_options,
    KinematicFilter,
)
from robot_identification.removed import describe_unknown, REMOVED

SCHEMA_VERSION = 1  # of a recipe file
# Chosen, to bound the time of a choice.
MOST_CANDIDATES = 20
# Of the Nyquist frequency that a cut-off may reach.
HIGHEST_SHARE = 0.95


@dataclass(frozen=True)
class Recipe:
    """Candidates of `identify` and the rules of its choice, where nothing else is requested."""

    cutoffs: tuple[float, ...] = (5.0, 9.0, 14.0)  # cut-offs of the kinematic filter to try [Hz]
    preferred_cutoff: float = 9.0  # taken where its score is within `tie` of the best
    tie: float = 0.01  # relative difference of scores that means nothing
    order: int = 2  # of one pass of the kinematic filter
    # Weights of the CAD prior to try; the largest that is no worse than the best by one standard
    # error of their difference is taken, 0 where it is surely better.
    prior_weights: tuple[float, ...] = (0.0, 1.0, 10.0, 30.0, 100.0)
    # Friction terms to choose from.
    dictionary: DictionaryFriction = field(default_factory=DictionaryFriction)
    # Groups of corrections that are offered to each joint beside a dictionary.
    corrections: tuple[str, ...] = tuple(CORRECTIONS)
    passes: int = 4  # passes of a dictionary fit over the data
    huber: float = 1.345  # residuals beyond this many standard deviations count linearly
    shrinkage: float = 1.0e-4  # of friction coefficients, see `SparseNonnegativeRegression`
    offset_deviation: float = 0.1  # of offsets before the data are seen, see there
    folds: int = 5  # contiguous blocks of cross-validation
    gap: float = 0.3  # time next to a held-out block that is not trained on [s]
    wide_gap: float = 1.0  # A wider one, by which the chosen fit is judged once more [s]
    # Share by which physical consistency may raise the error on held-out blocks.
    consistency_cost: float = 0.1
    # Choices are made on at most so many samples, evenly spread; the fit takes all.
    samples_in_choice: int = 20_000
    bags_in_choice: int = 8  # and on at most so many recordings, evenly spread; the fit takes all
    # Of any kind, in the place of the cut-offs; by default they are tried.
    kinematic_filter: KinematicFilter | None = None
    # Smoothing of the effort that is fitted, for comparison with publications; by default none.
    effort_filter: KinematicFilter | None = None
    # Rows of joints slower than this are left out of the fit [rad/s]; by default none are.
    slowest: float | None = None
    # Cut-off of a low-pass that columns and effort go through together before rows are left out
    # [Hz]; by default they do not.
    decimation: float | None = None
    # What is known of the drives of an arm with an encoder on each side of its gears.
    two_encoders: TwoEncoders | None = None

    def __post_init__(self) -> None:
        for name, low, high in (
            ('cutoffs', 0.1, 1000.0), ('prior_weights', 0.0, 1e9),
        ):
            values = getattr(self, name)
            if not isinstance(values, (tuple, list)) or not 1 <= len(values) <= MOST_CANDIDATES:
                raise DescriptionError(
                    f'{name} of the recipe is {values!r}, it must be a list of 1 to '
                    f'{MOST_CANDIDATES} numbers'
                )
            for value in values:
                check_between(value, low, high, f'{name} of the recipe')
            object.__setattr__(self, name, tuple(float(value) for value in values))
        for name, low, high in (
            ('preferred_cutoff', 0.1, 1000.0), ('tie', 0.0, 1.0), ('order', 1, 10),
            ('passes', 1, 20), ('huber', 0.5, 1e6), ('shrinkage', 0.0, 1.0),
            ('offset_deviation', 1e-6, 1e6), ('folds', 2, 20),
            ('gap', 0.0, 60.0), ('wide_gap', 0.0, 60.0), ('consistency_cost', 0.0, 10.0),
            ('samples_in_choice', 500, 10**7),
            ('bags_in_choice', 1, 1000),
        ):
            check_between(getattr(self, name), low, high, f'{name} of the recipe')
        for name, low, high in (('slowest', 0.0, 10.0), ('decimation', 0.1, 1000.0)):
            if getattr(self, name) is not None:
                check_between(getattr(self, name), low, high, f'{name} of the recipe')
        object.__setattr__(self, 'corrections', _checked_corrections(self.corrections))
        for name in ('order', 'passes', 'folds', 'samples_in_choice', 'bags_in_choice'):
            if not isinstance(getattr(self, name), int):
                raise DescriptionError(
                    f'{name} of the recipe is {getattr(self, name)!r}, it must be a whole number'
                )

    def cutoffs_below(self, rate: float) -> tuple[float, ...]:
        """Return the cut-offs that a sampling rate [Hz] allows, at least one."""
        allowed = tuple(value for value in self.cutoffs if value < HIGHEST_SHARE * rate / 2.0)
        return allowed or (HIGHEST_SHARE * rate / 2.0,)

    def as_plain(self) -> dict[str, Any]:
        """Return the content of a recipe file."""
        content: dict[str, Any] = {'schema_version': SCHEMA_VERSION}
        for entry in fields(self):
            value = getattr(self, entry.name)
            content[entry.name] = (
                value.options() if isinstance(value, KinematicFilter)
                else value.as_plain() if isinstance(value, TwoEncoders)
                else list(value) if isinstance(value, tuple)
                else value
            )
        content['dictionary'] = {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in self.dictionary.constants().items()
        }
        return content


def _checked_corrections(names: Any) -> tuple[str, ...]:
    """Return names of corrections in their order; `DescriptionError` if one is unknown."""
    if not isinstance(names, (tuple, list)) or not all(name in CORRECTIONS for name in names):
        raise DescriptionError(
            f'corrections of the recipe is {names!r}, it must be a list of names out of '
            f'{", ".join(CORRECTIONS)}'
        )
    return tuple(name for name in CORRECTIONS if name in names)


def load_recipe(path: Path) -> Recipe:
    """
    Read a recipe file; a missing key has its default (docs/formats/recipe.md).

    Raises UsageError if there is no such file, DescriptionError if a key is unknown or a value is
    outside its range.
    """
    content, source = read_yaml(path), str(path)
    check_schema_version(content, source, SCHEMA_VERSION)
    known = {entry.name for entry in fields(Recipe)}
    removed = [key for key in content if key in REMOVED]
    if removed:
        raise DescriptionError(f'{source}: {describe_unknown("key", removed[0], ())}')
    check_keys(content, source, {'schema_version'}, known)
    given = {name: value for name, value in content.items() if name in known}
    try:
        if 'dictionary' in given:
            terms = to_mapping(given['dictionary'], 'dictionary')
            kinds = {entry.name for entry in fields(DictionaryFriction)}
            check_keys(terms, 'dictionary', set(), kinds)
            given['dictionary'] = DictionaryFriction(**terms)
        for name in ('kinematic_filter', 'effort_filter'):
            if given.get(name) is not None:
                given[name] = kinematic_filter_from_options(to_mapping(given[name], name))
        if given.get('two_encoders') is not None:
            given['two_encoders'] = two_encoders_from_content(given['two_encoders'], path.parent)
        return Recipe(**given)
    except DescriptionError as error:
        raise DescriptionError(f'{source}: {error}') from error


def thin_rows(rows: list[np.ndarray], most: int) -> list[np.ndarray]:
    """Return masks (N,) of recordings with at most so many of the rows, evenly spread."""
    step = int(np.ceil(sum(int(chosen.sum()) for chosen in rows) / most))
    if step <= 1:
        return rows
    thinned = []
    for chosen in rows:
        part = np.zeros_like(chosen)
        part[np.flatnonzero(chosen)[::step]] = True
        thinned.append(part)
    return thinned
