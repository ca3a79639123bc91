# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Recognition: the mapping of a table, from the names of its columns and what is in them.

Columns are put in series, one a quantity, by what their names have in common: those of one name
with the joints' names in it, or with numbers that count from 0 or 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
import shlex

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DataError
from robot_identification.recording.column_names import (
    classify, ColumnName, INDEX, is_prefix, JOINT, Meaning, names_something, nanoseconds_of,
    split_words, take_apart, time_rank, time_unit, unit_of,
)
from robot_identification.recording.column_units import find_units, Rows
from robot_identification.recording.column_words import QUANTITIES
from robot_identification.recording.joint_names import recommend_names
from robot_identification.recording.table import Table
from robot_identification.recording.table_mapping import (
    Columns, make_columns, mapping_text, TableMapping,
)

# Columns of one kind beyond the joints', such as the seventh of a six-axis arm's logger, are left
# out if they never change by more than this, in their unit.
_STILL = 1e-9
# Placeholder of a mapping that is to be edited.
_EDIT = 'COLUMN'
_DEFAULT_UNITS = {'time': 's', 'q': 'rad', 'dq': 'rad/s', 'temperature': 'deg C',
                  'rotor_position': 'rad'}
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
    is_whole: bool = True  # Whether there is a column for every joint
    named: bool = False  # Whether the names of joints are in those of the columns
    from_zero: bool = False  # Whether the numbers in the names count from 0

    @property
    def present(self) -> int:
        """Return how many joints have a column."""
        return sum(place >= 0 for place in self.places)

    def shared(self, anchor: Series | None) -> int:
        """Return how many words two series have in common before the joints."""
        others = anchor.before if anchor is not None else ()
        equal = [a == b for a, b in zip(self.before, others, strict=False)]
        return equal.index(False) if False in equal else len(equal)


def recognize(
    table: Table, joint_names: Sequence[str], names: Mapping[str, str]
) -> TableMapping:
    """
    Return the mapping of a table, in the order of the model's joints.

    `names` has the model's name by that of the log, where they differ. Raise DataError, with a
    mapping to be edited, where columns are missing or several may be meant.
    """
    return _Recognition(table, tuple(joint_names), names).mapping()


class _Recognition:
    """Series, time and units of one table for the joints of a model."""

    def __init__(
        self, table: Table, joints: tuple[str, ...], names: Mapping[str, str]
    ) -> None:
        self._table, self._joints, self._names = table, joints, names
        self._columns = [take_apart(text) for text in table.columns]
        renamed = {model: own for own, model in names.items()}
        self._own = tuple(renamed.get(joint, joint) for joint in joints)  # in the log
        self._series = self._find_series()

    def mapping(self) -> TableMapping:
        """Return the mapping of the series that are meant, with their units."""
        table, chosen, time = self._table, self._choose(), self._find_time()
        if time is None and table.rate is None:
            raise DataError(f'{self._no_time()}:\n{self._draft(list(chosen.values()))}')
        place, nanoseconds = time if time is not None else (None, None)
        stated = {
            quantity: self._stated_unit(quantity, one) for quantity, one in chosen.items()
            if quantity in ('q', 'dq', 'effort')
        }
        stated['time'] = 's'
        if place is not None and nanoseconds is None:
            stated['time'] = time_unit(self._columns[place]) or unit_of(
                table.units.get(table.columns[place], ''), 'time'
            )
        natural = chosen['effort'].meaning.natural if 'effort' in chosen else ''
        units = find_units(stated, natural, self._sample(chosen, place, nanoseconds))
        quantities = {
            quantity: self._make_columns(
                quantity, one, units.units.get(quantity, _DEFAULT_UNITS.get(quantity, ''))
            )
            for quantity, one in chosen.items()
        }
        effort = quantities['effort'].unit if 'effort' in quantities else ''
        return TableMapping(
            time=make_columns('time', '' if place is None else table.columns[place],
                              units.units['time']),
            quantities=quantities,
            joints=self._joints,
            metadata={'effort_unit': effort.removeprefix('m')} if effort else {},
            nanoseconds='' if nanoseconds is None else table.columns[nanoseconds],
            rate=table.rate if place is None else None,
            command=self._find_command(quantities['q'].unit),
            recognized=True,
            checks=units.checks,
            notes=(*filter(None, [units.alternative]), *self._left_out(chosen)),
        )

    def _make_columns(self, quantity: str, one: Series, unit: str) -> Columns:
        return make_columns(quantity, tuple(self._table.columns[k] for k in one.places), unit)

    def _find_command(self, unit: str) -> Columns | None:
        """Return the positions that were commanded, None unless one series may be meant."""
        wanted = [
            one for one in self._of('q', wanted=True)
            if len(one.places) == len(self._joints) and one.is_whole
        ]
        if len(wanted) != 1:
            return None
        try:
            return self._make_columns('q', wanted[0], self._stated_unit('q', wanted[0]) or unit)
        except DataError:
            # What is not asked for keeps no table from being read.
            return None

    def _of(self, quantity: str, *, wanted: bool) -> list[Series]:
        """Return the series of a quantity that was commanded, or measured."""
        return [
            one for one in self._series
            if one.meaning.quantity == quantity and one.meaning.wanted == wanted
        ]

    def _absent(self, one: Series) -> list[str]:
        """Return the joints of which a series has no column."""
        return [joint for joint, place in zip(self._joints, one.places, strict=True) if place < 0]

    def _left_out(self, chosen: Mapping[str, Series]) -> list[str]:
        """Return which quantities are there for a part of the joints, and for none are used."""
        notes = []
        for quantity in ('temperature', 'rotor_position'):
            parts = [one for one in self._series
                     if one.meaning.quantity == quantity and one.named and quantity not in chosen]
            if parts:
                notes.append(
                    f'no column of {quantity.replace("_", " ")} for '
                    f'{", ".join(self._absent(parts[0]))}: that of the other joints is left out'
                )
        return notes

    def _find_series(self) -> list[Series]:
        """Return all series that may be of the joints."""
        joints, listed = self._joints, self._table.joints
        by_name = self._named_series()
        counted = counted_series(self._columns, len(joints))
        if any(one.meaning.quantity == 'q' and one.is_whole for one in by_name):
            # joint_0 to joint_6 beside a model's joint_1 to joint_6 are numbers, not names.
            has_zero = any('0' in split_words(name) for name in joints)
            shifted = not has_zero and _counts(joints) and any(
                one.from_zero and one.meaning.quantity == 'q' and one.is_whole for one in counted
            )
            return counted if shifted else by_name
        if joints and set(self._own) <= set(listed):
            # The table says which joint each number is.
            order = [listed.index(name) for name in self._own]
            ordered = [
                replace(one, places=tuple(one.places[k] for k in order))
                for one in counted if len(one.places) == len(listed)
            ]
            if ordered:
                return ordered
        return counted + by_name

    def _named_series(self) -> list[Series]:
        """Return the series with the joints' names in those of the columns."""
        best: list[Series] = []
        own = [split_words(name) for name in self._own]
        plain = [split_words(name) for name in self._joints]
        # Names of another recording than this one do no harm.
        for wanted in (*_spellings(own), *([] if plain == own else _spellings(plain))):
            found = []
            groups = _group(self._columns, partial(_joint_in, wanted=wanted))
            for (before, after), members in groups.items():
                meaning = classify((*before, JOINT, *after))
                if meaning is None and len(before) == 1 and not after and is_prefix(before[0]):
                    meaning = _BARE
                if meaning is not None:
                    places = tuple(members.get(k, -1) for k in range(len(own)))
                    found.append(Series(meaning, before, places, -1 not in places, named=True))
            if any(one.is_whole and one.meaning.quantity == 'q' for one in found):
                return found
            best = max(best, found, key=lambda some: sum(one.present for one in some))
        return best

    def _choose(self) -> dict[str, Series]:
        """Return the series of every quantity; raise DataError where that cannot be known."""
        chosen: dict[str, Series] = {}
        for quantity in QUANTITIES:
            candidates = [
                self._without_still_columns(self._selected(one))
                for one in self._of(quantity, wanted=False) if one.is_whole
            ]
            if not candidates:
                continue
            anchor = chosen.get('q')
            candidates.sort(key=partial(_fit, anchor=anchor), reverse=True)
            best = candidates[0]
            rivals = [
                one for one in candidates
                if one.shared(anchor) == best.shared(anchor)
                and abs(one.meaning.rank - best.meaning.rank) < 0.3
            ]
            if len(rivals) > 1 and quantity in ('q', 'dq', 'effort'):
                raise DataError(
                    f'{self._table.path}: {quantity} may be '
                    f'{" or ".join(map(self._listed, rivals))}. Keep what is meant in this '
                    f'mapping:\n{self._draft(self._series)}'
                )
            chosen[quantity] = best
        if 'q' not in chosen:
            raise self._missing()
        for quantity, one in chosen.items():
            self._check_count(quantity, one)
        for quantity in ('dq', 'effort'):
            if quantity not in chosen:
                self._check_part(quantity)
        return chosen

    def _selected(self, one: Series) -> Series:
        """Return a series of the columns whose numbers the user gave to the joints, if so."""
        listed = _numbered_joints(len(one.places))
        if one.named or len(one.places) <= len(self._joints) or not (
            set(self._own) <= set(self._names) & set(listed)
        ):
            return one
        return replace(one, places=tuple(one.places[listed.index(name)] for name in self._own))

    def _without_still_columns(self, one: Series) -> Series:
        """Return a series without columns beyond the joints' that never change."""
        n = len(self._joints)
        for place in one.places[n:]:
            values = _sampled(self._table, place)
            if values.size and np.ptp(values) >= _STILL:
                return one
        return replace(one, places=one.places[:n])

    def _check_count(self, quantity: str, one: Series) -> None:
        """Raise DataError of more columns than joints."""
        if len(one.places) <= len(self._joints):
            return
        pairs = zip(_numbered_joints(len(self._joints)), self._joints, strict=True)
        names = shlex.quote(','.join(f'{name}={joint}' for name, joint in pairs))
        raise DataError(
            f'{self._table.path} has more columns of {quantity} than the model has joints, '
            f'{", ".join(self._joints)}: {self._listed(one)}. If the first are the joints, add '
            f'--joint-names {names}; else name one column a joint in a mapping:\n'
            f'{self._draft(self._series)}'
        )

    def _check_part(self, quantity: str) -> None:
        """Raise DataError of columns for a part of the joints."""
        part = [one for one in self._of(quantity, wanted=False) if one.named and not one.is_whole]
        if not part:
            return
        absent = self._absent(part[0])
        present = [joint for joint in self._joints if joint not in absent]
        # Velocities can be differentiated from positions; nothing stands in for efforts.
        fix = (
            f'leave {quantity} out in a mapping' if quantity != 'effort' else
            'if the joints without it stand still, take the others alone: --joints '
            + ' '.join(shlex.quote(joint) for joint in present)
        )
        raise DataError(
            f'{self._table.path} has no column of {quantity} of {", ".join(absent)}, as it has '
            f'for other joints, {self._listed(part[0])}: add it, or {fix}'
        )

    def _listed(self, one: Series) -> str:
        names = [self._table.columns[place] for place in one.places if place >= 0]
        return ', '.join(names) if len(names) < 4 else f'{names[0]} .. {names[-1]}'

    def _find_time(self) -> tuple[int, int | None] | None:
        """Return the column of the time, and that of its nanoseconds; None if there is none."""
        for place in self._named_times():
            nanoseconds = nanoseconds_of(self._columns[place], self._columns)
            if nanoseconds is not None or self._runs_on(place):
                return place, nanoseconds
        return None

    def _named_times(self) -> list[int]:
        """Return the columns that are named as a time, the best name first."""
        ranked = sorted(
            (-rank, place) for place, column in enumerate(self._columns)
            if (rank := time_rank(column)) is not None
        )
        return [place for _, place in ranked]

    def _runs_on(self, place: int) -> bool:
        """Return whether a column grows from row to row, but for a few."""
        steps = _sampled(self._table, place, steps=True)
        if not steps.size:
            return _sampled(self._table, place).size > 0
        return bool(np.mean(steps > 0.0) > 0.2 and np.mean(steps < 0.0) < 0.2)

    def _stated_unit(self, quantity: str, one: Series) -> str:
        """Return the unit that names or a line of units state; raise DataError if they differ."""
        found = []
        for place in one.places:
            column = self._columns[place]
            spelled = column.unit or self._table.units.get(column.text, '')
            found.append(unit_of(spelled, quantity) or one.meaning.unit)
        if len(set(found)) > 1:
            listing = ', '.join(
                f'{self._table.columns[place]} in {unit or "no unit"}'
                for place, unit in zip(one.places, found, strict=True)
            )
            raise DataError(
                f'{self._table.path} has {quantity} in several units, {listing}: convert it to one'
            )
        return found[0]

    def _sample(
        self, chosen: Mapping[str, Series], time: int | None, nanoseconds: int | None
    ) -> list[Rows]:
        """Return rows from all over the table, in its units."""
        windows = []
        for block in self._table.windows:
            times: FloatArray = np.arange(len(block)) / (self._table.rate or 1.0)
            if time is not None:
                times = block[:, time]
            if nanoseconds is not None:
                times = times + 1e-9 * block[:, nanoseconds]
            q, dq, effort = (
                block[:, chosen[quantity].places] if quantity in chosen else None
                for quantity in ('q', 'dq', 'effort')
            )
            assert q is not None
            known = np.isfinite(times) & np.isfinite(q).all(axis=1)
            if np.count_nonzero(known) > 1:
                windows.append(Rows(times[known], q[known], *(
                    None if values is None else values[known] for values in (dq, effort)
                )))
        return windows

    def _no_time(self) -> str:
        """Return why a table has no time, and what to do."""
        table = self._table
        rate = 'say there how many rows there are a second with `time: {rate: 500}`'
        for place in self._named_times():
            lead = f'{table.path}: its column {table.columns[place]!r} is no time of the rows: it '
            steps = _sampled(table, place, steps=True)
            if not steps.size:
                continue
            if np.mean(steps < 0.0) > 0.5:
                return (
                    f'{lead}falls from row to row. Sort the rows by it, or name another column '
                    'in a mapping'
                )
            if not np.any(steps):
                return f'{lead}stands still. Name another column in a mapping, or {rate}'
            return (
                f'{lead}goes on in {np.mean(steps > 0.0):.0%} of the rows only and falls back in '
                f'{np.mean(steps < 0.0):.0%}; stamps with too few digits do so. Name another '
                f'column in a mapping, or {rate}'
            )
        return (
            f'{table.path} has no column of the time, such as `time`, `t` or `timestamp`'
            f'{self._not_taken()}: name it in a mapping, or {rate}'
        )

    def _not_taken(self) -> str:
        left_out = self._table.describe_left_out()
        return f' (not taken: {left_out})' if left_out else ''

    def _missing(self) -> DataError:
        """Return the error of a table without positions of the joints."""
        table, joints = self._table, ', '.join(self._joints)
        partial, wanted = self._of('q', wanted=False), self._of('q', wanted=True)
        stated = describe_joints(table)
        # A name that is not in the table says nothing.
        of_one = stated == _numbered_joints(1) != table.joints
        lead = f'{table.path} has no position of the joints {joints}'
        if partial:
            lead = self._describe_partial(partial, stated)
        elif wanted:
            lead += f' as measured, only as commanded ({self._listed(wanted[0])})'
        if of_one:
            lead += '; it is of one joint, which nothing names'
        elif stated and not partial and not wanted:
            lead += f'; it names {", ".join(stated)}'
        recommended = '' if of_one else recommend_names(stated, self._joints, self._names)
        choice = 'Choose joints'
        if recommended:
            choice = f'If the names mean the same joints, add {recommended}. Else choose joints'
        choice += ' with --joints, say which is which with --joint-names LOG=MODEL,.., or '
        if of_one:
            choice = 'Choose that joint with --joints JOINT, or '
        return DataError(
            f'{lead}; its columns are {", ".join(table.columns):.400}{self._not_taken()}. '
            f'{choice}name the columns in a mapping:\n{self._draft(self._series)}'
        )

    def _describe_partial(self, partial: Sequence[Series], stated: Sequence[str]) -> str:
        """Return what a table lacks that has positions of something."""
        # Names say more than numbers, as those of three joints wrist_1 to wrist_3.
        named = [one for one in partial if one.named]
        absent = (
            self._absent(max(named, key=lambda one: one.present)) if named
            else [joint for joint in self._joints if joint not in stated]
        )
        if not absent:
            return (
                f'{self._table.path} has positions of several things ('
                f'{"; ".join(map(self._listed, partial))}): the names of the arm tell which are '
                'its joints'
            )
        return (
            f'{self._table.path} lacks {"the joint" if len(absent) == 1 else "joints"} '
            f'{", ".join(absent)} of the model; it names '
            f'{", ".join(stated) or self._listed(partial[0])}, the model has '
            f'{", ".join(self._joints)}'
        )

    def _draft(self, series: Sequence[Series]) -> str:
        """Return a mapping to be edited, and how to use it."""
        time = self._find_time()
        remarks = {'time': 'unit: s, ms, us, ns'}
        quantities = {}
        for quantity, choices in (
            ('q', 'rad, deg'), ('dq', 'rad/s, deg/s'), ('effort', 'A, mA, Nm'),
        ):
            fitting = [one for one in series if one.meaning.quantity == quantity]
            if not fitting and quantity != 'q':
                continue
            fitting.sort(key=lambda one: (one.meaning.wanted, -len(one.places), -one.meaning.rank))
            places = fitting[0].places if fitting else ()
            names = [self._table.columns[place] if place >= 0 else _EDIT for place in places]
            names = (names + [_EDIT] * len(self._joints))[:max(len(self._joints), 1)]
            unit = fitting[0].meaning.unit if fitting else ''
            unit = unit or _DEFAULT_UNITS.get(quantity, 'Nm')
            quantities[quantity] = make_columns(quantity, names, unit)
            others = '; '.join(map(self._listed, fitting[1:]))
            remarks[quantity] = f'unit: {choices}' + (f'; or {others}' if others else '')
        column = _EDIT if time is None else self._table.columns[time[0]]
        mapping = TableMapping(make_columns('time', column, 's'), quantities, self._joints)
        lines = mapping_text(mapping, remarks).splitlines()
        file = self._table.path.name
        return ''.join(f'  {line}\n' for line in lines) + (
            f'Save it beside the log as {file}.yaml, which is then read with it, or anywhere else '
            f'and name it: robot-identification identify {file} --mapping FILE ..'
        )


def _fit(one: Series, anchor: Series | None) -> tuple[float, ...]:
    """Return how well a series fits, compared with others beside that of the positions."""
    return round(one.meaning.rank) if anchor is None else 0, one.shared(anchor), one.meaning.rank


def _sampled(table: Table, place: int, *, steps: bool = False) -> FloatArray:
    """Return some finite values of a column, or its steps from row to row."""
    found = [np.diff(rows[:, place]) if steps else rows[:, place] for rows in table.windows]
    values: FloatArray = np.concatenate([np.empty(0), *found])
    return values[np.isfinite(values)]


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


def _spellings(names: Sequence[Words]) -> list[list[Words]]:
    """Return the names of joints as a log may spell them: whole, without a common begin or end."""
    found = [list(names)]
    if len(names) > 1:
        shortest = min(map(len, names))
        head = next((k for k in range(shortest) if len({name[k] for name in names}) > 1), 0)
        tail = next((k for k in range(shortest) if len({name[-1 - k] for name in names}) > 1), 0)
        for first, last in ((head, 0), (0, tail), (head, tail)):
            found.append([name[first:len(name) - last] for name in names])
    unique = []
    for spelling in found:
        usable = all(spelling) and len(set(spelling)) == len(names)
        # Numbers alone are indices.
        if usable and spelling not in unique and not all(
            word.isdigit() for name in spelling for word in name
        ):
            unique.append(spelling)
    return unique


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
        series.append(Series(
            meaning, before, places, is_whole=len(places) >= n, from_zero=numbers[0] == 0
        ))
    if n == 1:
        series += [
            Series(meaning, (), (place,)) for place, column in enumerate(columns)
            if column.words and not any(word.isdigit() for word in column.words)
            and time_rank(column) is None and (meaning := classify(column.words)) is not None
        ]
    return series


def _numbered_joints(count: int) -> tuple[str, ...]:
    """Return the names of joints that only numbers name."""
    return tuple(f'joint_{k + 1}' for k in range(count))


def describe_joints(table: Table) -> tuple[str, ...]:
    """Return names of a table's joints; where nothing names them, joint_1 and so on."""
    columns = [take_apart(text) for text in table.columns]
    named = _names_in_columns(columns)
    counted = [
        one for one in counted_series(columns, 1)
        if one.meaning.quantity == 'q' and not one.meaning.wanted
    ]
    if not counted or len(named) > max(len(one.places) for one in counted):
        return named
    best = max(counted, key=lambda one: (round(one.meaning.rank), len(one.places)))
    if len(table.joints) == len(best.places):
        return table.joints
    return _numbered_joints(len(best.places))


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
