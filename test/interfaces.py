# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Compile the message types that only a robot machine has, where no ROS distribution is installed.

Those that the distribution brings are never compiled, so that ours do not shadow them.
"""

import fcntl
import hashlib
import importlib.util
import os
from pathlib import Path
import platform
import re
import shutil
import subprocess
import sys
import sysconfig

import pytest

FIXTURES = Path(__file__).resolve().parent / 'fixtures' / 'interfaces'
PACKAGES = ('control_msgs', 'controller_manager_msgs', 'ur_dashboard_msgs')
LIBRARY_VARIABLES = ('PYTHONPATH', 'LD_LIBRARY_PATH', 'AMENT_PREFIX_PATH')
LOCK = Path(__file__).resolve().parents[1] / 'requirements' / 'lock.txt'

# Set by the ROS wheels once they have extended LD_LIBRARY_PATH; a child that inherits it would
# not extend its own.
BOOTSTRAP_GUARD = '_ROS_WHEELS_BOOTSTRAP_COMPLETE'


def default_cache_dir() -> Path:
    """Return the cache of this Python: inside its venv, else in the user's cache folder."""
    if sys.prefix != sys.base_prefix:
        return Path(sys.prefix, 'test_interfaces')
    user_cache = Path(os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache')
    return user_cache / 'robot_identification' / 'test_interfaces'


def missing_packages() -> list[str]:
    """Return the packages of these types that are not installed here."""
    return [package for package in PACKAGES if not importlib.util.find_spec(package)]


def why_not_buildable() -> str:
    """Return what is missing to compile the fixtures here, or an empty string."""
    if not Path(sys.prefix, 'share', 'rosidl_default_generators').is_dir():
        return f'no rosidl generators in {sys.prefix} (make setup installs them)'
    if shutil.which('cmake') is None:
        return 'cmake is not installed'
    for variable, names in ('CC', ('cc', 'gcc', 'clang')), ('CXX', ('c++', 'g++', 'clang++')):
        if not os.environ.get(variable) and not any(map(shutil.which, names)):
            return f'no compiler: none of {", ".join(names)} is installed'
    if not Path(sysconfig.get_path('include'), 'Python.h').is_file():
        return f'no Python.h in {sysconfig.get_path("include")}'
    return ''


def build_interfaces(cache_dir: Path) -> Path | None:
    """Return the install prefix of the compiled fixtures; None where they cannot be compiled."""
    # Once per lock file, fixtures and Python; callers in other processes wait for it.
    if why_not_buildable():
        return None
    folder = Path(cache_dir) / _fingerprint()
    folder.mkdir(parents=True, exist_ok=True)
    complete = folder / 'complete'
    with (folder / 'lock').open('w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not complete.exists():
            _compile(folder)
            complete.touch()
    return folder / 'install'


def interface_environment(prefix: Path) -> dict[str, str]:
    """Return the environment in which this Python's child processes import the fixtures."""
    module = next(prefix.glob(f'**/{missing_packages()[0]}/__init__.py'))
    environment = dict(os.environ)
    environment.pop(BOOTSTRAP_GUARD, None)
    entries = module.parents[1], prefix / 'lib', prefix
    for variable, entry in zip(LIBRARY_VARIABLES, entries, strict=True):
        others = environment.get(variable)
        if others is None and variable == 'AMENT_PREFIX_PATH':
            others = sys.prefix
        environment[variable] = f'{entry}{os.pathsep}{others}' if others else str(entry)
    return environment


def overlay() -> dict[str, str]:
    """Return the environment variables in which the types are found; skip where they are not."""
    if not missing_packages():
        return {}
    prefix = build_interfaces(default_cache_dir())
    if prefix is None:
        pytest.skip(
            f'{", ".join(missing_packages())} cannot be compiled: {why_not_buildable()}'
        )
    environment = interface_environment(prefix)
    return {name: environment[name] for name in LIBRARY_VARIABLES}


def _fingerprint() -> str:
    """Hash everything that the compiled fixtures depend on."""
    digest = hashlib.sha256()
    for part in sys.prefix, sys.version, platform.machine(), *missing_packages():
        digest.update(part.encode() + b'\0')
    for path in LOCK, *sorted(path for path in FIXTURES.rglob('*') if path.is_file()):
        digest.update(path.name.encode() + b'\0' + path.read_bytes() + b'\0')
    return digest.hexdigest()[:16]


def _compile(folder: Path) -> None:
    source, build, install = (folder / name for name in ('source', 'build', 'install'))
    for path in source, build, install:
        shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(FIXTURES, source)
    _repair_wheel_cmake_paths(Path(sys.prefix))

    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(('AMENT_', 'COLCON_', 'ROS_'))
        and name not in ('CMAKE_PREFIX_PATH', 'LD_LIBRARY_PATH', 'PYTHONPATH', BOOTSTRAP_GUARD)
    }
    environment['AMENT_PREFIX_PATH'] = environment['CMAKE_PREFIX_PATH'] = sys.prefix
    # The venv brings ninja, and the generators are to run with its Python.
    environment['PATH'] = os.pathsep.join(
        (str(Path(sys.prefix, 'bin')), environment.get('PATH', os.defpath))
    )
    configure = [
        'cmake', '-S', str(source), '-B', str(build), '-Wno-dev',
        f'-DCMAKE_INSTALL_PREFIX={install}', '-DBUILD_TESTING=OFF',
        f'-DPython3_EXECUTABLE={sys.executable}', f'-DPACKAGES={";".join(missing_packages())}',
    ]
    if shutil.which('ninja', path=environment['PATH']):
        configure += ['-G', 'Ninja']
    log = folder / 'build.log'
    with log.open('w') as output:
        for command in configure, ['cmake', '--build', str(build), '--target', 'install']:
            completed = subprocess.run(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
            )
            if completed.returncode != 0:
                output.flush()
                raise RuntimeError(
                    f'{command[0]} {command[1]} failed, see {log}:\n{log.read_text()[-3000:]}'
                )
    shutil.rmtree(build)


def _repair_wheel_cmake_paths(prefix: Path) -> None:
    """Point the targets that the wheels export at this Python instead of their build machine's."""
    import numpy

    replacements = (
        (r'/opt/python/[^/;"]+/include/python[\d.]+', sysconfig.get_path('include')),
        # Also that of a venv which has been moved since.
        (r'/[^;"]+/site-packages/numpy/[\w/]*include', numpy.get_include()),
    )
    for path in prefix.glob('share/*/cmake/*Export.cmake'):
        text = repaired = path.read_text()
        for pattern, replacement in replacements:
            repaired = re.sub(pattern, lambda _, new=replacement: new, repaired)
        if repaired != text:
            # Replaced in one step: another CMake may be reading it.
            temporary = path.with_name(f'{path.name}.{os.getpid()}')
            temporary.write_text(repaired)
            temporary.replace(path)
