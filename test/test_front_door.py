# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The names of the package's top level work in a fresh interpreter, and importing it is free."""

import subprocess
import sys

NAMES = (
    'load_robot', 'read_recording', 'identify', 'IdentifyOptions', 'validate', 'predict',
    'design_excitation', 'load_model', 'export_urdf',
)


def run(code):
    """Return what a fresh interpreter prints."""
    return subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, check=True
    ).stdout


def test_names_of_the_front_door_can_be_imported():
    """In one statement, each with a docstring and documented by name in the API docs."""
    code = f'from robot_identification import {", ".join(NAMES)}\n' + '\n'.join(
        f'assert {name}.__doc__' for name in NAMES
    )
    assert run(code + "\nprint('ok')") == 'ok\n'


def test_importing_the_package_imports_nothing_heavy():
    """NumPy, SciPy, Pinocchio and the rooms wait until a name is used."""
    loaded = run(
        'import sys\nimport robot_identification\nimport robot_identification.model\n'
        'print(*(name for name in sys.modules if name.split(".")[0] in '
        '("numpy", "scipy", "pinocchio", "yaml", "robot_identification")))'
    ).split()
    assert set(loaded) == {
        'robot_identification', 'robot_identification.lazy', 'robot_identification.model',
    }


def test_the_command_line_loads_no_part_of_scipy_before_it_is_used():
    """Each part takes a tenth of a second or more, which a person waits for at every command."""
    loaded = run(
        'import sys\nfrom robot_identification.cli.main import make_parser\nmake_parser()\n'
        'print(*(name for name in sys.modules if name.startswith("scipy.")))'
    ).split()
    assert not {'scipy.optimize', 'scipy.signal', 'scipy.stats'} & set(loaded)
