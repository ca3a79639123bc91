# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
A search as a file, from which it goes on.

Numbers are kept to the last bit, so that a search that was interrupted ends as one that was not.
Numbers that are not finite, those of candidates that nothing is known about, are null in JSON.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
import json
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DescriptionError, UsageError
from robot_identification.excitation.base_columns import Knowledge
from robot_identification.excitation.experiment_file import Experiment
from robot_identification.excitation.fingerprint import (
    experiment_content, knowledge_sha256, robot_sha256,
)
from robot_identification.excitation.optimizers import OPTIMIZERS
from robot_identification.excitation.optimizers.optimizer import Candidate, SearchState
from robot_identification.files import (
    canonical_sha256, check_keys, check_schema_version, read_text, to_finite, to_mapping,
    to_plain, write_atomically,
)
from robot_identification.model import RobotModel

SCHEMA_VERSION = 1  # of the file
# What a search belongs to, in words.
WORDS = {
    'robot': 'robot', 'robot_sha256': 'limits or URDF of the robot', 'optimizer': 'optimizer',
    'optimizer_options': 'options of the optimizer', 'seed': 'seed',
    'experiment_sha256': 'experiment', 'knowledge_sha256': 'recordings it adds to',
}


@dataclass(frozen=True)
class SearchOwner:
    """Owner of a search: with any other content it would have taken another course."""

    robot: str
    robot_sha256: str  # of its URDF and limits
    optimizer: str
    optimizer_options: dict[str, Any]
    seed: int
    experiment_sha256: str  # without its optimizer
    knowledge_sha256: str = ''  # of what was known before; empty: nothing


def search_owner(
    robot: RobotModel, experiment: Experiment, seed: int, knowledge: Knowledge | None = None
) -> SearchOwner:
    """Return what a search for a motion of this arm belongs to."""
    content = experiment_content(experiment)
    optimizer, given = content.pop('optimizer'), content.pop('optimizer_options')
    # With those that it was not given, which have their defaults.
    options = to_plain(asdict(OPTIMIZERS[optimizer](**given)))
    return SearchOwner(
        robot.name, robot_sha256(robot), optimizer, options, seed, canonical_sha256(content),
        knowledge_sha256(knowledge),
    )


def dump_search(owner: SearchOwner, state: SearchState) -> str:
    """Return the text of the file; its sha256 is the last entry."""
    content = to_finite({
        'schema_version': SCHEMA_VERSION,
        'owner': asdict(owner),
        'round': state.rounds,
        'evaluations': state.evaluations,
        'feasible': state.feasible,
        'best': None if state.best is None else vars(state.best),
        'archive': [vars(candidate) for candidate in state.archive],
        'memory': {name: float(value) for name, value in state.memory.items()},
    })
    text = json.dumps({**content, 'sha256': canonical_sha256(content)}, allow_nan=False)
    return text + '\n'


def load_search(path: Path, owner: SearchOwner) -> SearchState:
    """
    Read the search that is to go on, from a file by `dump_search`.

    `owner` is what the continued search belongs to. Raises UsageError, with the difference, if the
    file is of another search, or if there is no such file; DescriptionError if it is not such a
    file, or was changed.
    """
    source = str(path)
    try:
        content = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise DescriptionError(f'{source} is not the file of a search: {error}') from error
    if not isinstance(content, dict):
        raise DescriptionError(f'{source} is not the file of a search: an object is needed')
    check_schema_version(content, source, SCHEMA_VERSION)
    keys = {
        'schema_version', 'owner', 'round', 'evaluations', 'feasible', 'best', 'archive',
        'memory', 'sha256',
    }
    check_keys(content, source, keys, set())
    if not _is_unchanged(content):
        raise DescriptionError(
            f'{source} is damaged or was edited: its content does not match its sha256; search '
            'anew with another file'
        )
    _check_owner(content['owner'], asdict(owner), source)
    try:
        return SearchState(
            rounds=content['round'],
            evaluations=content['evaluations'],
            feasible=content['feasible'],
            best=None if content['best'] is None else _to_candidate(content['best']),
            archive=tuple(_to_candidate(entry) for entry in content['archive']),
            memory={name: _from_number(value) for name, value in content['memory'].items()},
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise DescriptionError(
            f'{source} is not the file of a search: {type(error).__name__}: {error}'
        ) from error


def search_saver(path: Path, owner: SearchOwner) -> Callable[[SearchState], None]:
    """Return what writes the state of a search to its file, whole or not at all."""
    return lambda state: write_atomically(path, dump_search(owner, state))


def _is_unchanged(content: dict[str, Any]) -> bool:
    rest = {key: value for key, value in content.items() if key != 'sha256'}
    try:
        return bool(canonical_sha256(rest) == content['sha256'])
    except ValueError:
        # Python reads NaN from JSON, which does not know it.
        return False


def _check_owner(entry: Any, wanted: dict[str, Any], source: str) -> None:
    found = to_mapping(entry, f'{source}: owner')
    for key, words in WORDS.items():
        if found.get(key) != wanted[key]:
            named = '' if key.endswith('sha256') else f' ({found.get(key)!r}, not {wanted[key]!r})'
            raise UsageError(
                f'{source} is of a search with another {words}{named}: go on with the same, or '
                'name another file'
            )


def _to_candidate(entry: dict[str, Any]) -> Candidate:
    return Candidate(
        _to_array(entry['x']), _from_number(entry['objective']), _from_number(entry['violation']),
        entry['feasible'], None if entry['start'] is None else _to_array(entry['start']),
    )


def _to_array(values: list[float | None]) -> FloatArray:
    return np.array([_from_number(value) for value in values])


def _from_number(value: float | None) -> float:
    return float('inf') if value is None else float(value)
