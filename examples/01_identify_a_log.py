# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Identify an arm from a log of ten seconds.

You learn which three calls lead from a CSV file to a model, and what they leave: a report for the
browser and a model file, which all other functions take.
"""

from pathlib import Path
import sys
from tempfile import mkdtemp

import robot_identification as ri

DATA = Path(__file__).resolve().parent / 'data'


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)

    robot = ri.load_robot('ur5')
    # Without options friction terms are chosen from the data, which takes longer.
    options = ri.IdentifyOptions(friction='coulomb,viscous,offset')
    found = ri.identify(robot, DATA / 'log.csv', options)
    print(found)

    found.report(folder / 'report.html')
    found.model.save(folder / 'model.yaml')
    print(f'report.html and model.yaml are in {folder}')


if __name__ == '__main__':
    main()
