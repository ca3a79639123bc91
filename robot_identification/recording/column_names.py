# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Words in the names of columns: which quantity, in which unit, measured or commanded."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
import re

from robot_identification.recording.column_words import (
    ALL_UNITS, BESIDE_TIME, CURRENT, FOREIGN, GENERIC, INDIRECT, LONE, MEASURED, NOUNS, TIMES,
    TORQUE, UNIT_WORDS, WANTED,
)

# What stands for an index, and for the name of a joint, among the words of a column.
INDEX, JOINT = '#', '@'

_WORD = re.compile(r'[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_]+')
_BRACKETS = re.compile(r'\s*[\[({<]\s*([^\])}>]*?)\s*[\])}>]')


@dataclass(frozen=True)
class ColumnName:
    """Name of a column, taken apart."""

    text: str
    words: tuple[str, ...]  # Words and numbers in lower case, without what is in `unit`
    unit: str  # The unit in brackets as it is spelled, else empty


@dataclass(frozen=True)
class Meaning:
    """Meaning of the columns of one name, without index or joint."""

    quantity: str
    rank: float  # How well the name fits; of several the highest is meant
    wanted: bool  # Whether they are commanded, not measured
    unit: str  # Unit that the words state, one of `UNITS`; empty where they state none
    natural: str  # Unit that the name suggests, such as A of a current


def _key(text: str) -> str:
    return re.sub(r'[\s/.*·^()_\-]', '', text).lower()


def is_unit(text: str) -> bool:
    """Return whether a text is the name of a unit, in brackets or not."""
    return _key(text.strip('[](){}<> ')) in ALL_UNITS | {'-', ''} and bool(text)


def unit_of(text: str, quantity: str) -> str:
    """Return the unit that a text spells, empty if it is none of a quantity."""
    return UNIT_WORDS[quantity].get(_key(text), '')


@cache
def take_apart(text: str) -> ColumnName:
    """Return a name taken apart."""
    unit, rest = '', text
    for found in _BRACKETS.finditer(text):
        if found[1] and not found[1].isdigit() and _key(found[1]) in ALL_UNITS:
            unit, rest = found[1], text[:found.start()] + ' ' + text[found.end():]
    slash = re.search(r'\s/\s*(\S+)$', text)
    if not unit and slash is not None and _key(slash[1]) in ALL_UNITS:
        unit, rest = slash[1], text[:slash.start()]
    return ColumnName(text, split_words(rest), unit)


@cache
def split_words(text: str) -> tuple[str, ...]:
    """Return the words and numbers of a name, in lower case."""
    # A dot above a letter is a derivative.
    plain = text.replace('q\u0307', 'dq').replace('q\u0308', 'ddq')
    return tuple(word.lower() for word in _WORD.findall(plain))


def _split_joined(word: str) -> list[str]:
    """Return the parts of a word such as jointpos."""
    if word in NOUNS or len(word) < 4:
        return [word]
    for prefix in ('joint', 'axis', 'motor', 'actual', 'act', 'msr', 'measured', 'meas', 'robot'):
        if word.startswith(prefix) and word[len(prefix):] in NOUNS:
            return [prefix, word[len(prefix):]]
    return [word]


def _take_unit(words: list[str], quantity: str) -> str:
    """Return the unit that stands among words, and take its words out."""
    units = UNIT_WORDS[quantity]
    for length in (3, 2, 1):
        for at in range(len(words) - length, -1, -1):
            text = ''.join(words[at:at + length])
            is_last = at + length == len(words)
            if text in units and (len(text) > 1 or is_last) and at + length > 1:
                del words[at:at + length]
                return units[text]
    return ''


def classify(given: Sequence[str]) -> Meaning | None:
    """Return what columns are whose name has some words; None if they are nothing of a joint's."""
    words = [
        part for word in given if word not in (INDEX, JOINT) for part in _split_joined(word)
    ]
    if set(words) & FOREIGN:
        return None
    quantity, noun = _find_noun(words)
    wanted = bool(set(words) & WANTED)
    rank = 0.0
    if not quantity:
        if set(words) <= GENERIC | MEASURED | {'rad', 'deg', 'degrees'}:
            quantity, rank = 'q', -3.0
        elif {'observation', 'state'} <= set(words) or 'action' in words:
            quantity, rank = 'q', -2.0
        else:
            return None
    if 'rotor' in words and quantity == 'q':
        quantity = 'rotor_position'
    unit = _take_unit(words, quantity)
    if noun and noun in words:
        after = words[words.index(noun) + 1:]
        wanted |= 'd' in after or 'c' in after
    rank += 2.0 * bool(set(words) & MEASURED) - 1.0 * bool(set(words) & INDIRECT)
    natural = ''
    if quantity == 'effort':
        natural = 'Nm' if noun in TORQUE else 'A' if noun in CURRENT else ''
        # A torque needs no drive gain; a load is in percent more often than not.
        rank += 0.5 * (noun in TORQUE)
    return Meaning(quantity, rank - 0.01 * len(words), wanted, unit, natural)


def is_prefix(word: str) -> bool:
    """Return whether a word before the name of a joint may be the name of an arm."""
    return len(word) > 1 and word not in FOREIGN | WANTED and word.isalpha()


def names_something(words: Collection[str]) -> bool:
    """Return whether words are more than numbers, letters and how a quantity was obtained."""
    return any(
        word.isalpha() and len(word) > 1 and word not in MEASURED | INDIRECT for word in words
    )


def _find_noun(words: list[str]) -> tuple[str, str]:
    """Return the quantity that words name, and the word that does; empty texts if none does."""
    for k in range(len(words) - 1):
        pair = (words[k], words[k + 1])
        if pair in (('d', 'q'), ('q', 'dot'), ('q', 'vel'), ('theta', 'dot'), ('d', 'theta')):
            words[k:k + 2] = ['dq']
            break
    nouns = [
        word for word in words if word in NOUNS and (word not in LONE or _is_alone(word, words))
    ]
    solid = [word for word in nouns if word != 'current']
    if solid and NOUNS[solid[-1]] != 'effort':
        # In `current_position` the word means present.
        nouns = solid
    if nouns:
        return NOUNS[nouns[-1]], nouns[-1]
    lone = [word for word in words if word in LONE and _is_alone(word, words)]
    return (LONE[lone[-1]], lone[-1]) if lone else ('', '')


def _is_alone(word: str, words: Collection[str]) -> bool:
    others = set(words) - {word}
    return others <= GENERIC | MEASURED | WANTED | ALL_UNITS | {'motor'}


def time_rank(name: ColumnName) -> float | None:
    """Return how well a name fits the time of a row; None if it is none."""
    words = set(name.words)
    if not words & TIMES:
        return None
    if not words <= TIMES | BESIDE_TIME:
        # In a structure that may have any name.
        last = set(split_words(re.split(r'[./]', name.text)[-1]))
        return -1.0 if last and last <= TIMES else None
    if words <= {'sec', 'secs', 'nsec', 'nsecs', 'nanosec', 'nanosecs', 'nanoseconds', 'nano'}:
        return -2.0
    rank = 2.0 if 'stamp' in words else 1.0 if words <= TIMES else 0.0
    return rank - 0.01 * len(name.words)


def time_unit(name: ColumnName) -> str:
    """Return the unit that the name of a time states, empty if none."""
    if name.unit:
        return unit_of(name.unit, 'time')
    words = list(name.words)
    return _take_unit(words, 'time') if len(words) > 1 else unit_of(words[0], 'time')


def nanoseconds_of(seconds: ColumnName, names: Sequence[ColumnName]) -> int | None:
    """Return the column with the nanoseconds of whole seconds; None if there is none."""
    for short, long in (('sec', ('nanosec',)), ('secs', ('nsecs',)), ('sec', ('nano', 'sec')),
                        ('sec', ('nsec',)), ('seconds', ('nanoseconds',)),
                        ('secs', ('nanosecs',)), ('s', ('ns',))):
        if short not in seconds.words:
            continue
        at = seconds.words.index(short)
        wanted = (*seconds.words[:at], *long, *seconds.words[at + 1:])
        for place, other in enumerate(names):
            if other.words == wanted:
                return place
    return None
