# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The names of a description without the prefix that distinguishes two arms of one cell."""

from __future__ import annotations

import re

_NAMES = r'(\b(?:name|link|joint)\s*=\s*["\'])'


def without_prefix(text: str, prefix: str) -> str:
    """
    Return a URDF with the names of links and joints as they are without a prefix.

    `prefix` is the driver's `tf_prefix`, put before every name verbatim.
    """
    return re.sub(_NAMES + re.escape(prefix), r'\1', text) if prefix else text
