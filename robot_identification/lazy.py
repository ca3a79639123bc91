# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Names of a package that are imported when they are first used, listed in its stub file."""

import ast
from collections.abc import Callable
import importlib
from pathlib import Path
import sys
from typing import Any


def lazy_names(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """
    Return `__getattr__`, `__dir__` and `__all__` of a package whose public names are in its stub.

    The stub ``__init__.pyi`` lists each name once, as ``from .module import Name as Name``, for
    type checkers, editors and this function (as Scientific Python's SPEC 1 proposes): importing a
    package costs nothing until one of its names is used. `package` and `file` are the package's
    `__name__` and `__file__`.
    """
    stub = Path(file).with_suffix('.pyi')
    modules = {
        alias.name: '.' * statement.level + (statement.module or '')
        for statement in ast.parse(stub.read_text(encoding='utf-8')).body
        if isinstance(statement, ast.ImportFrom) for alias in statement.names
    }

    def get_name(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f'module {package!r} has no attribute {name!r}')
        if modules[name] == '.':  # a module of the package
            return importlib.import_module(f'.{name}', package)
        value = getattr(importlib.import_module(modules[name], package), name)
        setattr(sys.modules[package], name, value)  # next time without this function
        return value

    def list_names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *modules})

    return get_name, list_names, sorted(modules)
