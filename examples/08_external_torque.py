# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Find the torque with which the arm is pushed.

You learn to observe external torques from joint states and torque alone, without a force sensor.
Here a push of 15 N m on the elbow is added to the measured torque of an unseen motion.
"""

from pathlib import Path
import sys
from tempfile import mkdtemp

import numpy as np
import robot_identification as ri

DATA = Path(__file__).resolve().parent / 'data'
ELBOW, PUSH, BEGIN, END = 2, 15.0, 4.0, 6.0  # joint, [N m], [s], [s]


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)

    model = ri.load_model(DATA / 'model.yaml')
    table = np.loadtxt(DATA / 'unseen.csv', delimiter=',', skiprows=1)
    t, q, dq, tau = table[:, 0], table[:, 1:7], table[:, 7:13], table[:, 13:19]
    pushed = (t > BEGIN) & (t < END)
    # The drive has to hold against the push.
    tau[pushed, ELBOW] -= PUSH

    log = ri.Recording.from_arrays(t, q, tau, dq=dq, unit='Nm')
    found = ri.external_torque(model, log)
    # The observer needs a moment, as a filter does.
    settled = pushed & (t > BEGIN + 0.5)
    mean = found.external[settled].mean(axis=0)
    deviation = found.deviation[settled].mean(axis=0)
    for name, torque, band in zip(model.robot.joint_names, mean, deviation, strict=True):
        print(f'{name:20} {torque:6.2f} N m, standard deviation {band:.2f} N m')
    print(f'push on the elbow: {mean[ELBOW]:.2f} N m of {PUSH:g}')

    np.savetxt(
        folder / 'external_torque.csv', np.column_stack([found.stamps, found.external]),
        fmt='%.4f', delimiter=',', header='time,' + ','.join(model.robot.joint_names), comments='',
    )
    print(f'external_torque.csv is in {folder}')


if __name__ == '__main__':
    main()
