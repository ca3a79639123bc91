# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Draw the friction of every joint over its velocity.

You learn to evaluate friction curves with their band of 95 %, and where the band is wide: the
recording says little about friction there.
"""

from pathlib import Path
import sys
from tempfile import mkdtemp

import matplotlib
from matplotlib import pyplot
import numpy as np
import robot_identification as ri

matplotlib.use('Agg')
DATA = Path(__file__).resolve().parent / 'data'


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)

    model = ri.load_model(DATA / 'model.yaml')
    velocities = np.linspace(-1.5, 1.5, 301)
    figure, panels = pyplot.subplots(2, 3, sharex=True, figsize=(9.0, 5.0), layout='constrained')
    for name, panel in zip(model.robot.joint_names, panels.flat, strict=True):
        curve = model.friction(name, velocities)
        panel.plot(curve.dq, curve.torque)
        panel.fill_between(curve.dq, curve.lower, curve.upper, alpha=0.3)
        panel.set_title(name)
        at_one = model.friction(name, [1.0])
        half = 0.5 * (at_one.upper - at_one.lower)
        print(f'{name:20} {at_one.torque[0]:6.2f} +- {half[0]:.2f} N m at 1 rad/s')
    figure.supxlabel('velocity [rad/s]')
    figure.supylabel('friction [N m]')
    figure.savefig(folder / 'friction.png', dpi=100)
    print(f'friction.png is in {folder}')


if __name__ == '__main__':
    main()
