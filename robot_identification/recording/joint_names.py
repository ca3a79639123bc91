# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Names of joints in a bag and in the model, as users give them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import re
import shlex

from robot_identification.errors import UsageError


def parse_joint_names(text: str | None) -> dict[str, str]:
    """
    Return the model name by bag name from ``BAG=MODEL,BAG=MODEL,..``, empty for no text.

    Raises UsageError if the text is not of that form, or a name is used twice.
    """
    if not text:
        return {}
    pairs = [part.split('=') for part in text.split(',')]
    if any(len(pair) != 2 or not all(pair) for pair in pairs):
        raise UsageError(f'--joint-names must read BAG=MODEL,BAG=MODEL,.. but is {text!r}')
    names = {bag.strip(): model.strip() for bag, model in pairs}
    if len(names) != len(pairs) or len(set(names.values())) != len(pairs):
        raise UsageError(f'--joint-names uses a name twice: {text!r}')
    return names


def recommend_names(
    recorded: Sequence[str], wanted: Sequence[str], given: Mapping[str, str] | None = None
) -> str:
    """
    Return the options by which a recording has joints of a model, as far as names tell.

    `given` are model names by names of the recording. Joints that the recording lacks are left out
    by --joints. Empty where no name tells.
    """
    given = given or {}
    source = {given.get(name, name): name for name in recorded}
    known = [name for name in wanted if name in source]
    left = [name for model, name in source.items() if model not in wanted]
    pairs = {source[name]: name for name in known if source[name] != name}
    pairs |= _match(left, [name for name in wanted if name not in source], by_place=not known)
    there = {*known, *pairs.values()}
    options = []
    if there and len(there) < len(wanted):
        options += ['--joints', *(shlex.quote(name) for name in wanted if name in there)]
    if pairs:
        text = ','.join(f'{name}={model}' for name, model in pairs.items())
        options += ['--joint-names', shlex.quote(text)]
    return ' '.join(options)


def _match(recorded: Sequence[str], wanted: Sequence[str], *, by_place: bool) -> dict[str, str]:
    """
    Return the model name by name of a recording, by their words, or `by_place` in a list.

    Words tell nothing where they leave names out on both sides: it is another arm.
    """
    words = dict(zip(recorded, _own_words(recorded), strict=True))
    found: dict[str, str] = {}
    for name, own in zip(wanted, _own_words(wanted), strict=True):
        shared = {other: len(own & words[other]) for other in recorded}
        most = max(shared.values(), default=0)
        best = [other for other, count in shared.items() if count == most]
        if most and len(best) == 1:
            found.setdefault(best[0], name)
    if len(found) == min(len(recorded), len(wanted)):
        return found
    is_listed = by_place and len(recorded) == len(wanted)
    return dict(zip(recorded, wanted, strict=True)) if is_listed else {}


def _own_words(names: Sequence[str]) -> list[set[str]]:
    """Return the words and numbers of each name that not all of them have."""
    words = [set(re.findall(r'[^\W\d_]+|\d+', name.lower())) for name in names]
    return [own - set.intersection(*words) if len(words) > 1 else own for own in words]


def common_length(sequences: Sequence[Sequence[str]]) -> int:
    """Return how many elements sequences have in common from their begin."""
    length = 0
    for elements in zip(*sequences, strict=False):
        if len(set(elements)) > 1:
            break
        length += 1
    return length
