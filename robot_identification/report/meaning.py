# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Head of a page: the finding, its meaning, and the next step."""

from __future__ import annotations

from dataclasses import dataclass

LEVELS = ('good', 'usable', 'bad', 'plain')


@dataclass(frozen=True)
class Meaning:
    """
    Summary for a reader in a hurry.

    `label` is the finding in a word or two, `level` its colour: 'good', 'usable', 'bad', or
    'plain' for a finding that is neither good nor bad. `sentences` explain it, the most important
    one first; `next_step` is a sentence without its full stop. Raises ValueError if the level is
    unknown.
    """

    label: str
    level: str
    sentences: tuple[str, ...]
    next_step: str

    def __post_init__(self) -> None:
        if self.level not in LEVELS:
            raise ValueError(f'level {self.level!r} is none of {", ".join(LEVELS)}')
