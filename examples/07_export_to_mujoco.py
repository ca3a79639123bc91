# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Simulate the identified arm in MuJoCo.

You learn to export a scene, to start it in a measured state, and to see how far it drifts from the
real motion in a second in which only the measured torque drives it.
"""

from pathlib import Path
import sys
from tempfile import mkdtemp

import mujoco
import numpy as np
import robot_identification as ri

DATA = Path(__file__).resolve().parent / 'data'
STARTS = (2.0, 4.0, 6.0, 8.0)  # [s]


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)

    identified = ri.load_model(DATA / 'model.yaml')
    identified.export(folder / 'scene.xml')
    # Validation smooths what was measured, and gives it in the order of the joints.
    measured = ri.validate(identified, DATA / 'unseen.csv').datasets[0]
    scene = mujoco.MjModel.from_xml_path(str(folder / 'scene.xml'))
    data = mujoco.MjData(scene)

    def at(time: float, values: np.ndarray) -> np.ndarray:
        return np.array([np.interp(time, measured.stamps, column) for column in values.T])

    for start in STARTS:
        mujoco.mj_resetData(scene, data)
        data.qpos[:], data.qvel[:] = at(start, measured.motion.q), at(start, measured.motion.dq)
        drift = {}
        for second in (0.1, 1.0):
            while data.time < second:
                middle = start + data.time + 0.5 * scene.opt.timestep
                data.ctrl[:] = at(middle, measured.effort)
                mujoco.mj_step(scene, data)
            apart = data.qpos - at(start + data.time, measured.motion.q)
            drift[second] = 1e3 * np.abs(apart).max()
        print(f'from {start:g} s: drift {drift[0.1]:.1f} mrad after 0.1 s, '
              f'{drift[1.0]:.0f} mrad after 1 s')
    print(f'scene.xml is in {folder}')


if __name__ == '__main__':
    main()
