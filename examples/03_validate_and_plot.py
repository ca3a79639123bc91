# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Score a model on a motion that it was not identified from.

You learn to read the score, to get at the residuals behind it, and to draw measured and predicted
torque.
"""

from pathlib import Path
import sys
from tempfile import mkdtemp

import matplotlib
import numpy as np
import robot_identification as ri

matplotlib.use('Agg')
DATA = Path(__file__).resolve().parent / 'data'


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)

    model = ri.load_model(DATA / 'model.yaml')
    score = ri.validate(model, DATA / 'unseen.csv')
    print(score)

    left = score.residuals
    rms = np.sqrt(np.mean(left.residual**2, axis=0))
    worst = np.abs(left.residual).argmax(axis=0)
    for joint, name in enumerate(left.joints):
        row = worst[joint]
        print(
            f'{name:20} RMS {rms[joint]:.2f} {left.unit}, '
            f'largest {left.residual[row, joint]:.2f} {left.unit} at {left.time[row]:.2f} s'
        )

    axes = score.plot()
    axes[0].figure.savefig(folder / 'torque.png', dpi=100)
    print(f'torque.png is in {folder}')


if __name__ == '__main__':
    main()
