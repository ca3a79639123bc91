# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Names of joints in a bag and in the model, as users give them."""

from __future__ import annotations

from robot_identification.errors import UsageError


def parse_joint_names(text: str | None) -> dict[str, str]:
    """
    Return the model name by bag name from ``BAG=MODEL,BAG=MODEL,..``, empty for no text.

    Raises UsageError if the text is not of that form, or a name is used twice.
    """
    if not text:
        return {}
    pairs = [part.split('=') for part in text.split(',')]
    if any(len(pair) != 2 or not all(pair) for pair in pairs):
        raise UsageError(f'--joint-names must read BAG=MODEL,BAG=MODEL,.. but is {text!r}')
    names = {bag.strip(): model.strip() for bag, model in pairs}
    if len(names) != len(pairs) or len(set(names.values())) != len(pairs):
        raise UsageError(f'--joint-names uses a name twice: {text!r}')
    return names
