# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The names of a description without the prefix that tells two arms of one cell apart."""

from __future__ import annotations

import re

_NAMES = r'(\b(?:name|link|joint)\s*=\s*["\'])'


def without_prefix(text: str, prefix: str) -> str:
    """
    Return a URDF with the names of links and joints as they are without a prefix.

    Parameters
    ----------
    text : str
        The URDF.
    prefix : str
        `tf_prefix` of the driver, put before every name verbatim.

    """
    return re.sub(_NAMES + re.escape(prefix), r'\1', text) if prefix else text
