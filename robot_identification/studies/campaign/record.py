# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The record of a campaign: a SQLite file with everything that was found, run by run.

The folders of the runs are the truth; the record is made from their states, and is made anew where
it is missing, damaged or of another version. Docs: docs/formats/campaign.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
import sqlite3
from typing import Any

from robot_identification.model import unit_of_joint

RECORD_FILE = 'campaign.sqlite'
SCHEMA_VERSION = 1  # of the file
# How long a reader may keep us from writing [s].
PATIENCE = 30.0
_SCHEMA = (
    """CREATE TABLE runs (
        run TEXT PRIMARY KEY, arm TEXT NOT NULL, serial TEXT NOT NULL, robot TEXT,
        status TEXT NOT NULL, exit_code INTEGER NOT NULL, error TEXT NOT NULL, date TEXT,
        effort_unit TEXT, model TEXT, key TEXT NOT NULL)""",
    """CREATE TABLE parameters (
        run TEXT NOT NULL REFERENCES runs (run), name TEXT NOT NULL, value REAL,
        standard_error REAL, unit TEXT NOT NULL, PRIMARY KEY (run, name))""",
    """CREATE TABLE friction (
        run TEXT NOT NULL REFERENCES runs (run), joint TEXT NOT NULL, temperature REAL,
        quantity TEXT NOT NULL, speed REAL, value REAL, standard_error REAL,
        unit TEXT NOT NULL)""",
    """CREATE TABLE quality (
        run TEXT PRIMARY KEY REFERENCES runs (run), verdict TEXT, nrmse_mean REAL,
        base_parameters INTEGER, samples INTEGER)""",
    'CREATE INDEX friction_of_joint ON friction (joint, quantity)',
)
TABLES = ('quality', 'friction', 'parameters', 'runs')


class Record:
    """The open record of the campaign in a folder."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / RECORD_FILE
        self._connection = self._open()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def add(self, state: Mapping[str, Any]) -> None:
        """Write a run, in the place of what was known of it, in one transaction."""
        with self._connection as connection:
            self._remove(connection, str(state['name']))
            self._insert(connection, state)

    def match(self, states: Iterable[Mapping[str, Any]]) -> None:
        """Make the record hold these runs as their states say, and no others."""
        wanted = {str(state['name']): state for state in states}
        with self._connection as connection:
            known = dict(connection.execute('SELECT run, key FROM runs'))
            for name in known | wanted:
                self._remove(connection, name)
            for state in wanted.values():
                self._insert(connection, state)

    def _open(self) -> sqlite3.Connection:
        """Open the record; what is not one of this version is removed and begun anew."""
        if self._path.exists():
            connection = sqlite3.connect(self._path, timeout=PATIENCE)
            try:
                version = connection.execute('PRAGMA user_version').fetchone()[0]
                sound = connection.execute('PRAGMA quick_check').fetchone()[0] == 'ok'
                if sound and version == SCHEMA_VERSION:
                    return connection
            except sqlite3.DatabaseError:
                sound = False
            connection.close()
            for suffix in ('', '-wal', '-shm'):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        connection = sqlite3.connect(self._path, timeout=PATIENCE)
        # Readers see the last whole transaction while the next one is written.
        connection.execute('PRAGMA journal_mode = WAL')
        with connection:
            for statement in _SCHEMA:
                connection.execute(statement)
            connection.execute(f'PRAGMA user_version = {SCHEMA_VERSION}')
        return connection

    @staticmethod
    def _remove(connection: sqlite3.Connection, run: str) -> None:
        for table in TABLES:
            connection.execute(f'DELETE FROM {table} WHERE run = ?', (run,))

    @staticmethod
    def _insert(connection: sqlite3.Connection, state: Mapping[str, Any]) -> None:
        run = str(state['name'])
        done = bool(state['files'])
        connection.execute(
            'INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
            (
                run, state['arm'], state['serial'], state.get('robot'), state['status'],
                state['exit_code'], state['error'], state.get('date'), state.get('effort_unit'),
                f'runs/{run}/identified_model.yaml' if done else None, state['key'],
            ),
        )
        if not done:
            return
        connection.executemany(
            'INSERT INTO parameters VALUES (?, ?, ?, ?, ?)',
            [
                (run, entry['name'], entry['value'], entry['standard_error'], entry['unit'])
                for entry in state['parameters']
            ],
        )
        connection.executemany(
            'INSERT INTO friction VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
            [(run, *row) for row in _friction_rows(state)],
        )
        quality = state['quality']
        connection.execute(
            'INSERT INTO quality VALUES (?, ?, ?, ?, ?)',
            (
                run, state['verdict'], quality['nrmse_mean'], quality['base_parameters'],
                quality['samples'],
            ),
        )


def _friction_rows(state: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Return joint, temperature, quantity, speed, value, error and unit of each figure."""
    of_torque = 'A' if state['relative_scale'] else 'N m'
    rows = []
    for joint in state['joints']:
        place = (joint['joint'], joint['temperature'])
        torque, viscous = (
            unit_of_joint(unit, joint.get('position_unit', 'rad'))
            for unit in (of_torque, f'{of_torque} s/rad')
        )
        rows += [
            (*place, 'coulomb', None, joint['coulomb'], joint['coulomb_error'], torque),
            (*place, 'viscous', None, joint['viscous'], joint['viscous_error'], viscous),
        ]
        rows += [
            (*place, 'torque', speed, value, error, torque)
            for speed, value, error in zip(
                state['speeds'], joint['torque'], joint['torque_error'], strict=True
            )
        ]
    return rows
