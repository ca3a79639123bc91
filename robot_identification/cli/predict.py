# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification predict`."""

import argparse
from collections.abc import Iterator
from pathlib import Path
import shutil
from typing import Any

import numpy as np
from robot_identification import load_model, predict
from robot_identification.arrays import FloatArray
from robot_identification.cli.options import (
    add_mapping_option, add_model_argument, add_output_option, options_given, RECORDING,
    refuse_options,
)
from robot_identification.cli.output import print_results
from robot_identification.errors import DataError, UsageError
from robot_identification.files import (
    BY_COMMAND, check_writable, new_beside, ResultFolder, write_atomically,
)
from robot_identification.model import IdentifiedModel
from robot_identification.options import add_arguments
from robot_identification.prediction import EffortComparison
from robot_identification.recording import (
    joint_state_maker, new_bag, SIMULATED_EPOCH, write_samples,
)
from robot_identification.studies.energy import (
    energy_columns, energy_content, energy_text, EnergyOptions, MotionEnergy, run_energy,
)

EXAMPLE = 'robot-identification predict result/identified_model.yaml bag -o predicted.mcap'
# Values by joint or by name, shape (N, number of names), for each topic or kind of column.
Signals = dict[str, tuple[tuple[str, ...], FloatArray]]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_model_argument(parser)
    parser.add_argument('bag', nargs='?', type=Path, metavar='BAG', help=RECORDING)
    parser.add_argument(
        '--causal', action='store_true',
        help='predict from past samples only, as the live node does',
    )
    parser.add_argument(
        '--energy', action='store_true',
        help='kinetic energy, power and energy lost to friction, with a report next to the output '
        '(docs/energy.md); not a safety function',
    )
    add_arguments(parser, EnergyOptions)
    add_mapping_option(parser)
    add_output_option(
        parser, '.mcap or .csv with measured, predicted, residual and standard deviation',
    )


def run(args: argparse.Namespace) -> None:
    """Predict and write the comparison, the energy, or both."""
    _check_options(args)
    options = options_given(args, EnergyOptions)
    model = load_model(args.model).with_mapping(args.mapping)
    content: dict[str, Any] = {'output': args.output, 'joints': model.robot.joint_names}
    signals: Signals = {}
    notes: list[str] = []
    lines: list[str] = []
    if args.bag is not None:
        comparison, messages = predict(model, args.bag, causal=args.causal)
        notes += messages
        stamps, signals = comparison.stamps, comparison_signals(model, comparison)
        content |= {
            'unit': model.effort_unit, 'samples': len(stamps),
            'rmse': _rms(signals['residual'][1]),
        }
        if args.causal:
            content['rms_from_zero_phase'] = _rms_from_zero_phase(model, args.bag, comparison)
        lines += _error_lines(model, content)
    if args.energy:
        report = args.output.with_suffix('.html')
        folder = ResultFolder(report.parent, args.force, args.command_line, BY_COMMAND)
        result = run_energy(args.model, args.bag, options, folder, report.name)
        notes += [note for note in result.notes if note not in notes]
        stamps = result.energy.stamps
        signals |= energy_signals(result.energy)
        content['energy'] = energy_content(result)
        lines += [*energy_text(result).splitlines(), f'report: {report}']
    if args.output.suffix == '.csv':
        write_atomically(args.output, signals_csv(stamps, signals))
    else:
        write_signals_mcap(args.output, model, stamps, signals)
    print_results(args, content, '\n'.join([*lines, f'written to {args.output}']), notes)


def _check_options(args: argparse.Namespace) -> None:
    """Raise UsageError for options that do not fit together, and for files that are there."""
    if args.output.suffix not in ('.mcap', '.csv'):
        raise UsageError(f'{args.output} must end in .mcap or .csv')
    if not args.energy:
        refuse_options(
            args, ('threshold', 'trajectory'), 'is for --energy: add that, or leave it out'
        )
    if (args.bag is None) == (args.trajectory is None):
        raise UsageError('name a BAG, or with --energy a --trajectory: one of the two')
    if args.energy and args.causal:
        raise UsageError('--energy needs accelerations, which are known afterwards: leave out '
                         '--causal')
    for path in (args.output, *([args.output.with_suffix('.html')] if args.energy else [])):
        check_writable(path, args.force)


def _error_lines(model: IdentifiedModel, content: dict[str, Any]) -> Iterator[str]:
    robot, unit = model.robot, model.effort_unit
    for joint, value in enumerate(content['rmse']):
        known = f'{value:.4g} {robot.unit(unit, joint)}' if np.isfinite(value) else 'not available'
        yield f'{robot.joint_names[joint]}: RMSE {known}'
    if content.get('rms_from_zero_phase') is not None:
        shown = ', '.join(f'{value:.3g}' for value in content['rms_from_zero_phase'])
        yield f'RMS difference to the zero-phase prediction: {shown} {robot.units(unit)}'


def _rms(values: FloatArray) -> FloatArray:
    """Return the root mean square of each column, NaN where nothing is known."""
    squares = np.ma.masked_invalid(values) ** 2
    rms: FloatArray = np.sqrt(squares.mean(axis=0)).filled(np.nan)
    return rms


def _rms_from_zero_phase(
    model: IdentifiedModel, bag: Path, causal: EffortComparison
) -> FloatArray | None:
    """Return the RMS, shape (n,); None of a bag that zero-phase filters cannot be used on."""
    try:
        smooth, _ = predict(model, bag)
    except DataError:
        return None
    _, first, second = np.intersect1d(causal.stamps, smooth.stamps, return_indices=True)
    return _rms(causal.predicted[first] - smooth.predicted[second])


def comparison_signals(model: IdentifiedModel, comparison: EffortComparison) -> Signals:
    """Return measured, predicted and residual effort, and the standard deviation stated."""
    names = model.robot.joint_names
    return {
        'measured': (names, comparison.measured),
        'predicted': (names, comparison.predicted),
        'residual': (names, comparison.measured - comparison.predicted),
        'std': (names, comparison.deviation),
    }


def energy_signals(energy: MotionEnergy) -> Signals:
    """Return energies and power of the arm, and the powers of its joints."""
    columns = energy_columns(energy)
    return {
        'energy': (tuple(columns), np.column_stack(list(columns.values()))),
        'power': (energy.joint_names, energy.joint_power),
        'friction_power': (energy.joint_names, energy.joint_friction_power),
    }


def signals_csv(stamps: FloatArray, signals: Signals) -> str:
    """Return time and signals as CSV; what is not known is empty."""
    header = ['t', *(
        name if kind == 'energy' else f'{kind}_{name}'
        for kind, (names, _) in signals.items() for name in names
    )]
    rows = np.column_stack([stamps, *(values for _, values in signals.values())])
    lines = [','.join(header)]
    lines += [','.join(f'{x:.9g}' if np.isfinite(x) else '' for x in row) for row in rows]
    return '\n'.join(lines) + '\n'


def write_signals_mcap(
    path: Path, model: IdentifiedModel, stamps: FloatArray, signals: Signals
) -> None:
    """Write signals as joint-state topics of one MCAP, their values in `effort`."""
    nothing = np.zeros((len(stamps), 0))
    with new_beside(path, is_folder=True) as folder:
        bag = folder / path.stem
        metadata = {'robot': model.robot.name, 'effort_unit': model.effort_unit}
        with new_bag(bag, metadata) as writer:
            write_samples(
                writer, np.round((SIMULATED_EPOCH + stamps) * 1e9).astype(np.int64),
                {f'/{topic}': joint_state_maker(names, nothing, nothing, values)
                 for topic, (names, values) in signals.items()},
            )
        shutil.move(str(bag / writer.file.name), path)
