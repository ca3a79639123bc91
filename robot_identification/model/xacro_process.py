# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Program of the process that expands one xacro file, with limits, and without ROS.

`xacro.py` runs its text with the limits and a JSON of `own`, `around` and `declared`, then what
xacro itself takes. PyPI's xacro and ROS's are both a module without __main__, and only one puts
its program beside the interpreter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
import importlib
import json
import os
from pathlib import Path
import re
import resource
import sys
import time
from typing import Any

# Duration of one search [s], after which a package counts as missing; chosen: xacro.py allows this
# process 6, and a disk that has not read these folders before takes them all.
SEARCH_SECONDS = 1.0


def main() -> None:
    """Set the limits, teach xacro where packages lie, and run it."""
    cpu, memory, output = map(int, sys.argv[1:4])
    # One second more for the hard limit: at the soft one the signal says why.
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_FSIZE, (output, output))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    places = json.loads(sys.argv[4])
    del sys.argv[1:5]
    import xacro

    declared: dict[str, str] = {}
    find_packages(xacro, places['own'], places['around'], places['missing'])
    record_arguments(xacro, declared)
    try:
        xacro.main()
    finally:
        Path(places['declared']).write_text(json.dumps(declared), encoding='utf-8')


def find_packages(xacro: Any, own: list[str], around: list[str], missing: str) -> None:
    """
    Resolve $(find ..): the file's own package, those that ROS knows, those around the file.

    A package that is nowhere becomes a folder below `missing`: a mesh there is never opened, and
    a file that is needed is then missing by a name that tells.
    """
    arguments: Any = importlib.import_module(f'{xacro.__name__}.substitution_args')
    installed = arguments._eval_find

    @cache
    def find(package: str) -> str:
        here, called_so = _search(package, map(Path, own))
        found = here or _installed(installed, package)
        if found is None:
            found, other = _search(package, _folders_below(around))
            found = found or called_so or other
        return found or f'{missing}/{package}'

    arguments._eval_find = find
    arguments._eval_dict['find'] = find


def record_arguments(xacro: Any, declared: dict[str, str]) -> None:
    """Note every <xacro:arg> that the file and its includes declare, with its default."""
    check = xacro.check_attrs

    def checked(tag: Any, required: list[str], optional: list[str]) -> Any:
        result = check(tag, required, optional)
        if tag.tagName == 'xacro:arg':
            declared.setdefault(str(result[0]), str(result[1]))
        return result

    xacro.check_attrs = checked


def _installed(find: Callable[[str], str], package: str) -> str | None:
    """Return what xacro finds, which asks ROS where there is one."""
    try:
        return str(find(package))
    except (ImportError, LookupError, OSError, ValueError):
        return None


def _search(package: str, folders: Iterable[Path]) -> tuple[str | None, str | None]:
    """Return the folder of a package, or the first one called so, as copies without XML are."""
    called_so = None
    for folder in folders:
        if _name_in_xml(folder) == package:
            return str(folder), None
        if called_so is None and folder.name == package:
            called_so = str(folder)
    return None, called_so


def _name_in_xml(folder: Path) -> str | None:
    try:
        text = (folder / 'package.xml').read_text(encoding='utf-8', errors='replace')
    except OSError:
        return None
    found = re.search(r'<name>\s*([^<\s]+)\s*</name>', text)
    return None if found is None else found[1]


def _folders_below(tops: list[str]) -> Iterator[Path]:
    """Yield each of `tops` and the folders in it, level by level."""
    seen, end = 0, time.monotonic() + SEARCH_SECONDS
    done: set[str] = set()
    for top in tops:
        level = [top]
        # Levels below a folder around the file: workspace, src, repository, package.
        for _ in range(5):
            below = []
            for place in level:
                seen += 1
                # Some workspaces have fewer folders.
                if seen > 20_000 or time.monotonic() > end:
                    return
                if place not in done:
                    done.add(place)
                    yield Path(place)
                    below += [f'{place}/{name}' for name in _names_of_folders(place)]
            level = below


def _names_of_folders(place: str) -> list[str]:
    """Return the folders in a folder that can hold packages."""
    try:
        with os.scandir(place) as entries:
            return sorted(
                entry.name for entry in entries
                if entry.is_dir(follow_symlinks=False) and not entry.name.startswith('.')
                and entry.name not in ('build', 'log', 'meshes', 'node_modules')
            )
    except OSError:
        return []


if __name__ == '__main__':
    main()
