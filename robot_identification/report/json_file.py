# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""JSON for scripts, in files and on stdout: plain numbers, and null where there is none."""

from __future__ import annotations

from collections.abc import Mapping
import json
from typing import Any

from robot_identification.files import to_finite


def json_text(content: Mapping[str, Any]) -> str:
    """Return the text of a JSON file; arrays become lists, what is not finite becomes null."""
    return json.dumps(to_finite(content), indent=2, allow_nan=False) + '\n'
