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
