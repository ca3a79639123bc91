# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Findings of `doctor` about one file, and the options of its examinations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from robot_identification.model import RobotModel


@dataclass(frozen=True)
class ExamineOptions:
    """Options of reading files, each for those of a kind."""

    arguments: Mapping[str, str] = field(default_factory=dict)  # of a xacro, by name
    mapping: Path | None = None  # columns and units of a table
    topic: str | None = None  # joint states of a bag
    robots: Sequence[RobotModel] = ()  # arms that recordings may be of
    joints: Sequence[str] | None = None  # of descriptions, which move; by default an arm's
    effort_unit: str | None = None  # of recordings, where the user states it


@dataclass
class Finding:
    """Finding about one file; the examinations add to it."""

    path: Path
    kind: str  # what it is
    facts: list[str] = field(default_factory=list)  # what is in it
    warnings: list[str] = field(default_factory=list)  # what is wrong with it, the worst first
    # Quantities of a motion that cannot be checked with it.
    unchecked: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what `identify` notes of the data
    error: str | None = None  # why it cannot be used

    def lines(self) -> list[str]:
        """Return what is printed: the worst first, and the conclusion last."""
        error = [] if self.error is None else f'error: {self.error}'.split('\n')
        return [
            f'{self.path}: {self.kind}',
            # Deeper than other lines, so that no name can stand for one of them.
            *(f'  {line}' if line.startswith(('error: ', '  ')) else f'    {line}'
              for line in error),
            *(f'  warning: {text}' for text in (*self.warnings, *self.notes)),
            *(f'  {fact}' for fact in self.facts),
            f'  {self._conclusion()}',
        ]

    def _conclusion(self) -> str:
        if self.error is not None:
            return 'not usable'
        if self.unchecked:
            return f'usable, without a check of {", ".join(self.unchecked)}'
        return 'usable'
