# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Compare two arms, or one arm before and after.

You learn which groups of parameters differ by more than chance. The friction of the second arm is
30 % higher: what the first model says of friction is added to the torque of another recording.
"""

from pathlib import Path
import sys
from tempfile import mkdtemp

import numpy as np
import robot_identification as ri
from robot_identification.studies.comparison import comparison_text, run_comparison

DATA = Path(__file__).resolve().parent / 'data'


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)

    first = ri.load_model(DATA / 'model.yaml')
    table = np.loadtxt(DATA / 'unseen.csv', delimiter=',', skiprows=1)
    t, q, dq, tau = table[:, 0], table[:, 1:7], table[:, 7:13], table[:, 13:19]
    tau += 0.3 * first.torque(q, dq, parts=True).friction

    log = ri.Recording.from_arrays(t, q, tau, dq=dq, unit='Nm', name='second arm')
    options = ri.IdentifyOptions(friction='coulomb,viscous,offset')
    second = ri.identify(ri.load_robot('ur5'), log, options).model
    second.save(folder / 'second.yaml')

    result = run_comparison([DATA / 'model.yaml', folder / 'second.yaml'])
    for finding in result.pairs[0].comparison.verdict:
        print(finding)
    (folder / 'comparison.txt').write_text(comparison_text(result))
    print(f'second.yaml and comparison.txt are in {folder}')


if __name__ == '__main__':
    main()
