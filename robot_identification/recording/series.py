# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Series: the columns of a table put together, one a joint, by what their names have in common.

They are those of one name with the joints' names in it, or with numbers that count from 0 or 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from robot_identification.recording.column_names import (
    classify, ColumnName, INDEX, is_prefix, JOINT, Meaning, names_something, split_words,
    take_apart, time_rank,
)
from robot_identification.recording.joint_names import common_length
from robot_identification.recording.table import Table

# Of columns with the names of joints behind a prefix, and nothing else.
_BARE = Meaning('q', -4.0, False, '', '')

Words = tuple[str, ...]


@dataclass(frozen=True)
class Series:
    """Columns of one name, one a joint."""

    meaning: Meaning
    before: Words  # Words before the joint or index, the place it is in
    # Of the columns, in the order of the joints or of the numbers; -1 where a joint has none
    places: tuple[int, ...]
    named: bool = False  # Whether the names of joints are in those of the columns
    from_zero: bool = False  # Whether the numbers in the names count from 0

    @property
    def present(self) -> int:
        """Return how many joints have a column."""
        return sum(place >= 0 for place in self.places)

    def is_of(self, quantity: str, *, wanted: bool = False) -> bool:
        """Return whether it is of a quantity that was measured, or commanded."""
        return self.meaning.quantity == quantity and self.meaning.wanted == wanted

    def covers(self, count: int) -> bool:
        """Return whether there is a column for each of so many joints."""
        return self.present == len(self.places) >= count

    def shared(self, anchor: Series | None) -> int:
        """Return how many words two series have in common before the joints."""
        return 0 if anchor is None else common_length([self.before, anchor.before])


def find_series(table: Table, joints: Sequence[str], own: Sequence[str]) -> list[Series]:
    """Return all series that may be of the joints; `own` are their names in the log."""
    columns = [take_apart(text) for text in table.columns]
    by_name = _named_series(columns, joints, own)
    counted = counted_series(columns, len(joints))

    def has_positions(series: Iterable[Series]) -> bool:
        return any(
            one.meaning.quantity == 'q' and one.covers(len(joints)) for one in series
        )

    if has_positions(by_name):
        # joint_0 to joint_6 beside a model's joint_1 to joint_6 are numbers, not names.
        has_zero = any('0' in split_words(name) for name in joints)
        is_shifted = not has_zero and _counts(joints) and has_positions(
            one for one in counted if one.from_zero
        )
        return counted if is_shifted else by_name
    if joints and set(own) <= set(table.joints):
        # The table says which joint each number is.
        order = [table.joints.index(name) for name in own]
        ordered = [
            replace(one, places=tuple(one.places[k] for k in order))
            for one in counted if len(one.places) == len(table.joints)
        ]
        if ordered:
            return ordered
    return counted + by_name


def _named_series(
    columns: Sequence[ColumnName], joints: Sequence[str], own: Sequence[str]
) -> list[Series]:
    """Return the series with the joints' names in those of the columns."""
    best: list[Series] = []
    # Names of another recording than this one do no harm.
    spellings = [
        spelling for names in dict.fromkeys((tuple(own), tuple(joints)))
        for spelling in _spellings([split_words(name) for name in names])
    ]
    for wanted in spellings:
        found = []
        groups = _group(columns, partial(_joint_in, wanted=wanted))
        for (before, after), members in groups.items():
            meaning = classify((*before, JOINT, *after))
            if meaning is None and len(before) == 1 and not after and is_prefix(before[0]):
                meaning = _BARE
            if meaning is not None:
                places = tuple(members.get(k, -1) for k in range(len(joints)))
                found.append(Series(meaning, before, places, named=True))
        if any(one.meaning.quantity == 'q' and one.covers(len(joints)) for one in found):
            return found
        best = max(best, found, key=lambda some: sum(one.present for one in some))
    return best


def _group(
    columns: Sequence[ColumnName], find: Callable[[Words], Iterable[tuple[int, int, int]]]
) -> dict[tuple[Words, Words], dict[int, int]]:
    """
    Return the places of columns by the words around what is found in them, and by its number.

    `find` gives the number, and where among the words it is: the first and how many.
    """
    groups: dict[tuple[Words, Words], dict[int, int]] = {}
    for place, column in enumerate(columns):
        for number, at, length in find(column.words):
            key = column.words[:at], column.words[at + length:]
            groups.setdefault(key, {}).setdefault(number, place)
    return groups


def _joint_in(words: Words, wanted: Sequence[Words]) -> list[tuple[int, int, int]]:
    """Return the joint that is named by words, and where; the longest name counts."""
    found = [
        (len(name), at, joint)
        for joint, name in enumerate(wanted)
        for at in range(len(words) - len(name) + 1)
        if words[at:at + len(name)] == name
    ]
    return [max(found)[::-1]] if found else []


def _spellings(names: Sequence[Words]) -> list[Sequence[Words]]:
    """Return the names of joints as a log may spell them: whole, without a common begin or end."""
    found = [list(names)]
    if len(names) > 1:
        head = common_length(names)
        tail = common_length([name[::-1] for name in names])
        for first, last in ((head, 0), (0, tail), (head, tail)):
            found.append([name[first:len(name) - last] for name in names])
    return [
        # Numbers alone are indices.
        spelling for k, spelling in enumerate(found)
        if all(spelling) and len(set(spelling)) == len(names) and spelling not in found[:k]
        and not all(word.isdigit() for name in spelling for word in name)
    ]


def counted_series(columns: Sequence[ColumnName], n: int) -> list[Series]:
    """Return the series with numbers that count from 0 or 1; of one joint, single columns, too."""
    def numbers_in(words: Words) -> list[tuple[int, int, int]]:
        return [
            (int(word), at, 1) for at, word in enumerate(words) if word.isdigit() and len(word) < 4
        ]

    series = []
    used: set[int] = set()
    groups = _group(columns, numbers_in)
    for (before, after), members in sorted(groups.items(), key=lambda one: -len(one[1])):
        numbers = sorted(members)
        # Those of motors on a bus may begin anywhere.
        counts = numbers == list(range(numbers[0], numbers[0] + len(numbers))) and (
            numbers[0] in (0, 1) or len(numbers) == n > 1
        )
        places = tuple(members[number] for number in numbers)
        meaning = classify((*before, INDEX, *after))
        if not counts or meaning is None or used & set(places) or (n > 1 and len(places) == 1):
            continue
        used |= set(places)
        series.append(Series(meaning, before, places, from_zero=numbers[0] == 0))
    if n == 1:
        series += [
            Series(meaning, (), (place,)) for place, column in enumerate(columns)
            if column.words and not any(word.isdigit() for word in column.words)
            and time_rank(column) is None and (meaning := classify(column.words)) is not None
        ]
    return series


def numbered_joints(count: int) -> tuple[str, ...]:
    """Return the names of joints that only numbers name."""
    return tuple(f'joint_{k + 1}' for k in range(count))


def describe_joints(table: Table) -> tuple[str, ...]:
    """Return names of a table's joints; where nothing names them, joint_1 and so on."""
    columns = [take_apart(text) for text in table.columns]
    named = _names_in_columns(columns)
    counted = [
        one for one in counted_series(columns, 1) if one.is_of('q')
    ]
    if not counted or len(named) > max(len(one.places) for one in counted):
        return named
    best = max(counted, key=lambda one: (round(one.meaning.rank), len(one.places)))
    if len(table.joints) == len(best.places):
        return table.joints
    return numbered_joints(len(best.places))


def _names_in_columns(columns: Sequence[ColumnName]) -> tuple[str, ...]:
    """Return the names that columns of position have beside what they have in common."""
    groups: dict[tuple[str, bool, str], list[str]] = {}
    for column in columns:
        whole = classify(column.words)
        if whole is None or whole.quantity != 'q' or whole.wanted:
            continue
        text = column.text
        if column.unit:
            text = text.rpartition(column.unit)[0][:-1]
        for separator in ('/', '.', ' ', '_'):
            found = _split_name(text.strip(), separator)
            if found is not None:
                at_start, part, name = found
                groups.setdefault((separator, at_start, part), []).append(name)
                break
    usable = [group for group in groups.values() if not _counts(group)]
    return tuple(dict.fromkeys(_without_topic(max(usable, key=len)))) if usable else ()


def _split_name(text: str, separator: str) -> tuple[bool, str, str] | None:
    """Return a name without its part that says position, where that is, and which it is."""
    parts = text.split(separator)
    ranks = [found.rank if (found := classify(split_words(part))) else -9.0 for part in parts]
    for at in sorted(range(len(parts)), key=lambda at: -ranks[at]):
        part = parts[at]
        meaning, rest = classify(split_words(part)), (*parts[:at], *parts[at + 1:])
        if meaning is None or meaning.rank <= -2.0 or meaning.quantity != 'q':
            continue
        words = [word for other in rest for word in split_words(other)]
        if names_something(words):
            return at == 0, part, separator.join(rest)
    return None


def _counts(names: Sequence[str]) -> bool:
    """Return whether names differ in a number that counts, not as those of joints do."""
    bare = Counter(tuple(word for word in split_words(name) if not word.isdigit())
                   for name in names)
    return len(bare) == 1 and len(names) > 1


def _without_topic(names: Sequence[str]) -> list[str]:
    """Return names without the topic or structure they all begin with."""
    for separator in ('/', '.'):
        parts = [name.split(separator) for name in names]
        while all(len(part) > 1 for part in parts) and len({part[0] for part in parts}) == 1:
            parts = [part[1:] for part in parts]
        names = [separator.join(part) for part in parts]
    return [name.strip('/.') for name in names]
