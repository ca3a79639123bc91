# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Changes of an export: inertials of links, and the files of a user."""

from dataclasses import dataclass
import difflib
import os
from pathlib import Path

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.export.arm import check_consistent, links_of_joints
from robot_identification.model import IdentifiedModel, prior_inertial_parameters


@dataclass(frozen=True)
class LinkChange:
    """A link whose inertial is another one."""

    link: str  # its name
    # [kg].
    mass_before: float
    mass_after: float
    # How far its centre of mass is from where it was [m]; None where it had no mass, or has none.
    centre_moved: float | None


def change_of_link(link: str, before: FloatArray, after: FloatArray) -> LinkChange:
    """Return what two sets of inertial parameters of a link, (10,), differ by."""
    moved = None
    if before[0] > 0.0 and after[0] > 0.0:
        moved = float(np.linalg.norm(after[1:4] / after[0] - before[1:4] / before[0]))
    return LinkChange(link, float(before[0]), float(after[0]), moved)


def body_changes(model: IdentifiedModel) -> tuple[LinkChange, ...]:
    """
    Return the differences of a model's moving bodies from those of its description.

    Each body includes all links that are fixed to it or stand on locked joints. Raises
    InconsistentModelError if the model is not physically consistent.
    """
    robot = model.robot
    after = check_consistent(model)[: 10 * robot.n].reshape(-1, 10)
    before = prior_inertial_parameters(robot).reshape(-1, 10)
    _, carried = links_of_joints(robot.urdf.text)
    return tuple(
        change_of_link(carried[name], *pair)
        for name, *pair in zip(robot.joint_names, before, after, strict=True)
    )


@dataclass(frozen=True)
class ChangedFiles:
    """A URDF or a scene with what was identified, and the files that it includes."""

    source: Path  # what was changed
    # All files, and what they were and became.
    before: dict[Path, bytes]
    after: dict[Path, bytes]
    links: tuple[LinkChange, ...]  # that changed
    # Of all that moves [kg].
    mass_before: float
    mass_after: float
    notes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Return what the source became."""
        return self.after[self.source].decode()

    @property
    def changed(self) -> list[Path]:
        """Return the files that changed."""
        return [path for path, data in self.before.items() if self.after[path] != data]

    def diff(self, output: Path) -> str:
        """Return what changed as one unified diff; `output` is where the source is written."""
        return ''.join(
            line for path in self.changed for line in difflib.unified_diff(
                _lines_of(self.before[path]), _lines_of(self.after[path]), str(path),
                str(self._place(path, output)),
            )
        )

    def _place(self, path: Path, output: Path) -> Path:
        """Return where a file is written if the source is written to `output`."""
        if path == self.source:
            return output
        relative = os.path.relpath(path.resolve(), self.source.resolve().parent)
        return Path(os.path.normpath(output.parent / relative))

    def outputs(self, output: Path) -> dict[Path, bytes]:
        """
        Return what is to be written where if the source is written to `output`.

        In the source's own folder these are itself and the files that changed; elsewhere all,
        since it includes them from there.
        """
        stays = output.resolve().parent == self.source.resolve().parent
        chosen = {self.source, *self.changed} if stays else set(self.before)
        return {
            self._place(path, output): self.after[path] for path in self.before if path in chosen
        }


def _lines_of(data: bytes) -> list[str]:
    """Return the lines of a text; nothing but a line feed ends one."""
    return [f'{line}\n' for line in data.decode().removesuffix('\n').split('\n')]
