# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The names of a description with and without the prefix that distinguishes two arms."""

from __future__ import annotations

import re

_NAMES = r'(\b(?:name|link|joint|reference)\s*=\s*["\'])'
# Those of links and joints alone; materials, plugins and the robot have none.
_REFERENCES = re.compile(
    r'(<(?:link|joint|parent|child|mimic|gazebo)\b[^>]*?\b(?:name|link|joint|reference)'
    r'\s*=\s*["\'])'
)


def with_prefix(text: str, prefix: str) -> str:
    """Return a URDF with a prefix on links and joints, as the driver's xacro makes it."""
    return _REFERENCES.sub(lambda found: found.group(1) + prefix, text) if prefix else text


def without_prefix(text: str, prefix: str) -> str:
    """
    Return a URDF with the names of links and joints as they are without a prefix.

    `prefix` is the driver's `tf_prefix`, put before every name verbatim.
    """
    return re.sub(_NAMES + re.escape(prefix), r'\1', text) if prefix else text
