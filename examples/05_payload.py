# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Find mass and centre of mass of a payload.

You learn to compare a run with a payload (2 kg at the flange, in simulation) with the model of the
bare arm, how certain the result is, and which call sets it on a Universal Robot.
"""

from pathlib import Path
import sys
from tempfile import mkdtemp

from robot_identification.studies.payload import payload_text, run_payload

DATA = Path(__file__).resolve().parent / 'data'


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)

    result = run_payload(DATA / 'model.yaml', [DATA / 'loaded.csv'])
    found = result.found
    print(f'mass: {found.payload.mass:.3f} +- {found.errors.mass:.3f} kg')
    center = ', '.join(
        f'{axis} {value:.1f} +- {error:.1f}' for axis, value, error in zip(
            'xyz', 1e3 * found.payload.center_of_mass, 1e3 * found.errors.center_of_mass,
            strict=True,
        )
    )
    print(f'centre of mass in the frame of {found.payload.frame} [mm]: {center}')

    (folder / 'payload.txt').write_text(payload_text(result))
    print(f'payload.txt, with lines for the controller, is in {folder}')


if __name__ == '__main__':
    main()
