# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Picture of README: torque of a real joint, measured, of the URDF, and of the identified model.

`python docs/_ext/real_torque.py MODEL BAG --start 16.5 --joint elbow_joint -o picture.svg`, with a
model that was identified from the time before `--start`.
"""

import argparse
from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure
from robot_identification import load_model, validate
from robot_identification.validation.validation import predict_effort, predict_urdf_effort

# Colours that Okabe and Ito (2008) chose for readers who see colours differently.
MEASURED, URDF, IDENTIFIED = '#9a9a9a', '#d55e00', '#0072b2'
WIDTH, HEIGHT = 9.0, 3.2  # inches


def draw(model_file: Path, bag: Path, start: float, joint: str) -> Figure:
    """Return measured torque, the URDF's and the model's over time, with their errors."""
    model = load_model(model_file)
    found = validate(model, bag, start=start)
    dataset, errors = found.datasets[0], found.validation.bags[0]
    column = model.robot.joint_names.index(joint)
    to_torque = dataset.torque_per_effort(model.robot)[column]
    figure = Figure(figsize=(WIDTH, HEIGHT), layout='constrained')
    axes = figure.add_subplot()
    rows = dataset.scored  # the time before `start` is in the dataset for filters
    seconds = (dataset.stamps - dataset.stamps[0])[rows]
    for effort, colour, width, label in (
        (dataset.effort, MEASURED, 3.0, 'measured'),
        (predict_urdf_effort(model, dataset), URDF, 1.2,
         f'URDF (NRMSE {errors.urdf_nrmse[column]:.3f})'),
        (predict_effort(model, dataset), IDENTIFIED, 1.2,
         f'identified (NRMSE {errors.nrmse[column]:.3f})'),
    ):
        axes.plot(seconds, effort[rows, column] * to_torque, color=colour, lw=width, label=label)
    axes.set(xlabel='time [s]', ylabel='torque [N m]', xlim=(seconds[0], seconds[-1]),
             title=f'{model.robot.name}, {joint}: motion that the model has not seen')
    axes.grid(color='#e0e0e0', lw=0.5)
    axes.spines[['top', 'right']].set_visible(False)
    figure.legend(loc='outside lower center', ncols=3, frameon=False)
    return figure


def parse_arguments(description: str) -> argparse.Namespace:
    """Return model, bag, start [s], joint and output of a picture."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument('model', type=Path)
    parser.add_argument('bag', type=Path)
    parser.add_argument('--start', type=float, required=True, help='begin of unseen motion [s]')
    parser.add_argument('--joint', required=True)
    parser.add_argument('-o', '--output', type=Path, required=True)
    return parser.parse_args()


def main() -> None:
    """Write the picture."""
    given = parse_arguments(__doc__.strip().splitlines()[0])
    # Without a date and with ids by content, the same picture is the same file.
    with rc_context({'svg.hashsalt': 'real_torque', 'svg.fonttype': 'none'}):
        figure = draw(given.model, given.bag, given.start, given.joint)
        figure.savefig(given.output, format='svg', metadata={'Date': None})


if __name__ == '__main__':
    main()
