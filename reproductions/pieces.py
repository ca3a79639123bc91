# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Results of long computations, kept by name so that a reproduction can be taken up again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import json
from pathlib import Path
from typing import Any

from robot_identification.files import to_plain, write_atomically


@dataclass(frozen=True)
class Pieces:
    """
    A folder of results as JSON, one file a piece.

    A folder belongs to one version of the sources and to one BLAS kernel. Without a folder
    everything is computed.
    """

    folder: Path | None = None

    def get(self, name: str, compute: Callable[[], Any]) -> Any:
        """Return a result, plain data, from its file or by computing and keeping it."""
        path = None if self.folder is None else self.folder / f'{name}.json'
        if path is not None and path.exists():
            return json.loads(path.read_text(encoding='utf-8'))
        text = json.dumps(to_plain(compute()))
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, text)
        # Read back from its text, so that kept and computed results are the same.
        return json.loads(text)
