# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Recognition: the mapping of a table, from the names of its columns and what is in them.

Columns are put in series, one a quantity, by what their names have in common: those of one name
with the joints' names in it, or with numbers that count from 0 or 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
import shlex

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DataError
from robot_identification.recording.column_names import (
    classify, ColumnName, INDEX, is_prefix, JOINT, Meaning, names_something, nanoseconds_of,
    split_words, take_apart, time_rank, time_unit, unit_of,
)
from robot_identification.recording.column_units import find_units, Rows
from robot_identification.recording.joint_names import recommend_names
from robot_identification.recording.table_mapping import (
    Columns, make_columns, mapping_text, QUANTITIES, TableMapping,
)
from robot_identification.recording.table_source import TableSource

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


def recognize(
    table: TableSource, joint_names: Sequence[str], names: Mapping[str, str]
) -> TableMapping:
    """
    Return the mapping of a table, in the order of the model's joints.

    `names` has the model's name by that of the log, where they differ. Raise DataError, with a
    mapping to be edited, where columns are missing or several may be meant.
    """
    columns = [take_apart(text) for text in table.columns]
    series = _find_series(table, columns, tuple(joint_names), names)
    chosen = _choose(table, series, tuple(joint_names), names)
    mapping = _make_mapping(table, columns, chosen, tuple(joint_names))
    return replace(
        mapping, command=_find_command(table, columns, series, mapping, len(joint_names)),
        notes=(*mapping.notes, *_left_out(series, chosen, tuple(joint_names))),
    )


def _find_command(
    table: TableSource, columns: Sequence[ColumnName], series: Sequence[Series],
    mapping: TableMapping, n: int,
) -> Columns | None:
    """Return the positions that were commanded, in their unit; None unless one may be meant."""
    wanted = [
        one for one in series
        if one.meaning.quantity == 'q' and one.meaning.wanted and len(one.places) == n
        and one.is_whole
    ]
    if len(wanted) != 1:
        return None
    try:
        unit = _stated_unit(table, columns, 'q', wanted[0]) or mapping.quantities['q'].unit
    except DataError:
        # What is not asked for keeps no table from being read.
        return None
    return make_columns('q', tuple(table.columns[place] for place in wanted[0].places), unit)


def _left_out(
    series: Sequence[Series], chosen: Mapping[str, Series], joints: Sequence[str]
) -> list[str]:
    """Return which quantities are there for a part of the joints, and for none are used."""
    notes = []
    for quantity in ('temperature', 'rotor_position'):
        for one in series:
            if one.meaning.quantity == quantity and one.named and quantity not in chosen:
                absent = [joint for joint, place in zip(joints, one.places, strict=True)
                          if place < 0]
                notes.append(
                    f'no column of {quantity.replace("_", " ")} for {", ".join(absent)}: that of '
                    'the other joints is left out'
                )
                break
    return notes


def _find_series(
    table: TableSource, columns: Sequence[ColumnName], joints: tuple[str, ...],
    names: Mapping[str, str],
) -> list[Series]:
    """Return all series that may be of the joints."""
    by_name = _named_series(columns, joints, names)
    counted = _counted_series(columns, len(joints))
    if any(one.meaning.quantity == 'q' and one.is_whole for one in by_name):
        # joint_0 to joint_6 beside a model's joint_1 to joint_6 are numbers, not names.
        has_zero = any('0' in split_words(name) for name in joints)
        shifted = not has_zero and _counts(joints) and any(
            one.from_zero and one.meaning.quantity == 'q' and one.is_whole for one in counted
        )
        return counted if shifted else by_name
    if table.joints and set(_own_names(joints, names)) & set(table.joints):
        # The table says which joint each number is.
        order = [table.joints.index(name) for name in _own_names(joints, names)
                 if name in table.joints]
        listed = [
            replace(one, places=tuple(one.places[k] for k in order))
            for one in counted if len(one.places) == len(table.joints)
        ]
        if len(order) == len(joints) and listed:
            return listed
    return counted + by_name


def _own_names(joints: Sequence[str], names: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of the joints in the log."""
    renamed = {model: own for own, model in names.items()}
    return tuple(renamed.get(joint, joint) for joint in joints)


def _named_series(
    columns: Sequence[ColumnName], joints: tuple[str, ...], names: Mapping[str, str]
) -> list[Series]:
    """Return the series with the joints' names in those of the columns."""
    best: list[Series] = []
    own = [split_words(name) for name in _own_names(joints, names)]
    plain = [split_words(name) for name in joints]
    # Names of another recording than this one do no harm.
    for wanted in (*_spellings(own), *([] if plain == own else _spellings(plain))):
        groups: dict[tuple[Words, Words], dict[int, int]] = {}
        for place, column in enumerate(columns):
            for joint, at in _joints_in(column.words, wanted):
                words = column.words
                key = (words[:at], words[at + len(wanted[joint]):])
                groups.setdefault(key, {}).setdefault(joint, place)
        found = []
        for (before, after), members in groups.items():
            meaning = classify((*before, JOINT, *after))
            if meaning is None and len(before) == 1 and not after and is_prefix(before[0]):
                meaning = _BARE
            if meaning is None:
                continue
            found.append(Series(
                meaning, before, tuple(members.get(k, -1) for k in range(len(joints))),
                len(members) == len(joints), named=True,
            ))
        if any(one.is_whole and one.meaning.quantity == 'q' for one in found):
            return found
        if _count(found) > _count(best):
            best = found
    return best


def _count(series: Sequence[Series]) -> int:
    return sum(place >= 0 for one in series for place in one.places)


def _joints_in(words: Words, wanted: Sequence[Words]) -> list[tuple[int, int]]:
    """Return the joint that is named by words, and where; the longest name counts."""
    found = [
        (len(name), at, joint)
        for joint, name in enumerate(wanted)
        for at in range(len(words) - len(name) + 1)
        if words[at:at + len(name)] == name
    ]
    if not found:
        return []
    _, at, joint = max(found)
    return [(joint, at)]


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


def _counted_series(columns: Sequence[ColumnName], n: int) -> list[Series]:
    """Return the series with numbers that count from 0 or 1."""
    groups: dict[tuple[Words, Words], dict[int, int]] = {}
    for place, column in enumerate(columns):
        words = column.words
        for at, word in enumerate(words):
            if word.isdigit() and len(word) < 4:
                groups.setdefault((words[:at], words[at + 1:]), {}).setdefault(int(word), place)
    series = []
    used: set[int] = set()
    for (before, after), members in sorted(groups.items(), key=lambda one: -len(one[1])):
        numbers = sorted(members)
        # Those of motors on a bus may begin anywhere.
        counts = numbers == list(range(numbers[0], numbers[0] + len(numbers))) and (
            numbers[0] in (0, 1) or len(numbers) == n > 1
        )
        places = tuple(members[number] for number in numbers)
        meaning = classify((*before, INDEX, *after))
        if not counts or meaning is None or used & set(places):
            continue
        if n > 1 and len(places) == 1:
            continue
        used |= set(places)
        series.append(Series(
            meaning, before, places, is_whole=len(places) >= n, from_zero=numbers[0] == 0
        ))
    return series + (_single_columns(columns) if n == 1 else [])


def _single_columns(columns: Sequence[ColumnName]) -> list[Series]:
    """Return the columns without an index, which are those of an arm of one joint."""
    return [
        Series(meaning, (), (place,)) for place, column in enumerate(columns)
        if column.words and not any(word.isdigit() for word in column.words)
        and time_rank(column) is None and (meaning := classify(column.words)) is not None
    ]


def _choose(
    table: TableSource, series: Sequence[Series], joints: tuple[str, ...],
    names: Mapping[str, str],
) -> dict[str, Series]:
    """Return the series of every quantity; raise DataError where that cannot be known."""
    chosen: dict[str, Series] = {}
    for quantity in QUANTITIES:
        candidates = [
            one for one in series
            if one.meaning.quantity == quantity and not one.meaning.wanted and one.is_whole
        ]
        candidates = [
            _without_still_columns(table, _selected(one, joints, names), len(joints))
            for one in candidates
        ]
        if not candidates:
            continue
        anchor = chosen.get('q')
        candidates.sort(key=lambda one: (
            -round(one.meaning.rank) if anchor is None else 0,
            -_shared(one, anchor), -one.meaning.rank,
        ))
        best = candidates[0]
        rivals = [
            one for one in candidates[1:]
            if _shared(one, anchor) == _shared(best, anchor)
            and abs(one.meaning.rank - best.meaning.rank) < 0.3
        ]
        if rivals and quantity in ('q', 'dq', 'effort'):
            raise _ambiguous(table, series, quantity, [best, *rivals], joints)
        chosen[quantity] = best
    if 'q' not in chosen:
        raise _missing(table, series, joints, names)
    for quantity, one in chosen.items():
        if len(one.places) > len(joints):
            raise DataError(
                f'{table.path} has more columns of {quantity} than the model has joints, '
                f'{", ".join(joints)}: {_names(table, one)}. If the first are the joints, add '
                f'{_first_joints(joints)}; else name one column a joint in a mapping:\n'
                f'{_draft(table, series, joints)}'
            )
    for quantity in ('dq', 'effort'):
        part = [one for one in series if one.meaning.quantity == quantity
                and one.named and not one.meaning.wanted and not one.is_whole]
        if quantity not in chosen and part:
            raise _lacking(table, quantity, part[0], joints)
    return chosen


def _lacking(
    table: TableSource, quantity: str, part: Series, joints: Sequence[str]
) -> DataError:
    absent = [joint for joint, place in zip(joints, part.places, strict=True) if place < 0]
    present = [joint for joint in joints if joint not in absent]
    # Velocities can be differentiated from positions; nothing stands in for efforts.
    fix = (
        f'leave {quantity} out in a mapping' if quantity != 'effort' else
        'if the joints without it stand still, take the others alone: --joints '
        + ' '.join(shlex.quote(joint) for joint in present)
    )
    return DataError(
        f'{table.path} has no column of {quantity} of {", ".join(absent)}, as it has for other '
        f'joints, {_names(table, part)}: add it, or {fix}'
    )


def _shared(one: Series, anchor: Series | None) -> int:
    """Return how many words two series have in common before the joints."""
    if anchor is None:
        return 0
    pairs = list(zip(one.before, anchor.before, strict=False))
    equal = [a == b for a, b in pairs]
    return equal.index(False) if False in equal else len(pairs)


def _selected(
    one: Series, joints: Sequence[str], names: Mapping[str, str]
) -> Series:
    """Return a series of the columns whose numbers `names` gives to the joints, if it does."""
    own = _own_names(joints, names)
    listed = _numbered_joints(len(one.places))
    if one.named or len(one.places) <= len(joints) or not set(own) <= set(names) & set(listed):
        return one
    return replace(one, places=tuple(one.places[listed.index(name)] for name in own))


def _numbered_joints(count: int) -> tuple[str, ...]:
    """Return the names of joints that only numbers name."""
    return tuple(f'joint_{k + 1}' for k in range(count))


def _first_joints(joints: Sequence[str]) -> str:
    """Return the option by which the first numbered columns are those of the joints."""
    pairs = zip(_numbered_joints(len(joints)), joints, strict=True)
    return '--joint-names ' + shlex.quote(','.join(f'{name}={joint}' for name, joint in pairs))


def _without_still_columns(table: TableSource, one: Series, n: int) -> Series:
    """Return a series without columns beyond the joints' that never change."""
    if len(one.places) <= n:
        return one
    extra = one.places[n:]
    rows = np.concatenate([np.zeros((1, len(extra))), *table.sample(extra, None)])[1:]
    still = [
        not column[np.isfinite(column)].size or np.ptp(column[np.isfinite(column)]) < _STILL
        for column in rows.T
    ]
    return replace(one, places=one.places[:n]) if all(still) else one


def _names(table: TableSource, one: Series) -> str:
    names = [table.columns[place] for place in one.places if place >= 0]
    return ', '.join(names) if len(names) < 4 else f'{names[0]} .. {names[-1]}'


def _find_time(
    table: TableSource, columns: Sequence[ColumnName]
) -> tuple[int, int | None] | None:
    """Return the column of the time, and that of its nanoseconds; None if there is none."""
    for place in _named_times(columns):
        nanoseconds = nanoseconds_of(columns[place], columns)
        if _runs_on(table, place) or nanoseconds is not None:
            return place, nanoseconds
    return None


def _named_times(columns: Sequence[ColumnName]) -> list[int]:
    """Return the columns that are named as a time, the best name first."""
    ranked = sorted(
        (-rank, place) for place, column in enumerate(columns)
        if (rank := time_rank(column)) is not None
    )
    return [place for _, place in ranked]


def _runs_on(table: TableSource, place: int) -> bool:
    """Return whether a column grows from row to row, but for a few."""
    try:
        steps = _steps(table, place)
    except DataError:
        return False
    grows = np.mean(steps > 0.0) > 0.2 and np.mean(steps < 0.0) < 0.2 if steps.size else True
    return bool(grows)


def _steps(table: TableSource, place: int) -> FloatArray:
    """Return the steps of a column from row to row, of some rows; DataError without numbers."""
    windows = table.sample([place], place)
    steps = np.concatenate([np.empty(0), *(np.diff(rows[:, 0]) for rows in windows)])
    finite: FloatArray = steps[np.isfinite(steps)]
    return finite


def _no_time(table: TableSource, columns: Sequence[ColumnName]) -> str:
    """Return why a table has no time, and what to do."""
    rate = 'say there how many rows there are a second with `time: {rate: 500}`'
    for place in _named_times(columns):
        lead = f'{table.path}: its column {table.columns[place]!r} is no time of the rows: it '
        try:
            steps = _steps(table, place)
        except DataError:
            continue
        if np.mean(steps < 0.0) > 0.5:
            return (
                f'{lead}falls from row to row. Sort the rows by it, or name another column in a '
                'mapping'
            )
        if not np.any(steps):
            return f'{lead}stands still. Name another column in a mapping, or {rate}'
        return (
            f'{lead}goes on in {np.mean(steps > 0.0):.0%} of the rows only and falls back in '
            f'{np.mean(steps < 0.0):.0%}; stamps with too few digits do so. Name another column '
            f'in a mapping, or {rate}'
        )
    others = f' (not taken: {table.describe_left_out()})' if table.left_out else ''
    return (
        f'{table.path} has no column of the time, such as `time`, `t` or `timestamp`{others}: '
        f'name it in a mapping, or {rate}'
    )


def _make_mapping(
    table: TableSource, columns: Sequence[ColumnName], chosen: Mapping[str, Series],
    joints: tuple[str, ...],
) -> TableMapping:
    """Return the mapping of chosen series, with their units."""
    found = _find_time(table, columns)
    if found is None and table.rate is None:
        raise DataError(
            f'{_no_time(table, columns)}:\n{_draft(table, list(chosen.values()), joints)}'
        )
    stated = {
        quantity: _stated_unit(table, columns, quantity, one) for quantity, one in chosen.items()
        if quantity in ('q', 'dq', 'effort')
    }
    place, nanoseconds = found if found is not None else (None, None)
    stated['time'] = 's'
    if place is not None and nanoseconds is None:
        stated['time'] = time_unit(columns[place]) or unit_of(
            table.units.get(table.columns[place], ''), 'time'
        )
    natural = chosen['effort'].meaning.natural if 'effort' in chosen else ''
    units = find_units(stated, natural, _sample(table, chosen, place, nanoseconds))
    quantities = {
        quantity: make_columns(
            quantity, tuple(table.columns[k] for k in one.places),
            units.units.get(quantity, _DEFAULT_UNITS.get(quantity, '')),
        )
        for quantity, one in chosen.items()
    }
    effort = quantities['effort'].unit if 'effort' in quantities else ''
    return TableMapping(
        time=make_columns('time', '' if place is None else table.columns[place],
                          units.units['time']),
        quantities=quantities,
        joints=joints,
        metadata={'effort_unit': effort.removeprefix('m')} if effort else {},
        nanoseconds='' if nanoseconds is None else table.columns[nanoseconds],
        rate=table.rate if place is None else None,
        recognized=True,
        checks=units.checks,
        notes=(units.alternative,) if units.alternative else (),
    )


def _stated_unit(
    table: TableSource, columns: Sequence[ColumnName], quantity: str, one: Series
) -> str:
    """Return the unit that names or a line of units state; raise DataError if they differ."""
    found = []
    for place in one.places:
        column = columns[place]
        spelled = column.unit or table.units.get(column.text, '')
        found.append(unit_of(spelled, quantity) or one.meaning.unit)
    if len(set(found)) > 1:
        listing = ', '.join(
            f'{columns[place].text} in {unit or "no unit"}'
            for place, unit in zip(one.places, found, strict=True)
        )
        raise DataError(
            f'{table.path} has {quantity} in several units, {listing}: convert it to one'
        )
    return found[0]


def _sample(
    table: TableSource, chosen: Mapping[str, Series], time: int | None, nanoseconds: int | None
) -> list[Rows]:
    """Return rows from all over the table."""
    n = len(chosen['q'].places)
    places = [] if time is None else [time]
    places += [] if nanoseconds is None else [nanoseconds]
    first = len(places)
    present = [quantity for quantity in ('q', 'dq', 'effort') if quantity in chosen]
    for quantity in present:
        places += chosen[quantity].places
    windows = []
    for block in table.sample(places, time):
        times: FloatArray = np.arange(len(block)) / (table.rate or 1.0)
        if time is not None:
            times = block[:, 0] if nanoseconds is None else block[:, 0] + 1e-9 * block[:, 1]
        arrays = {
            quantity: block[:, first + k * n:first + (k + 1) * n]
            for k, quantity in enumerate(present)
        }
        known = np.isfinite(times) & np.isfinite(arrays['q']).all(axis=1)
        windows.append(Rows(
            times[known], arrays['q'][known],
            *(arrays[name][known] if name in arrays else None for name in ('dq', 'effort')),
        ))
    return [rows for rows in windows if len(rows.time) > 1]


def describe_joints(table: TableSource) -> tuple[str, ...]:
    """Return names of a table's joints; where nothing names them, joint_1 and so on."""
    columns = [take_apart(text) for text in table.columns]
    named = _names_in_columns(columns)
    counted = [
        one for one in _counted_series(columns, 1)
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


def _ambiguous(
    table: TableSource, series: Sequence[Series], quantity: str, rivals: Sequence[Series],
    joints: tuple[str, ...],
) -> DataError:
    listing = ' or '.join(f'{_names(table, one)}' for one in rivals)
    return DataError(
        f'{table.path}: {quantity} may be {listing}. Keep what is meant in this mapping:\n'
        f'{_draft(table, series, joints)}'
    )


def _missing(
    table: TableSource, series: Sequence[Series], joints: tuple[str, ...],
    names: Mapping[str, str],
) -> DataError:
    """Return the error of a table without positions of the joints."""
    lead = f'{table.path} has no position of the joints {", ".join(joints)}'
    positions = [one for one in series if one.meaning.quantity == 'q']
    partial = [one for one in positions if not one.meaning.wanted]
    wanted = [one for one in positions if one.meaning.wanted]
    stated = describe_joints(table)
    if partial:
        # Names say more than numbers, as those of three joints wrist_1 to wrist_3.
        named = [one for one in partial if one.named]
        best = max(named, key=lambda one: sum(place >= 0 for place in one.places), default=None)
        absent = [joint for joint, place in zip(joints, best.places, strict=True) if place < 0] \
            if best else [joint for joint in joints if joint not in stated]
        lead = (
            f'{table.path} lacks {"the joint " if len(absent) == 1 else "joints "}'
            f'{", ".join(absent)} of the model; it names '
            f'{", ".join(stated) or _names(table, partial[0])}, the model has {", ".join(joints)}'
        ) if absent else (
            f'{table.path} has positions of several things ('
            f'{"; ".join(_names(table, one) for one in partial)}): the names of the arm tell '
            'which are its joints'
        )
    elif wanted:
        lead += f' as measured, only as commanded ({_names(table, wanted[0])})'
    # A name that is not in the table says nothing.
    of_one = stated == _numbered_joints(1) != table.joints
    if of_one:
        lead += '; it is of one joint, which nothing names'
    elif stated and not partial and not wanted:
        lead += f'; it names {", ".join(stated)}'
    recommended = '' if of_one else recommend_names(stated, joints, names)
    if of_one:
        choice = 'Choose that joint with --joints JOINT, or '
    elif recommended:
        choice = (
            f'If the names mean the same joints, add {recommended}. Else choose joints with '
            '--joints, say which is which with --joint-names LOG=MODEL,.., or '
        )
    else:
        choice = (
            'Choose joints with --joints, say which is which with --joint-names LOG=MODEL,.., or '
        )
    return DataError(
        f'{lead}; its columns are {", ".join(table.columns):.400}'
        + (f' (not taken: {table.describe_left_out()})' if table.left_out else '')
        + f'. {choice}name the columns in a mapping:\n{_draft(table, series, joints)}'
    )


def _draft(table: TableSource, series: Sequence[Series], joints: tuple[str, ...]) -> str:
    """Return a mapping to be edited, and how to use it."""
    columns = [take_apart(text) for text in table.columns]
    found = _find_time(table, columns)
    remarks: dict[str, str] = {}
    quantities = {}
    for quantity in ('q', 'dq', 'effort'):
        fitting = [one for one in series if one.meaning.quantity == quantity]
        fitting.sort(key=lambda one: (one.meaning.wanted, -len(one.places), -one.meaning.rank))
        names = [
            table.columns[place] if place >= 0 else _EDIT for place in fitting[0].places
        ] if fitting else []
        names = (names + [_EDIT] * len(joints))[:max(len(joints), 1)]
        default = {'q': 'rad', 'dq': 'rad/s'}.get(quantity, 'Nm')
        unit = fitting[0].meaning.unit if fitting else ''
        if not fitting and quantity != 'q':
            continue
        quantities[quantity] = make_columns(quantity, names, unit or default)
        others = [_names(table, one) for one in fitting[1:]]
        choices = {'q': 'rad, deg', 'dq': 'rad/s, deg/s', 'effort': 'A, mA, Nm'}[quantity]
        remarks[quantity] = f'unit: {choices}' + (f'; or {"; ".join(others)}' if others else '')
    mapping = TableMapping(
        make_columns('time', _EDIT if found is None else table.columns[found[0]], 's'),
        quantities, joints,
    )
    remarks['time'] = 'unit: s, ms, us, ns'
    text = mapping_text(mapping, remarks)
    file = f'{Path(table.path).name}.yaml'
    return ''.join(f'  {line}\n' for line in text.splitlines()) + (
        f'Save it beside the log as {file}, which is then read with it, or anywhere else and name '
        f'it: robot-identification identify {Path(table.path).name} --mapping FILE ..'
    )
