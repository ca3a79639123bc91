# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Recognition: the mapping of a table, from the names of its columns and what is in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
import shlex

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DataError
from robot_identification.recording.column_names import (
    nanoseconds_of, take_apart, time_rank, time_unit, unit_of,
)
from robot_identification.recording.column_units import find_units, Rows
from robot_identification.recording.column_words import QUANTITIES
from robot_identification.recording.joint_names import recommend_names
from robot_identification.recording.series import (
    describe_joints, find_series, numbered_joints, Series,
)
from robot_identification.recording.table import Table
from robot_identification.recording.table_mapping import (
    Columns, make_columns, mapping_text, TableMapping,
)

# Columns of one kind beyond the joints', such as the seventh of a six-axis arm's logger, are left
# out if they never change by more than this, in their unit.
_STILL = 1e-9
# Ranks of names nearer to each other than this do not tell which series is meant.
_NEAR = 0.3
# Placeholder of a mapping that is to be edited.
_EDIT = 'COLUMN'
_DEFAULT_UNITS = {'time': 's', 'q': 'rad', 'dq': 'rad/s', 'temperature': 'deg C',
                  'rotor_position': 'rad'}
# Units that a mapping is offered.
_OFFERED = {'q': 'rad, deg', 'dq': 'rad/s, deg/s', 'effort': 'A, mA, Nm'}


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
        self._series = find_series(table, joints, self._own)

    def mapping(self) -> TableMapping:
        """Return the mapping of the series that are meant, with their units."""
        table, chosen, time = self._table, self._choose(), self._find_time()
        if time is None and table.rate is None:
            raise self._refusal(self._no_time(), chosen.values())
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
        units, checks, alternative = find_units(
            stated, natural, self._sample(chosen, place, nanoseconds)
        )
        quantities = {
            quantity: self._make_columns(
                quantity, one, units.get(quantity, _DEFAULT_UNITS.get(quantity, ''))
            )
            for quantity, one in chosen.items()
        }
        effort = quantities['effort'].unit if 'effort' in quantities else ''
        return TableMapping(
            time=make_columns('time', '' if place is None else table.columns[place],
                              units['time']),
            quantities=quantities,
            joints=self._joints,
            metadata={'effort_unit': effort.removeprefix('m')} if effort else {},
            nanoseconds='' if nanoseconds is None else table.columns[nanoseconds],
            rate=table.rate if place is None else None,
            command=self._find_command(quantities['q'].unit),
            recognized=True,
            checks=checks,
            notes=(*filter(None, [alternative]), *self._left_out(chosen)),
        )

    def _make_columns(self, quantity: str, one: Series, unit: str) -> Columns:
        return make_columns(quantity, tuple(self._table.columns[k] for k in one.places), unit)

    def _find_command(self, unit: str) -> Columns | None:
        """Return the positions that were commanded, None unless one series may be meant."""
        wanted = [
            one for one in self._of('q', wanted=True)
            if one.covers(len(self._joints)) and len(one.places) == len(self._joints)
        ]
        if len(wanted) != 1:
            return None
        try:
            return self._make_columns('q', wanted[0], self._stated_unit('q', wanted[0]) or unit)
        except DataError:
            # What is not asked for keeps no table from being read.
            return None

    def _of(self, quantity: str, *, wanted: bool = False) -> list[Series]:
        """Return the series of a quantity that was measured, or commanded."""
        return [one for one in self._series if one.is_of(quantity, wanted=wanted)]

    def _absent(self, one: Series) -> list[str]:
        """Return the joints of which a series has no column."""
        return [joint for joint, place in zip(self._joints, one.places, strict=True) if place < 0]

    def _left_out(self, chosen: Mapping[str, Series]) -> list[str]:
        """Return which quantities are there for a part of the joints, and for none are used."""
        return [
            f'no column of {quantity.replace("_", " ")} for {", ".join(self._absent(parts[0]))}: '
            'that of the other joints is left out'
            for quantity in ('temperature', 'rotor_position') if quantity not in chosen
            and (parts := [one for one in self._series
                           if one.meaning.quantity == quantity and one.named])
        ]

    def _choose(self) -> dict[str, Series]:
        """Return the series of every quantity; raise DataError where that cannot be known."""
        chosen: dict[str, Series] = {}
        for quantity in QUANTITIES:
            candidates = [
                self._without_still_columns(self._selected(one))
                for one in self._of(quantity) if one.covers(len(self._joints))
            ]
            if not candidates:
                continue
            anchor = chosen.get('q')
            best = max(candidates, key=partial(_fit, anchor=anchor))
            rivals = [
                one for one in candidates
                if one.shared(anchor) == best.shared(anchor)
                and abs(one.meaning.rank - best.meaning.rank) < _NEAR
            ]
            if len(rivals) > 1 and quantity in ('q', 'dq', 'effort'):
                rivals.sort(key=partial(_fit, anchor=anchor), reverse=True)
                raise self._refusal(
                    f'{self._table.path}: {quantity} may be '
                    f'{" or ".join(map(self._listed, rivals))}. Keep what is meant in this mapping'
                )
            chosen[quantity] = best
        if 'q' not in chosen:
            raise self._missing()
        self._check_counts(chosen)
        return chosen

    def _selected(self, one: Series) -> Series:
        """Return a series of the columns whose numbers the user gave to the joints, if so."""
        listed = numbered_joints(len(one.places))
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

    def _check_counts(self, chosen: Mapping[str, Series]) -> None:
        """Raise DataError of more columns than joints, or of columns for a part of them."""
        path, joints = self._table.path, self._joints
        for quantity, one in chosen.items():
            if len(one.places) > len(joints):
                pairs = zip(numbered_joints(len(joints)), joints, strict=True)
                names = shlex.quote(','.join(f'{name}={joint}' for name, joint in pairs))
                raise self._refusal(
                    f'{path} has more columns of {quantity} than the model has joints, '
                    f'{", ".join(joints)}: {self._listed(one)}. If the first are the joints, add '
                    f'--joint-names {names}; else name one column a joint in a mapping'
                )
        for quantity in ('dq', 'effort'):
            part = [one for one in self._of(quantity)
                    if one.named and not one.covers(len(joints))]
            if quantity in chosen or not part:
                continue
            absent = self._absent(part[0])
            # Velocities can be differentiated from positions; nothing stands in for efforts.
            fix = (
                f'leave {quantity} out in a mapping' if quantity != 'effort' else
                'if the joints without it stand still, take the others alone: --joints '
                + ' '.join(shlex.quote(joint) for joint in joints if joint not in absent)
            )
            raise DataError(
                f'{path} has no column of {quantity} of {", ".join(absent)}, as it has for other '
                f'joints, {self._listed(part[0])}: add it, or {fix}'
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
            steps = _sampled(table, place, steps=True)
            if not steps.size:
                continue
            another, falls = f'Name another column in a mapping, or {rate}', np.mean(steps < 0.0)
            if falls > 0.5:
                why = (
                    'falls from row to row. Sort the rows by it, or name another column in a '
                    'mapping'
                )
            elif not np.any(steps):
                why = f'stands still. {another}'
            else:
                why = (
                    f'goes on in {np.mean(steps > 0.0):.0%} of the rows only and falls back in '
                    f'{falls:.0%}; stamps with too few digits do so. {another}'
                )
            column = table.columns[place]
            return f'{table.path}: its column {column!r} is no time of the rows: it {why}'
        return (
            f'{table.path} has no column of the time, such as `time`, `t` or `timestamp`'
            f'{self._not_taken()}: name it in a mapping, or {rate}'
        )

    def _not_taken(self) -> str:
        left_out = self._table.describe_left_out()
        return f' (not taken: {left_out})' if left_out else ''

    def _missing(self) -> DataError:
        """Return the error of a table without positions of the joints."""
        table = self._table
        partial_, wanted = self._of('q'), self._of('q', wanted=True)
        stated = describe_joints(table)
        # A name that is not in the table says nothing.
        of_one = stated == numbered_joints(1) != table.joints
        lead = f'{table.path} has no position of the joints {", ".join(self._joints)}'
        if partial_:
            lead = self._describe_partial(partial_, stated)
        elif wanted:
            lead += f' as measured, only as commanded ({self._listed(wanted[0])})'
        choice = 'Choose joints with --joints, say which is which with --joint-names LOG=MODEL,..'
        if of_one:
            lead += '; it is of one joint, which nothing names'
            choice = 'Choose that joint with --joints JOINT'
        elif stated and not partial_ and not wanted:
            lead += f'; it names {", ".join(stated)}'
        recommended = recommend_names(stated, self._joints, self._names)
        if recommended and not of_one:
            choice = f'If the names mean the same joints, add {recommended}. Else c{choice[1:]}'
        return self._refusal(
            f'{lead}; its columns are {", ".join(table.columns):.400}{self._not_taken()}. '
            f'{choice}, or name the columns in a mapping'
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

    def _refusal(self, text: str, series: Iterable[Series] | None = None) -> DataError:
        """Return an error with a mapping to be edited, and how to use it."""
        time, columns = self._find_time(), self._table.columns
        remarks = {'time': 'unit: s, ms, us, ns'}
        quantities = {}
        offered = list(self._series if series is None else series)
        for quantity, units in _OFFERED.items():
            fitting = [one for one in offered if one.meaning.quantity == quantity]
            if not fitting and quantity != 'q':
                continue
            fitting.sort(key=lambda one: (one.meaning.wanted, -len(one.places), -one.meaning.rank))
            names, unit = [], ''
            if fitting:
                names = [columns[k] if k >= 0 else _EDIT for k in fitting[0].places]
                unit = fitting[0].meaning.unit
            names = (names + [_EDIT] * len(self._joints))[:max(len(self._joints), 1)]
            quantities[quantity] = make_columns(
                quantity, names, unit or _DEFAULT_UNITS.get(quantity, 'Nm')
            )
            others = '; '.join(map(self._listed, fitting[1:]))
            remarks[quantity] = f'unit: {units}' + (f'; or {others}' if others else '')
        column = _EDIT if time is None else columns[time[0]]
        mapping = TableMapping(make_columns('time', column, 's'), quantities, self._joints)
        draft = ''.join(f'  {line}\n' for line in mapping_text(mapping, remarks).splitlines())
        file = self._table.path.name
        return DataError(
            f'{text}:\n{draft}Save it beside the log as {file}.yaml, which is then read with it, '
            f'or anywhere else and name it: robot-identification identify {file} --mapping FILE ..'
        )


def _fit(one: Series, anchor: Series | None) -> tuple[float, ...]:
    """Return how well a series fits, compared with others beside that of the positions."""
    return round(one.meaning.rank) if anchor is None else 0, one.shared(anchor), one.meaning.rank


def _sampled(table: Table, place: int, *, steps: bool = False) -> FloatArray:
    """Return some finite values of a column, or its steps from row to row."""
    found = [np.diff(rows[:, place]) if steps else rows[:, place] for rows in table.windows]
    values: FloatArray = np.concatenate([np.empty(0), *found])
    return values[np.isfinite(values)]
