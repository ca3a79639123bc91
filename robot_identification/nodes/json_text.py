# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""JSON in messages, which any node of a graph may publish."""

from __future__ import annotations

import json
from typing import Any

LONGEST_JSON = 65_536  # [characters]; chosen: above what any node here publishes


def parse_object(text: str) -> dict[str, Any]:
    """Return the JSON object in a message; empty where there is none."""
    content = parse_json(text)
    return content if isinstance(content, dict) else {}


def parse_json(text: str) -> Any:
    """Return what JSON in a message holds; None where it cannot be understood."""
    if len(text) > LONGEST_JSON:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
