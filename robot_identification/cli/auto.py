# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification auto`: `identify` with a held-out part, its validation, and exports."""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from robot_identification import identify, IdentifyOptions, read_recording, validate
from robot_identification.cli.doctor import examine
from robot_identification.cli.doctor_arm import ExamineOptions
from robot_identification.cli.identify import conclude
from robot_identification.cli.options import (
    add_output_option, add_robot_options, MODEL_FILE, options_given, RECORDING, result_folder,
    robot_from_options,
)
from robot_identification.cli.output import say, warn
from robot_identification.cli.tables import show_tables, understand_tables
from robot_identification.cli.validate import RESULT_FILES as VALIDATION_FILES
from robot_identification.cli.validate import write_validation
from robot_identification.errors import IdentificationError
from robot_identification.estimation import Identification
from robot_identification.export import EXPORTERS
from robot_identification.files import file_name, ResultFolder
from robot_identification.model import IdentifiedModel, RobotModel
from robot_identification.options import add_arguments
from robot_identification.report import (
    fixed, RESULT_FILES, save_identification, short_verdict_lines, shortcomings, text_table,
)
from robot_identification.validation import (
    ANOTHER_MOTION, join_verdicts, NOT_INDEPENDENT, Validation, validation_content, Verdict,
)

EXAMPLE = 'robot-identification auto log.csv --urdf arm.urdf -o result'
# Share of a single recording that is held out for validation; chosen: as in a fold of four.
HELD_OUT = 0.25
# Of a shorter recording nothing is held out [s]; chosen: one period of ten seconds and a half.
SHORTEST = 15.0
# What to do with a model that another recording judges.
SEE_VALIDATION = 'see validation/report.html: another recording tests the model there'


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        'bags', nargs='+', type=Path, metavar='PATH',
        help=f'{RECORDING}; the last one, or the last quarter of a single one, is for validation',
    )
    add_robot_options(parser)
    add_arguments(parser, IdentifyOptions)
    add_output_option(parser, 'folder for model, reports, results and exports')


class _Split(NamedTuple):
    """The recordings to identify from, and the one to validate on."""

    training: list[Path]
    held_out: Path | None
    boundary: float | None  # where a single recording is divided [s]
    words: str  # how it is validated


def run(args: argparse.Namespace) -> int | None:
    """Go from recordings to a model that is validated and exported."""
    folder = result_folder(args)
    robot = robot_from_options(args)
    exports = {
        f'export/{file_name(robot.name)}.{exporter.suffix}': exporter.write
        for exporter in EXPORTERS.values()
    }
    folder.check([
        *RESULT_FILES, *(f'validation/{name}' for name in VALIDATION_FILES), *exports,
    ])
    options = options_given(args, IdentifyOptions)
    _warn_of_recordings(args.bags, robot, options)
    if not args.json:
        show_tables(understand_tables(
            args.bags, robot.joint_names, options.joint_names, options.table_mapping
        ), robot.position_units)
    split = _split(args.bags, robot, options)
    say(split.words)
    if not np.all(np.isfinite(robot.drives.drive_gain)):
        # It matters for currents alone: torques need no gains.
        options = replace(options, relative_scale=True)
    found = identify(robot, split.training, replace(options, stop=split.boundary or options.stop))
    if split.held_out is not None and split.boundary is None:
        found = replace(found, verdict=_to_be_validated(found.verdict))
    save_identification(found, folder.path, args.command_line, force=args.force)
    notes = list(found.notes)
    validation = None
    if split.held_out is not None:
        score = validate(
            found.model.with_mapping(options.table_mapping), [split.held_out],
            start=split.boundary or options.start, stop=options.stop,
        )
        write_validation(score, replace(folder, path=folder.path / 'validation'))
        validation = score.validation
        notes += score.notes
    exported, refused = _export(found.model, exports, folder)
    verdict = _verdict(split, found, validation)
    content = {
        'output': args.output,
        'verdict': verdict.level,
        'reasons': verdict.reasons,
        'next_step': verdict.next_step,
        'split': split.words,
        'identification': {
            'verdict': found.verdict.level, 'reasons': found.verdict.reasons,
            'lost': found.unidentifiable,
        },
        'validation': None if validation is None else validation_content(validation),
        'exported': exported,
    }
    text = _text(args, split, found, validation, verdict, exported)
    return conclude(args, found, content, text, dict.fromkeys([*notes, *refused]))


def _text(
    args: argparse.Namespace, split: _Split, found: Identification,
    validation: Validation | None, verdict: Verdict, exported: list[Path],
) -> str:
    """Return what is printed: verdict, errors, and where everything is."""
    reports = [args.output / 'report.html']
    if validation is not None:
        reports.append(args.output / 'validation' / 'report.html')
    return '\n'.join([
        f'{found.model.robot.name}: {verdict.level.upper()}', split.words,
        *short_verdict_lines(verdict, shortcomings(found)), '',
        *_error_lines(found, validation), '',
        f'reports: {", ".join(map(str, reports))}',
        f'model: {args.output / MODEL_FILE}',
        *([f'exported: {", ".join(map(str, exported))}'] if exported else []),
    ])


def _warn_of_recordings(bags: list[Path], robot: RobotModel, options: IdentifyOptions) -> None:
    """Print the warnings that `doctor` has of recordings."""
    examining = ExamineOptions(
        mapping=options.table_mapping, topic=options.topic, robots=[robot],
        effort_unit=options.effort_unit,
    )
    for path in bags:
        # What cannot be used at all `identify` refuses.
        for warning in examine(path, examining).warnings if path.exists() else ():
            warn(f'{path}: {warning}')


def _split(bags: list[Path], robot: RobotModel, options: IdentifyOptions) -> _Split:
    if len(bags) > 1:
        *training, held_out = bags
        return _Split(
            training, held_out, None,
            f'identified from {", ".join(map(str, training))}, validated on {held_out}',
        )
    recording = read_recording(
        bags[0], robot.joint_names, topic=options.topic, names=options.joint_names,
        encoders=robot.encoders, mapping=options.table_mapping,
    )
    start = options.start or 0.0
    stop = min(recording.duration, np.inf if options.stop is None else options.stop)
    if stop - start < SHORTEST:
        return _Split(
            bags, None, None,
            f'{bags[0]} is {stop - start:.1f} s long: all of it is used to identify, and only '
            'held-out blocks remain for validation',
        )
    boundary = round(stop - HELD_OUT * (stop - start), 2)
    return _Split(
        bags, bags[0], boundary,
        f'identified from {start:g} to {boundary:g} s of {bags[0]}, validated on the rest, to '
        f'{stop:.1f} s',
    )


def _export(
    model: IdentifiedModel, exports: Mapping[str, Callable[[IdentifiedModel], str]],
    folder: ResultFolder,
) -> tuple[list[Path], list[str]]:
    """Write the model in every format; return the files, and why others were not written."""
    made: dict[str, str] = {}
    missing: dict[str, list[str]] = {}  # files by the reason
    for place, write in exports.items():
        try:
            made[place] = write(model)
        except IdentificationError as error:
            missing.setdefault(str(error), []).append(str(folder.path / place))
    refused = [
        f'{", ".join(files)} {"is" if len(files) == 1 else "are"} not written: {reason}'
        for reason, files in missing.items()
    ]
    folder.write(made)
    return [folder.path / place for place in made], refused


def _to_be_validated(verdict: Verdict) -> Verdict:
    """Return the verdict of an identification that another recording validates."""
    return replace(
        verdict,
        reasons=tuple(reason for reason in verdict.reasons if reason != NOT_INDEPENDENT),
        next_step=SEE_VALIDATION if verdict.next_step == ANOTHER_MOTION else verdict.next_step,
    )


def _verdict(split: _Split, found: Identification, validation: Validation | None) -> Verdict:
    """
    Return the verdict on the model.

    Data that are wrong throughout agree with themselves, so that of the identification counts,
    too.
    """
    if validation is None:
        return found.verdict
    verdict = join_verdicts(validation.verdict, found.verdict)
    if verdict.next_step == SEE_VALIDATION:
        return replace(verdict, next_step=validation.verdict.next_step)
    if verdict.next_step == ANOTHER_MOTION and split.boundary is not None:
        # That of the identification says the same, or what else to do with another motion.
        return replace(verdict, next_step=found.verdict.next_step)
    return verdict


def _error_lines(found: Identification, validation: Validation | None) -> list[str]:
    """Return the errors on what was held out, and the improvement over the URDF."""
    errors = found.cross_validation[0] if validation is None else validation.bags[0]
    rows = [
        (joint, fixed(own), fixed(urdf))
        for joint, own, urdf in zip(errors.joints, errors.nrmse, errors.urdf_nrmse, strict=True)
    ]
    rows.append(('mean', fixed(errors.nrmse_mean), fixed(errors.urdf_nrmse_mean)))
    nrmse = 'NRMSE held out' if validation is None else 'NRMSE'
    lines = text_table(('joint', nrmse, 'URDF without friction'), rows)
    if errors.urdf_nrmse_mean > 0.0:
        lines.append(
            f'The error is {errors.nrmse_mean / errors.urdf_nrmse_mean:.0%} of that of the URDF '
            'without friction.'
        )
    return lines
