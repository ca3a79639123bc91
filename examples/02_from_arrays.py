# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Identify an arm from NumPy arrays and a URDF.

You learn how to make a recording of arrays from any source, and how the identified model gives
torque, its parts and the mass matrix for any state.
"""

from pathlib import Path
import sys
from tempfile import mkdtemp

import numpy as np
import robot_identification as ri

DATA = Path(__file__).resolve().parent / 'data'


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)

    # Any URDF will do; this one is the package's own.
    urdf = folder / 'arm.urdf'
    urdf.write_text(ri.load_robot('ur5').urdf.text)
    robot = ri.load_robot(urdf)

    table = np.loadtxt(DATA / 'log.csv', delimiter=',', skiprows=1)
    t, q, dq, tau = table[:, 0], table[:, 1:7], table[:, 7:13], table[:, 13:19]
    log = ri.Recording.from_arrays(t, q, tau, dq=dq, unit='Nm')
    found = ri.identify(robot, log, ri.IdentifyOptions(friction='coulomb,viscous,offset'))
    print(f'verdict: {found.verdict.level}')

    model = found.model
    pose = np.array([0.0, -1.2, 1.0, -0.5, 0.3, 0.0])
    parts = model.torque(pose, np.full(6, 0.5), np.zeros(6), parts=True)
    print('gravity  [N m]:', parts.gravity.round(2))
    print('friction [N m]:', parts.friction.round(2))
    print('diagonal of the mass matrix [kg m^2]:', model.mass_matrix(pose).diagonal().round(3))
    forearm = model.links['forearm_link']
    print(f'mass of the forearm: {forearm.mass:.2f} +- {forearm.std.mass:.2f} kg')
    model.to_frame().to_csv(folder / 'base_parameters.csv', index=False)
    print(f'arm.urdf and base_parameters.csv are in {folder}')


if __name__ == '__main__':
    main()
