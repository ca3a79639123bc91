# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Program of the process that expands one xacro file, with limits, and without ROS.

`xacro.py` runs its text with the limits and a JSON of `own`, `around` and `declared`, then what
xacro itself takes. PyPI's xacro and ROS's are both a module without __main__, and only one puts
its program beside the interpreter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
        return (
            _package_among(package, map(Path, own)) or _installed(installed, package)
            or _package_among(package, _folders_below(around))
            or _folder_named(package, own, around) or f'{missing}/{package}'
        )

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


def _package_among(package: str, folders: Any) -> str | None:
    for folder in folders:
        try:
            text = (folder / 'package.xml').read_text(encoding='utf-8', errors='replace')
        except OSError:
            continue
        found = re.search(r'<name>\s*([^<\s]+)\s*</name>', text)
        if found is not None and found[1] == package:
            return str(folder)
    return None


def _folder_named(package: str, own: list[str], around: list[str]) -> str | None:
    """Return a folder with the name of a package, as copies without package.xml have."""
    places = (*map(Path, own), *_folders_below(around, packages=False))
    return next((str(place) for place in places if place.name == package), None)


def _folders_below(tops: list[str], *, packages: bool = True) -> Iterator[Path]:
    """Yield folders level by level below each of `tops`: those with a package.xml, or all."""
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
                if place in done:
                    continue
                done.add(place)
                names, has_package = _entries(place)
                if has_package or not packages:
                    yield Path(place)
                below += [f'{place}/{name}' for name in names]
            level = below


def _entries(place: str) -> tuple[list[str], bool]:
    """Return the folders in a folder that can hold packages, and whether it is one."""
    names, has_package = [], False
    try:
        with os.scandir(place) as entries:
            for entry in entries:
                if entry.name == 'package.xml':
                    has_package = True
                elif (
                    entry.is_dir(follow_symlinks=False) and not entry.name.startswith('.')
                    and entry.name not in ('build', 'log', 'meshes', 'node_modules')
                ):
                    names.append(entry.name)
    except OSError:
        return [], False
    return sorted(names), has_package


if __name__ == '__main__':
    main()
