# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""JSON for scripts, in files and on stdout: plain numbers, and null where there is none."""

from __future__ import annotations

from collections.abc import Mapping
import json
import math
from typing import Any

from robot_identification.files import to_plain


def json_text(content: Mapping[str, Any]) -> str:
    """Return the text of a JSON file; arrays become lists, what is not finite becomes null."""
    return json.dumps(_finite(to_plain(content)), indent=2, allow_nan=False) + '\n'


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
