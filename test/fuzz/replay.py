# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Read one input of a target again: `.venv/bin/python test/fuzz/replay.py TARGET INDEX`."""

from pathlib import Path
import sys
import tempfile

TEST = Path(__file__).resolve().parents[1]


def main():
    """Write the input into a temporary folder, and read it where a debugger sees it."""
    # Here is no pytest, which knows where the helpers are.
    sys.path.insert(0, str(TEST))
    from fuzz.mutations import make_input
    from fuzz.targets import TARGETS
    from robot_identification.errors import IdentificationError

    target, index = TARGETS[sys.argv[1]], int(sys.argv[2])
    name, data = make_input(target, index)
    path = Path(tempfile.gettempdir(), f'fuzz_{target.name}_{index}', name)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    print(f'{path}: {len(data)} bytes')
    try:
        print('read:', target.read(path))
    except IdentificationError as error:
        print('refused:', error)


if __name__ == '__main__':
    main()
