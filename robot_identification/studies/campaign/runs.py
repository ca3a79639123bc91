# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
One run of a campaign: bags in, a folder with model, report and state out.

The process that does it, this one, another or one on another machine, writes the folder. The
state is written last and removed first: where it exists, it is that of the files beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timezone
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification import __version__
from robot_identification.errors import (
    BagError, DescriptionError, IdentificationError, NotIdentifiableError, UsageError,
)
from robot_identification.estimation import Identification
from robot_identification.files import (
    canonical_sha256, file_sha256, read_text, to_plain, write_atomically,
)
from robot_identification.model import IdentifiedModel, load_model, RobotModel
from robot_identification.pipeline import identify
from robot_identification.recording import read_recording
from robot_identification.report import (
    attributes, coefficients, json_text, RESULT_FILES, save_identification,
)
from robot_identification.studies.campaign.campaign_file import Arm, Run
from robot_identification.studies.campaign.trend import friction_summary

SCHEMA_VERSION = 1  # of the file
STATE_FILE = 'run.json'
MODEL_FILE = 'identified_model.yaml'
DONE, FAILED = 'done', 'failed'
# Stamps before that are not of a clock that was set.
FIRST_DATE = datetime(2000, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True)
class RunJob:
    """Job of a run; plain data, so that it can be sent to another process."""

    run: Run  # what to do
    arm: Arm
    folder: str  # where the results go
    inputs: Mapping[str, Any]  # what they depend on, see `run_inputs`
    speeds: tuple[float, ...]  # at which friction is stated [rad/s]

    @property
    def name(self) -> str:
        """Return what messages call it."""
        return self.run.name


def run_inputs(run: Run, arm: Arm, robot: RobotModel) -> dict[str, Any]:
    """Return the inputs of a run of an arm as plain values; results depend on nothing else."""
    known = repr((
        robot.urdf_sha256, robot.joint_names, robot.gravity.tolist(),
        to_plain(asdict(robot.drives)), to_plain(asdict(robot.limits)),
        robot.effort_unit, repr(robot.sampling_rate), to_plain(asdict(robot.encoders)),
        sorted(robot.locked.items()),
    ))
    return {
        'bags': {bag: _bag_hash(bag) for bag in run.bags},
        'options': run.options.as_plain(),
        'arm': {
            'name': arm.name, 'serial': arm.serial,
            'payload': None if arm.payload is None else to_plain(asdict(arm.payload)),
            'description': hashlib.sha256(known.encode()).hexdigest(),
        },
        'date': run.date,
        'temperature': to_plain(run.temperature),
        'version': __version__,
    }


def _bag_hash(bag: str) -> str:
    try:
        return file_sha256(Path(bag)) if Path(bag).exists() else 'missing'
    except OSError as error:
        return f'unreadable: {error.strerror}'


def explain_change(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Return in words what differs between the inputs of a run that was done and those of now."""
    changed = []
    for name, new in after.items():
        old = before.get(name)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            changed += [
                f'{Path(part).name if name == "bags" else part} of {name}'
                for part in sorted({*old, *new}) if old.get(part) != new.get(part)
            ]
        elif old != new:
            changed.append(name)
    return ', '.join(changed)


def do_run(job: RunJob) -> None:
    """Do a run and write its folder, also after an error."""
    folder = Path(job.folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / STATE_FILE).unlink(missing_ok=True)
    try:
        _identify(job, folder)
    except IdentificationError as error:
        write_failure(job, str(error), error.exit_code)
    # An unexpected error of one run must not end the others.
    except Exception as error:
        write_failure(job, f'unexpected {type(error).__name__}: {error}')


def write_failure(job: RunJob, message: str, exit_code: int = 1) -> None:
    """
    Write the state of a run that failed; results of an earlier one are removed.

    The exit code is the one that `identify` would have had, 1 after an unexpected error.
    """
    for name in RESULT_FILES:
        (Path(job.folder) / name).unlink(missing_ok=True)
    _write_state(job, {
        'status': FAILED, 'exit_code': exit_code, 'error': message, 'date': job.run.date,
        'files': {},
    })


def read_state(folder: Path) -> dict[str, Any] | None:
    """Return the state of a run; None where it is missing, incomplete or of another version."""
    try:
        state = json.loads(read_text(folder / STATE_FILE))
    except (UsageError, DescriptionError, ValueError, RecursionError):
        return None
    if not isinstance(state, dict) or state.get('schema_version') != SCHEMA_VERSION:
        return None
    files = state.get('files', {})
    whole = isinstance(files, dict) and all(
        (folder / name).is_file() and file_sha256(folder / name) == digest
        for name, digest in files.items()
    )
    return state if whole else None


def restate(folder: Path, state: Mapping[str, Any], speeds: Sequence[float]) -> dict[str, Any]:
    """Return the state of a run with its friction at other speeds [rad/s]."""
    model = load_model(folder / MODEL_FILE)
    stated = {**state, 'speeds': list(speeds), 'joints': _joints(model, speeds)}
    write_atomically(folder / STATE_FILE, json_text(stated))
    return stated


def _identify(job: RunJob, folder: Path) -> None:
    run = job.run
    missing = [bag for bag, digest in job.inputs['bags'].items() if digest == 'missing']
    if missing:
        raise UsageError(f'no such bag: {", ".join(missing)}')
    robot = job.arm.load()
    found = identify(robot, [Path(bag) for bag in run.bags], run.options)
    used = {entry['path']: entry['sha256'] for entry in found.model.provenance['bags']}
    if used != dict(job.inputs['bags']):
        raise BagError(
            f'{", ".join(run.bags)}: the files changed while the campaign was at work: start it '
            'again when nothing is recorded into them'
        )
    found, temperature_from = _with_temperature(found, run)
    date, date_from = _find_date(run, robot)
    command = f'run {run.name} of a campaign, see ../../campaign.json'
    save_identification(found, folder, command, force=True)
    code, error = 0, ''
    if found.unidentifiable:
        code = NotIdentifiableError.exit_code
        names = ', '.join(found.unidentifiable)
        error = f'the data do not determine {names}; a reduced model was written'
    model = found.model
    scores = [score for bag in found.cross_validation for score in bag.nrmse if np.isfinite(score)]
    _write_state(job, {
        'status': DONE,
        'exit_code': code,
        'error': error,
        'date': date,
        'date_from': date_from,
        'temperature_from': temperature_from,
        'robot': model.robot.name,
        **attributes(model, 'effort_unit', 'relative_scale'),
        'verdict': found.verdict.level,
        'reasons': found.verdict.reasons,
        'notes': found.notes,
        'quality': {
            'nrmse_mean': np.mean(scores) if scores else None,
            'base_parameters': model.reduction.rank,
            'samples': sum(int(dataset.fitted.sum()) for dataset in found.datasets),
            'lost': found.unidentifiable,
        },
        'parameters': [
            attributes(entry, 'name', 'value', 'standard_error', 'unit')
            for entry in coefficients(model)
        ],
        'joints': _joints(model, job.speeds),
        'files': {name: file_sha256(folder / name) for name in RESULT_FILES},
    })


def _write_state(job: RunJob, result: Mapping[str, Any]) -> None:
    """Write the state of a run: what it is, and what it led to."""
    write_atomically(Path(job.folder) / STATE_FILE, json_text({
        'schema_version': SCHEMA_VERSION,
        'name': job.name,
        'arm': job.arm.name,
        'serial': job.arm.serial,
        'key': canonical_sha256(dict(job.inputs)),
        'inputs': job.inputs,
        'speeds': job.speeds,
        **result,
    }))


def _with_temperature(found: Identification, run: Run) -> tuple[Identification, str]:
    """Return an identification with its temperatures, as far as known, and their source."""
    model = found.model
    known = np.full(model.robot.n, np.nan) if model.temperature is None else model.temperature
    if np.all(np.isfinite(known)):
        return found, 'bag'
    if run.temperature is None:
        return found, 'unknown'
    if len(run.temperature) not in (1, model.robot.n):
        raise DescriptionError(
            f'temperature of run {run.name} has {len(run.temperature)} numbers, the arm has '
            f'{model.robot.n} joints: give one, or one for each'
        )
    stated = np.where(np.isfinite(known), known, run.temperature)
    return replace(found, model=replace(model, temperature=stated)), 'campaign file'


def _find_date(run: Run, robot: RobotModel) -> tuple[str | None, str]:
    """Return when a run was recorded, and where that is from."""
    if run.date is not None:
        return run.date, 'campaign file'
    recording = read_recording(
        Path(run.bags[0]), robot.joint_names, topic=run.options.topic,
        names=run.options.joint_names, encoders=robot.encoders,
        mapping=None if run.options.table_mapping is None else Path(run.options.table_mapping),
    )
    found = datetime.fromtimestamp(recording.start * 1e-9, tz=timezone.utc)
    if found < FIRST_DATE:
        return None, 'unknown: the stamps of the bag are not of a clock that was set'
    return found.isoformat(timespec='seconds'), 'bag'


def _joints(model: IdentifiedModel, speeds: Sequence[float]) -> list[dict[str, Any]]:
    """Return friction and temperature of each joint."""
    found = friction_summary(model, speeds)
    return [
        {
            'joint': name,
            'position_unit': model.robot.position_units[j],
            'temperature': None if model.temperature is None else model.temperature[j],
            **{key: values[j] for key, values in found.items()},
        }
        for j, name in enumerate(model.robot.joint_names)
    ]
