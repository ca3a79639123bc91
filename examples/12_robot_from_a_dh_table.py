# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Describe an arm by a Denavit-Hartenberg table, without a URDF.

You learn to write a link table, to see which base parameters such an arm has, and to get a motion
that shows them.
"""

from pathlib import Path
import sys
from tempfile import mkdtemp

import numpy as np
import robot_identification as ri
from robot_identification.model import make_standard_parameters, reduce_to_base

SCARA = """
schema_version: 1
name: scara
convention: standard
inertia_about: center_of_mass  # xx, xy, xz, yy, yz, zz [kg m^2]
links:
  shoulder_joint:
    {a: 0.325, alpha: 0.0, d: 0.4, theta: 0.0, mass: 6.0, center_of_mass: [-0.15, 0.0, -0.02],
     inertia: [0.02, 0.0, 0.0, 0.09, 0.0, 0.1], position: [-2.2, 2.2], velocity: 6.0, effort: 60.0}
  elbow_joint:
    {a: 0.275, alpha: 3.141592653589793, d: 0.0, theta: 0.0, mass: 4.0,
     center_of_mass: [-0.12, 0.0, 0.03], inertia: [0.01, 0.0, 0.0, 0.05, 0.0, 0.05],
     position: [-2.4, 2.4], velocity: 6.0, effort: 30.0}
  quill_joint:
    {type: prismatic, a: 0.0, alpha: 0.0, d: 0.1, theta: 0.0, mass: 1.0,
     center_of_mass: [0.0, 0.0, -0.1], inertia: [0.004, 0.0, 0.0, 0.004, 0.0, 0.0005],
     position: [0.0, 0.2], velocity: 1.0, effort: 100.0}
"""


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)

    (folder / 'scara.yaml').write_text(SCARA)
    robot = ri.load_robot(folder / 'scara.yaml')
    base = reduce_to_base(robot, make_standard_parameters(robot.n, (), False))
    print(f'{base.rank} base parameters of {10 * robot.n} inertial ones:')
    for row, name in enumerate(base.names):
        print(f'  {name} = {base.expression(row)}')

    motion = ri.design_excitation(robot, seed=1, time_limit=3.0)
    speed = np.abs(motion.sample(125.0).dq).max(axis=0)
    print(f'motion of {motion.duration:.0f} s, largest speeds {speed.round(2)} (rad/s, m/s)')
    motion.save(folder / 'motion.yaml')
    print(f'scara.yaml and motion.yaml are in {folder}')


if __name__ == '__main__':
    main()
