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

"""What a page says first: the finding in a word, what it means, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass

LEVELS = ('good', 'usable', 'bad', 'plain')


@dataclass(frozen=True)
class Meaning:
    """
    What a reader in a hurry takes away.

    Attributes
    ----------
    label : str
        The finding, in a word or two.
    level : {'good', 'usable', 'bad', 'plain'}
        Its colour; plain where a finding is neither good nor bad.
    sentences : tuple of str
        What it means, most important first.
    next_step : str
        What to do, a sentence without its full stop.

    Raises
    ------
    ValueError
        If the level is unknown.

    """

    label: str
    level: str
    sentences: tuple[str, ...]
    next_step: str

    def __post_init__(self) -> None:
        if self.level not in LEVELS:
            raise ValueError(f'level {self.level!r} is none of {", ".join(LEVELS)}')
