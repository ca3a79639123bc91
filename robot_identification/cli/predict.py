# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""`robot-identification predict`."""

from __future__ import annotations

import argparse
from pathlib import Path
import shutil
import tempfile
from typing import Any

import numpy as np
from robot_identification.cli.command import add_command
from robot_identification.cli.options import add_json_option
from robot_identification.cli.options import add_output_option
from robot_identification.cli.output import print_json
from robot_identification.cli.output import warn
from robot_identification.errors import DataError
from robot_identification.errors import UsageError
from robot_identification.experiment.bag import write_joint_states
from robot_identification.experiment.simulated_run import SIMULATED_EPOCH
from robot_identification.files import check_writable
from robot_identification.files import write_atomically
from robot_identification.model.identified_model import IdentifiedModel
from robot_identification.model.model_file import load_identified_model
from robot_identification.prediction.comparison import compare_effort
from robot_identification.prediction.comparison import EffortComparison
from robot_identification.processing.dataset import FloatArray


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, 'predict', 'predict the effort of a bag',
        'robot-identification predict result/identified_model.yaml bag -o predicted.mcap', run,
    )
    parser.add_argument('model', type=Path, metavar='MODEL', help='identified_model.yaml')
    parser.add_argument('bag', type=Path, metavar='BAG', help='rosbag2 folder or file')
    parser.add_argument(
        '--causal', action='store_true', help='from the past only, as the live node predicts'
    )
    add_output_option(parser, '.mcap or .csv with measured, predicted and residual')
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Predict and write the comparison."""
    if args.output.suffix not in ('.mcap', '.csv'):
        raise UsageError(f'{args.output} must end in .mcap or .csv')
    check_writable(args.output, args.force)
    model = load_identified_model(args.model)
    comparison, notes = compare_effort(model, args.bag, causal=args.causal)
    if args.output.suffix == '.csv':
        write_atomically(args.output, comparison_csv(model, comparison))
    else:
        write_comparison_mcap(args.output, model, comparison)
    for note in notes:
        warn(note)
    rmse = _rms(comparison.measured - comparison.predicted)
    content: dict[str, Any] = {
        'output': args.output,
        'unit': model.effort_unit,
        'joints': model.robot.joint_names,
        'samples': len(comparison.stamps),
        'rmse': rmse,
    }
    if args.causal:
        content['rms_from_zero_phase'] = _difference_from_zero_phase(model, args.bag, comparison)
    if args.json:
        print_json(content)
    else:
        for joint, value in zip(model.robot.joint_names, rmse, strict=True):
            known = f'{value:.4g} {model.effort_unit}' if np.isfinite(value) else 'not available'
            print(f'{joint}: RMSE {known}')
        if content.get('rms_from_zero_phase') is not None:
            shown = ', '.join(f'{value:.3g}' for value in content['rms_from_zero_phase'])
            print(f'RMS difference to the zero-phase prediction: {shown} {model.effort_unit}')
        print(f'written to {args.output}')
    return 0


def _rms(values: FloatArray) -> FloatArray:
    """Return the root mean square of each column, NaN where nothing is known."""
    squares = np.ma.masked_invalid(values) ** 2
    rms: FloatArray = np.sqrt(squares.mean(axis=0)).filled(np.nan)
    return rms


def _difference_from_zero_phase(
    model: IdentifiedModel, bag: Path, causal: EffortComparison
) -> FloatArray | None:
    """Return the RMS, shape (n,); None of a bag that zero-phase filters cannot be used on."""
    try:
        smooth, _ = compare_effort(model, bag, causal=False)
    except DataError:
        return None
    _, first, second = np.intersect1d(causal.stamps, smooth.stamps, return_indices=True)
    return _rms(causal.predicted[first] - smooth.predicted[second])


def comparison_csv(model: IdentifiedModel, comparison: EffortComparison) -> str:
    """Return time, measured, predicted and residual per joint as CSV."""
    kinds = {
        'measured': comparison.measured,
        'predicted': comparison.predicted,
        'residual': comparison.measured - comparison.predicted,
    }
    header = ['t', *(f'{kind}_{joint}' for kind in kinds for joint in model.robot.joint_names)]
    rows = np.column_stack([comparison.stamps, *kinds.values()])
    lines = [','.join(header)]
    lines += [','.join(f'{x:.9g}' if np.isfinite(x) else '' for x in row) for row in rows]
    return '\n'.join(lines) + '\n'


def write_comparison_mcap(
    path: Path, model: IdentifiedModel, comparison: EffortComparison
) -> None:
    """Write measured, predicted and residual effort as three joint-state topics of one MCAP."""
    empty = np.zeros((len(comparison.stamps), 0))
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f'.{path.name}.') as folder:
        bag = Path(folder) / path.stem
        write_joint_states(
            bag,
            model.robot.joint_names,
            SIMULATED_EPOCH + comparison.stamps,
            {
                '/measured': (empty, empty, comparison.measured),
                '/predicted': (empty, empty, comparison.predicted),
                '/residual': (empty, empty, comparison.measured - comparison.predicted),
            },
            {'robot': model.robot.name, 'effort_unit': model.effort_unit},
        )
        shutil.move(str(bag / f'{path.stem}.mcap'), path)
