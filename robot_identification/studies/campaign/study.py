# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
A campaign from its file to its health report.

It can be ended at any moment, by Ctrl-C or by the loss of its machine, and started again: what is
done stays, what has changed is done again, and the rest follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
import fcntl
import json
from pathlib import Path
import sqlite3
from typing import Any

from robot_identification.errors import DescriptionError, IdentificationError, UsageError
from robot_identification.files import read_text, ResultFolder, write_atomically
from robot_identification.model import unit_of_joint
from robot_identification.options import check_options, option
from robot_identification.parallel import LOCAL, open_executor, run_jobs
from robot_identification.report import json_text
from robot_identification.studies.campaign.campaign_file import Campaign, naming_place
from robot_identification.studies.campaign.report import CampaignOutcome, render_campaign_report
from robot_identification.studies.campaign.runs import (
    do_run, DONE, explain_change, read_state, restate, run_inputs, RunJob,
)
from robot_identification.studies.campaign.trend import (
    compare_sizes, COULOMB, judge_health, TORQUE, VISCOUS,
)

SCHEMA_VERSION = 1  # of the file
IDENTITY_FILE = 'campaign.json'
LOCK_FILE = '.lock'
RUNS = 'runs'
REPORT_FILE = 'report.html'
RECORD_FILE = 'campaign.sqlite'
RECORD_VERSION = 1  # of the record, whose runs are in their folders: it is made anew from them
# How long a reader may keep us from writing [s].
PATIENCE = 30.0
TABLES = {
    'runs': """run TEXT PRIMARY KEY, arm TEXT NOT NULL, serial TEXT NOT NULL, robot TEXT,
        status TEXT NOT NULL, exit_code INTEGER NOT NULL, error TEXT NOT NULL, date TEXT,
        effort_unit TEXT, model TEXT, key TEXT NOT NULL""",
    'parameters': """run TEXT NOT NULL REFERENCES runs (run), name TEXT NOT NULL, value REAL,
        standard_error REAL, unit TEXT NOT NULL, PRIMARY KEY (run, name)""",
    'friction': """run TEXT NOT NULL REFERENCES runs (run), joint TEXT NOT NULL,
        temperature REAL, quantity TEXT NOT NULL, speed REAL, value REAL, standard_error REAL,
        unit TEXT NOT NULL""",
    'quality': """run TEXT PRIMARY KEY REFERENCES runs (run), verdict TEXT, nrmse_mean REAL,
        base_parameters INTEGER, samples INTEGER""",
}

# Takes the number of runs that are done, that of the runs to do, and a text.
Report = Callable[[int, int, str], None]


@dataclass(frozen=True)
class CampaignOptions:
    """Options of a campaign that are not in its file: where its runs are computed."""

    scheduler: str = option(
        str, f'where runs are computed: {LOCAL} (processes on this machine), or the address of a '
        'Dask scheduler, tcp://HOST:8786, whose workers see bags and folder', default=LOCAL,
        metavar='ADDRESS',
    )
    processes: int | None = option(
        int, f'number of worker processes of --scheduler {LOCAL}', otherwise='one for each CPU',
        minimum=1, metavar='N',
    )
    retry: bool = option(
        bool, 'repeat failed runs that have not changed', default=False,
    )

    def __post_init__(self) -> None:
        check_options(self)


def run_campaign(
    campaign: Campaign,
    folder: ResultFolder,
    options: CampaignOptions | None = None,
    report: Report = lambda done, total, text: None,
) -> CampaignOutcome:
    """
    Do the remaining runs of a campaign, judge all results, and write the health report.

    `folder` holds only this campaign; `options` say where runs are computed. `report` is called
    when a run is begun again or done, with the number of runs that are done, the number to do, and
    a text. Raises UsageError if an arm is unknown, or the folder is another campaign's or in use
    by another process.
    """
    options = CampaignOptions() if options is None else options
    robots = {}
    for arm in campaign.arms:
        with naming_place(f'{campaign.source}: arm {arm.name}'):
            robots[arm.name] = arm.load()
    with _own_folder(campaign, folder.path), closing(begin_record(folder.path)) as record:
        jobs = [
            RunJob(
                run, campaign.arm(run.arm), str(folder.path.resolve() / RUNS / run.name),
                run_inputs(run, campaign.arm(run.arm), robots[run.arm]), campaign.speeds,
            )
            for run in campaign.runs
        ]
        states, left = _find_what_is_left(jobs, report, retry=options.retry)
        kept = tuple(states)
        add_to_record(record, states.values())
        for number, job in enumerate(_work(left, options), start=1):
            state = read_state(Path(job.folder))
            if state is None:
                raise IdentificationError(
                    f'{job.folder} has no state of run {job.name}, which was just done: is '
                    'something else at work there? Start the campaign again'
                )
            states[job.name] = state
            add_to_record(record, [state])
            report(number, len(left), _describe(state))
        ordered = tuple(states[run.name] for run in campaign.runs)
        sizes, note = compare_sizes(campaign, ordered, folder.path)
        outcome = CampaignOutcome(
            campaign, ordered, kept, judge_health(campaign, ordered), sizes,
            tuple(text for text in (note, _describe_foreign_files(campaign, folder.path)) if text),
        )
        write_atomically(
            folder.path / REPORT_FILE, render_campaign_report(outcome, folder.command_line)
        )
    return outcome


def _find_what_is_left(
    jobs: Sequence[RunJob], report: Report, *, retry: bool
) -> tuple[dict[str, Mapping[str, Any]], list[RunJob]]:
    """Return the states of runs that need not be done again, and the other runs."""
    states: dict[str, Mapping[str, Any]] = {}
    left = []
    for job in jobs:
        state = read_state(Path(job.folder))
        if state is None:
            left.append(job)
            continue
        changed = explain_change(state['inputs'], json.loads(json_text(job.inputs)))
        if changed or (retry and state['status'] != DONE):
            left.append(job)
            report(0, 0, f'{job.name} is done again: ' + (
                f'{changed} changed' if changed else 'it failed'
            ))
            continue
        if state['files'] and state['speeds'] != list(job.speeds):
            state = restate(Path(job.folder), state, job.speeds)
        states[job.name] = state
    report(0, len(left), f'{len(states)} of {len(jobs)} runs are there already')
    return states, left


def _work(jobs: Sequence[RunJob], options: CampaignOptions) -> Iterator[RunJob]:
    """Yield the runs as they are done, in their order."""
    with open_executor(options.scheduler, options.processes) as executor:
        left = list(jobs)
        try:
            for _ in run_jobs(executor, do_run, jobs):
                yield left.pop(0)
        except IdentificationError as error:
            undone = [job.name for job in left if read_state(Path(job.folder)) is None]
            raise IdentificationError(
                f'{error}; what is done is kept, not done are {", ".join(undone)}: start the '
                'campaign again, or leave a run out that ends its process'
            ) from error


@contextmanager
def _own_folder(campaign: Campaign, folder: Path) -> Iterator[None]:
    """Keep a folder to one campaign and one process; raise UsageError if it is in other use."""
    identity = folder / IDENTITY_FILE
    if identity.exists():
        try:
            found = json.loads(read_text(identity))
        except (ValueError, RecursionError) as error:
            raise DescriptionError(f'{identity} is not JSON: {error}') from error
        name = found.get('name') if isinstance(found, dict) else None
        if name != campaign.name:
            raise UsageError(
                f'{folder} holds the campaign {name!r}, {campaign.source} is {campaign.name!r}: '
                'name another folder, or give both files the same name'
            )
    elif folder.exists() and any(path.name != LOCK_FILE for path in folder.iterdir()):
        raise UsageError(
            f'{folder} is not empty and holds no campaign: name a new folder for {campaign.name}'
        )
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK_FILE).open('w') as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise UsageError(
                f'another process is at work on the campaign in {folder}: wait until it has '
                'ended, or end it'
            ) from error
        write_atomically(
            identity, json_text({'schema_version': SCHEMA_VERSION, 'name': campaign.name})
        )
        yield


def _describe(state: Mapping[str, Any]) -> str:
    if state['status'] == DONE:
        return f'{state["name"]}: {state["verdict"]}'
    return f'{state["name"]}: failed (exit code {state["exit_code"]}): {state["error"]}'


def _describe_foreign_files(campaign: Campaign, folder: Path) -> str:
    """Return which runs are in the folder and no longer in the file, in words."""
    known = {run.name for run in campaign.runs}
    others = sorted(
        path.name for path in (folder / RUNS).glob('*') if path.is_dir() and path.name not in known
    )
    if not others:
        return ''
    return (
        f'{", ".join(others)}: in the folder, and no longer in {campaign.source}; they are left '
        'where they are, and not used'
    )


def begin_record(folder: Path) -> sqlite3.Connection:
    """Return a new record in the folder of a campaign, docs/formats/campaign.md."""
    path = folder / RECORD_FILE
    for suffix in ('', '-wal', '-shm'):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    connection = sqlite3.connect(path, timeout=PATIENCE)
    # Readers see the last whole transaction while the next one is written.
    connection.execute('PRAGMA journal_mode = WAL')
    with connection:
        for table, columns in TABLES.items():
            connection.execute(f'CREATE TABLE {table} ({columns})')
        connection.execute('CREATE INDEX friction_of_joint ON friction (joint, quantity)')
        connection.execute(f'PRAGMA user_version = {RECORD_VERSION}')
    return connection


def add_to_record(record: sqlite3.Connection, states: Iterable[Mapping[str, Any]]) -> None:
    """Write runs that are not in the record yet, in one transaction."""
    with record:
        for state in states:
            for table, rows in _rows(state).items():
                marks = ', '.join('?' * len(rows[0])) if rows else ''
                record.executemany(f'INSERT INTO {table} VALUES ({marks})', rows)


def _rows(state: Mapping[str, Any]) -> dict[str, list[tuple[Any, ...]]]:
    """Return the rows of a run by table."""
    run, done = str(state['name']), bool(state['files'])
    model = f'{RUNS}/{run}/identified_model.yaml' if done else None
    rows: dict[str, list[tuple[Any, ...]]] = {'runs': [(
        *(state.get(key) for key in (
            'name', 'arm', 'serial', 'robot', 'status', 'exit_code', 'error', 'date',
            'effort_unit',
        )), model, state['key'],
    )]}
    if done:
        quality = state['quality']
        rows['parameters'] = [
            (run, entry['name'], entry['value'], entry['standard_error'], entry['unit'])
            for entry in state['parameters']
        ]
        rows['friction'] = [(run, *row) for row in friction_rows(state)]
        rows['quality'] = [(
            run, state['verdict'], quality['nrmse_mean'], quality['base_parameters'],
            quality['samples'],
        )]
    return rows


def friction_rows(state: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Return joint, temperature, quantity, speed, value, error and unit of each figure."""
    of_torque = 'A' if state['relative_scale'] else 'N m'
    rows = []
    for joint in state['joints']:
        figures = [
            (COULOMB, None, joint['coulomb'], joint['coulomb_error'], of_torque),
            (VISCOUS, None, joint['viscous'], joint['viscous_error'], f'{of_torque} s/rad'),
            *(
                (TORQUE, speed, value, error, of_torque)
                for speed, value, error in zip(
                    state['speeds'], joint['torque'], joint['torque_error'], strict=True
                )
            ),
        ]
        rows += [
            (
                joint['joint'], joint['temperature'], *figure,
                unit_of_joint(unit, joint.get('position_unit', 'rad')),
            )
            for *figure, unit in figures
        ]
    return rows
