# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The tree is a proper ROS 2 package: manifest, set-up files and what colcon makes of them."""

import ast
import os
from pathlib import Path
import re
import runpy
import shutil
import subprocess
import sys

import pytest
from robot_identification import __version__
from test_layering import imported_modules

ROOT = Path(__file__).resolve().parents[1]
# Keys of what is imported under another name; any other is imported by the name of its key.
KEY_OF = {
    'PIL': 'python3-pil', 'defusedxml': 'python3-defusedxml', 'jinja2': 'python3-jinja2',
    'lxml': 'python3-lxml', 'markupsafe': 'python3-jinja2',
    'matplotlib': 'python3-matplotlib', 'numpy': 'python3-numpy', 'scipy': 'python3-scipy',
    'yaml': 'python3-yaml',
    # Extras.
    'mcap': 'mcap-ros2-support', 'mujoco': 'python3-mujoco-pip', 'rosbags': 'python3-rosbags-pip',
}
# Extras without a key: pip install.
WITHOUT_KEY = {
    'backports', 'clarabel', 'compression', 'daqp', 'distributed', 'h5py', 'lz4', 'pandas', 'pxr',
    'pyarrow', 'pymoo', 'shtab', 'threadpoolctl',
}
# Not imported: a plugin of rosbag2_py, and what launch files start.
NOT_IMPORTED = {'rosbag2_storage_mcap', 'robot_state_publisher', 'ros2bag', 'rviz2'}
# Started beside those, where the lab has an arm of this maker.
OF_ONE_MAKER = {'ur_robot_driver', 'ur_simulation_gz'}


@pytest.fixture
def manifest():
    """Return package.xml as catkin_pkg reads it, conditions taken as on a build farm."""
    package = pytest.importorskip('catkin_pkg.package')
    warnings = []
    parsed = package.parse_package(str(ROOT / 'package.xml'), warnings=warnings)
    parsed.validate(warnings=warnings)
    assert warnings == []
    parsed.evaluate_conditions({'ROS_VERSION': '2', 'ROS_DISTRO': 'jazzy'})
    return parsed


@pytest.fixture
def setup_arguments(monkeypatch):
    setuptools = pytest.importorskip('setuptools')
    arguments = {}
    monkeypatch.setattr(setuptools, 'setup', lambda **keywords: arguments.update(keywords))
    monkeypatch.chdir(ROOT)
    runpy.run_path('setup.py')
    return arguments


def test_manifest_is_valid(manifest):
    """An invalid manifest makes colcon take the package for plain Python, without a word."""
    assert manifest.package_format == 3
    assert manifest.get_build_type() == 'ament_python'
    assert manifest.licenses == ['Apache-2.0']


def test_name_and_version_agree(manifest, setup_arguments):
    """package.xml and setup.py name the same thing."""
    assert setup_arguments['name'] == manifest.name
    assert setup_arguments['version'] == manifest.version
    assert setup_arguments['license'] == manifest.licenses[0]
    assert setup_arguments['maintainer_email'] == manifest.maintainers[0].email
    assert setup_arguments['author_email'] == manifest.authors[0].email
    assert setup_arguments['long_description'] == (ROOT / 'README.md').read_text('utf-8')
    assert __version__ == manifest.version
    # bloom takes the newest heading of CHANGELOG.rst for the version that it releases.
    changes = (ROOT / 'CHANGELOG.rst').read_text('utf-8')
    versions = re.findall(r'^(\d\S*) \(\d{4}-\d\d-\d\d\)\n-{5,}$', changes, re.M)
    assert versions[0] == manifest.version


def test_what_is_imported_and_started_is_stated(manifest):
    """Every import of the package and its launch files, and every package that these start."""
    trees = [
        ast.parse(path.read_text('utf-8'))
        for folder in ('robot_identification', 'launch') for path in (ROOT / folder).rglob('*.py')
    ]
    imported = {
        module.partition('.')[0] for tree in trees for _, module in imported_modules(tree, [])
    } - set(sys.stdlib_module_names) - {'', 'robot_identification'}
    started = {'ros2bag'} | {
        word.value.value for path in (ROOT / 'launch').glob('*.py')
        for call in ast.walk(ast.parse(path.read_text('utf-8'))) if isinstance(call, ast.Call)
        for word in call.keywords
        if word.arg == 'package' and isinstance(word.value, ast.Constant)
    }
    needed = {KEY_OF.get(name, name) for name in imported - WITHOUT_KEY}
    stated = {
        dependency.name: dependency.condition is None for dependency in manifest.exec_depends
    }
    assert needed | NOT_IMPORTED == set(stated)
    assert started <= NOT_IMPORTED | OF_ONE_MAKER
    assert not OF_ONE_MAKER & set(stated)
    # What works without it asks for it by name.
    extras = {name for name, always in stated.items() if not always}
    assert extras == {
        'mcap-ros2-support', 'python3-mujoco-pip', 'python3-rosbags-pip', 'xacro',
    }


def test_every_entry_point_has_its_function(setup_arguments):
    """Each executable's module exists and defines the function that it calls."""
    scripts = setup_arguments['entry_points']['console_scripts']
    assert any(script.startswith('robot-identification ') for script in scripts)
    for script in scripts:
        module, function = script.split('=')[1].strip().split(':')
        if module.endswith('.nodes.entry'):
            # That of each node calls its main.
            module, function = module.replace('entry', function), 'main'
        text = (ROOT / f'{module.replace(".", "/")}.py').read_text('utf-8')
        assert re.search(rf'^def {function}\(', text, re.M), script


def test_an_install_holds_the_tree(tmp_path):
    """Every module, template, launch file, configuration and URDF, whatever its ending."""
    pytest.importorskip('setuptools')
    prefix = tmp_path / 'install'
    subprocess.run(
        [
            # As colcon installs, with nothing written beside the sources.
            sys.executable, 'setup.py', '-q', 'egg_info', '--egg-base', str(tmp_path),
            'build', '--build-base', str(tmp_path / 'build'),
            'install', '--prefix', str(prefix), '--record', str(tmp_path / 'files'),
            '--single-version-externally-managed',
        ],
        cwd=ROOT, check=True, capture_output=True, timeout=120,
    )
    package = next(prefix.rglob('*-packages/robot_identification'))
    # Nothing of another project comes along.
    assert [path for path in package.parent.iterdir() if path.suffix != '.egg-info'] == [package]
    share = next(prefix.rglob('share/robot_identification'))
    # Where the folders of the tree are in an install.
    folders = {'robot_identification': package, 'security/policies': share / 'security/policies'}
    folders |= {name: share / name for name in ('launch', 'config', 'urdf')}
    for name, there in folders.items():
        held, kept = files_below(there), files_below(ROOT / name)
        assert kept and held == kept, f'{name}: {sorted(kept ^ held)}'
        for path in kept:
            assert (there / path).read_bytes() == (ROOT / name / path).read_bytes(), path
    assert (share / 'package.xml').is_file()
    marker = share.parent / 'ament_index/resource_index/packages/robot_identification'
    assert marker.read_bytes() == b''


def files_below(folder):
    """Return the names of the files below a folder but those that Python writes there."""
    return {
        path.relative_to(folder).as_posix() for path in folder.rglob('*')
        if path.is_file() and '__pycache__' not in path.parts
    }


def test_colcon_sees_an_ament_python_package(tmp_path):
    """And it sees only this one: no fixture, nothing in .venv."""
    beside_python = f'{Path(sys.executable).parent}{os.pathsep}{os.environ.get("PATH", "")}'
    colcon = shutil.which('colcon', path=beside_python)
    if colcon is None:
        pytest.skip('colcon is not installed')
    completed = subprocess.run(
        [colcon, '--log-base', os.devnull, 'list', '--base-paths', str(ROOT)],
        cwd=tmp_path,
        env={'PATH': beside_python, 'HOME': str(tmp_path), 'COLCON_HOME': str(tmp_path)},
        capture_output=True, text=True, timeout=120,
    )
    assert completed.returncode == 0, completed.stderr
    packages = [line.split('\t') for line in completed.stdout.splitlines()]
    assert [(name, kind) for name, _, kind in packages] == [
        ('robot_identification', '(ros.ament_python)')
    ]
