# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A payload from bags and the bare arm's model: the study as one function."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from robot_identification.blas import one_blas_thread
from robot_identification.files import ResultFolder
from robot_identification.model import check_shows_gravity, IdentifiedModel, load_model
from robot_identification.processing import load_for_model, read_for_model
from robot_identification.recording import Recording
from robot_identification.studies.payload.estimate import (
    estimate_payload, loaded_run, LoadedRun, PayloadOptions, resting_run, UNKNOWN_PAYLOAD,
)
from robot_identification.studies.payload.report import (
    MODEL_FILE, PAYLOAD_FILES, PayloadResult, save_payload,
)


@one_blas_thread()
def run_payload(
    model_file: Path, bags: Sequence[Path], options: PayloadOptions | None = None,
    folder: ResultFolder | None = None,
) -> PayloadResult:
    """
    Find the payload of an arm from runs with it and the model of the bare arm.

    All `bags` have the same payload; without `folder` nothing is written. Raises
    NotIdentifiableError if the runs do not show mass and centre of mass, DataError or UsageError
    if the model, a bag, an option or the folder cannot be used.
    """
    options = PayloadOptions() if options is None else options
    if folder is not None:
        folder.check((*PAYLOAD_FILES, MODEL_FILE))
    model = load_model(model_file).with_mapping(options.mapping)
    check_shows_gravity(model, UNKNOWN_PAYLOAD)
    runs, notes = (_rests if options.static else _motions)(model, bags, options)
    result = PayloadResult(
        model, model_file, tuple(bags), estimate_payload(model, runs, options), runs[0],
        tuple(notes),
    )
    if folder is not None:
        save_payload(folder, result)
    return result


def _motions(
    model: IdentifiedModel, bags: Sequence[Path], options: PayloadOptions
) -> tuple[list[LoadedRun], list[str]]:
    """Return the runs of bags, and notes on them."""
    runs: list[LoadedRun] = []
    notes: list[str] = []
    for bag in bags:
        dataset, messages = load_for_model(model, bag, start=options.start, stop=options.stop)
        runs.append(loaded_run(model, dataset))
        notes += messages
    return runs, notes


def _rests(
    model: IdentifiedModel, bags: Sequence[Path], options: PayloadOptions
) -> tuple[list[LoadedRun], list[str]]:
    """Return the rests of all bags as one run, and notes on them."""
    recordings: list[Recording] = []
    notes: list[str] = []
    for bag in bags:
        recording, note = read_for_model(model, bag)
        notes += [note] if note else []
        recordings.append(recording.until(options.stop))
    run, messages = resting_run(model, recordings, options)
    return [run], [*notes, *messages]
