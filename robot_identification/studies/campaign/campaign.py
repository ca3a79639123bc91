# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
A campaign from its file to its health report.

It can be ended at any moment, by Ctrl-C or by the loss of its machine, and started again: what is
done stays, what has changed is done again, and the rest follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
import fcntl
import json
from pathlib import Path
from typing import Any

from robot_identification.errors import DescriptionError, IdentificationError, UsageError
from robot_identification.files import read_text, ResultFolder, write_atomically
from robot_identification.parallel import available_processors, LOCAL, open_executor
from robot_identification.report import json_text
from robot_identification.studies.campaign.campaign_file import Campaign
from robot_identification.studies.campaign.health import compare_sizes, judge_health
from robot_identification.studies.campaign.options import CampaignOptions
from robot_identification.studies.campaign.record import Record
from robot_identification.studies.campaign.report import CampaignOutcome, render_campaign_report
from robot_identification.studies.campaign.runs import (
    DONE, explain_change, load_robots, read_state, restate, run_inputs, RunJob,
)
from robot_identification.studies.campaign.workers import work_locally, work_on

SCHEMA_VERSION = 1  # of the file
IDENTITY_FILE = 'campaign.json'
LOCK_FILE = '.lock'
RUNS = 'runs'
REPORT_FILE = 'report.html'

# Takes the number of runs that are done, that of the runs to do, and a text.
Report = Callable[[int, int, str], None]


def ignore_progress(done: int, total: int, text: str) -> None:
    """Ignore a report of progress."""


def run_campaign(
    campaign: Campaign,
    folder: ResultFolder,
    options: CampaignOptions | None = None,
    report: Report = ignore_progress,
) -> CampaignOutcome:
    """
    Do the remaining runs of a campaign, judge all results, and write the health report.

    `folder` holds only this campaign; `options` say where runs are computed. `report` is called
    when a run is begun again or done, with the number of runs that are done, the number to do, and
    a text. Raises UsageError if an arm is unknown, or the folder is another campaign's or in use
    by another process.
    """
    options = CampaignOptions() if options is None else options
    robots = load_robots(campaign)
    with _own_folder(campaign, folder.path), closing(Record(folder.path)) as record:
        jobs = [
            RunJob(
                run, campaign.arm(run.arm), str(folder.path.resolve() / RUNS / run.name),
                run_inputs(run, campaign.arm(run.arm), robots[run.arm]), campaign.speeds,
            )
            for run in campaign.runs
        ]
        states, left = _find_what_is_left(jobs, report, retry=options.retry)
        kept = tuple(states)
        record.match(states.values())
        names = {job.name: job for job in left}
        for number, name in enumerate(_work(left, options), start=1):
            state = read_state(Path(names[name].folder))
            if state is None:
                raise IdentificationError(
                    f'{names[name].folder} has no state of run {name}, which was just done: is '
                    'something else at work there? Start the campaign again'
                )
            states[name] = state
            record.add(state)
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


def _work(jobs: Sequence[RunJob], options: CampaignOptions) -> Iterator[str]:
    """Yield the names of runs as they are done."""
    if not jobs:
        return
    if options.scheduler == LOCAL:
        yield from work_locally(jobs, options.processes or available_processors())
        return
    with open_executor(options.scheduler, options.processes) as cluster:
        assert cluster is not None
        yield from work_on(cluster, jobs)


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
