# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Design a motion for identification that is safe in your cell.

You learn to state joint windows and obstacles in an experiment file, to search for a motion, and
to read in its certificate how much of each limit it uses and how near it comes to anything.
"""

from pathlib import Path
import sys
from tempfile import mkdtemp

import numpy as np
import robot_identification as ri

CELL = """
schema_version: 1
description: an arm on a table, beside a wall
trajectory: {form: fourier, harmonics: 4, base_period: 10.0}
margins: {position: 0.1, velocity: 0.7, acceleration: 0.6, torque: 0.8}
window:
  shoulder_pan_joint: [-1.5, 1.5]
  shoulder_lift_joint: [-2.3, -0.8]
  elbow_joint: [-2.0, 2.0]
friction: coulomb,viscous,offset
clearance: 0.02
obstacles:
  table: {size: [2.0, 2.0, 0.05], xyz: [0.0, 0.0, -0.035]}
  wall: {size: [0.05, 3.0, 2.0], xyz: [-0.9, 0.0, 1.0]}
"""


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)

    (folder / 'cell.yaml').write_text(CELL)
    experiment = ri.load_experiment(folder / 'cell.yaml')
    motion = ri.design_excitation(ri.load_robot('ur5'), experiment, seed=1, time_limit=5.0)

    used = sorted(motion.certificate['limits'].items(), key=lambda one: -one[1]['share'])
    for kind, worst in used:
        print(f'{kind:13} {100 * worst["share"]:3.0f} % used, by {worst["joint"]}')
    collision = motion.certificate['collision']
    print(f'nearest: {1e3 * collision["nearest"]:.0f} mm, {" and ".join(collision["pair"])}')
    print(f'condition number: {motion.certificate["criteria_dense"]["condition_number"]:.0f}')

    motion.save(folder / 'motion.yaml')
    sampled = motion.sample(125.0)
    np.savetxt(folder / 'motion.csv', sampled.q, fmt='%.6f', delimiter=',')
    print(f'{len(sampled.q)} positions in motion.csv, and motion.yaml, are in {folder}')


if __name__ == '__main__':
    main()
