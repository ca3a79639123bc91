# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The comparison of models as one function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from robot_identification.blas import one_blas_thread
from robot_identification.errors import UsageError
from robot_identification.files import ResultFolder
from robot_identification.model import IdentifiedModel, load_joint_drives, load_model, load_robot
from robot_identification.options import check_options, option
from robot_identification.report import json_text
from robot_identification.studies.comparison.comparison import compare_models
from robot_identification.studies.comparison.report import (
    ComparedPair, CompareResult, comparison_file_content, comparison_text,
    render_comparison_report,
)
from robot_identification.studies.comparison.sliding import compare_joints_of_size, JointsOfSize
from robot_identification.studies.comparison.torque_change import (
    change_of_torque, motion_of_trajectory, shared_motion,
)

COMPARISON_FILES = ('comparison.json', 'report.html', 'results.txt')


@dataclass(frozen=True)
class ComparisonOptions:
    """Options of the comparison of models; raises UsageError if two contradict each other."""

    joints_of_size: bool = option(
        bool, 'compare friction of joints with the same drive, instead of parameters',
        default=False,
    )
    robots: tuple[str, ...] | None = option(
        str, 'known robots or robot YAMLs with drives and gear ratios, one for each model',
        otherwise='those with the names of the arms', count='+', metavar='R',
    )
    trajectory: Path | None = option(
        Path, 'trajectory along which torques are compared',
        otherwise='a slow motion within the limits', metavar='FILE',
    )

    def __post_init__(self) -> None:
        check_options(self)
        if self.robots is not None and not self.joints_of_size:
            raise UsageError('--robots is for --joints-of-size')
        if self.joints_of_size and self.trajectory is not None:
            raise UsageError('--trajectory is for models of one arm, not for --joints-of-size')


@one_blas_thread()
def run_comparison(
    paths: Sequence[Path], options: ComparisonOptions | None = None,
    folder: ResultFolder | None = None,
) -> CompareResult:
    """
    Compare models with the first one, or joints of one size.

    `paths` are model files; without `folder` nothing is written. Raises DataError if the models
    are of different arms or have nothing in common, UsageError if a file, an option or the folder
    cannot be used.
    """
    options = ComparisonOptions() if options is None else options
    if folder is not None:
        folder.check(COMPARISON_FILES)
    models = [load_model(path) for path in paths]
    result = (
        CompareResult((), _compare_sizes(models, options.robots)) if options.joints_of_size
        else CompareResult(_compare_pairs(models, paths, options.trajectory))
    )
    if folder is not None:
        folder.write({
            'comparison.json': json_text(comparison_file_content(result)),
            'report.html': render_comparison_report(result, folder.command_line),
            'results.txt': comparison_text(result),
        })
    return result


def _compare_pairs(
    models: Sequence[IdentifiedModel], paths: Sequence[Path], trajectory: Path | None
) -> tuple[ComparedPair, ...]:
    if len(models) < 2:
        raise UsageError('compare needs two models or more, each of which meets the first')
    first = models[0]
    pairs = []
    for path, other in zip(paths[1:], models[1:], strict=True):
        comparison = compare_models(first, other)
        motion = shared_motion((first, other)) if trajectory is None else motion_of_trajectory(
            trajectory, first.robot.joint_names
        )
        pairs.append(ComparedPair(
            (str(paths[0]), str(path)), comparison, change_of_torque(first, other, motion)
        ))
    return tuple(pairs)


def _compare_sizes(
    models: Sequence[IdentifiedModel], robots: Sequence[str] | None
) -> tuple[JointsOfSize, ...]:
    if robots is not None and len(robots) != len(models):
        raise UsageError(
            f'--robots names {len(robots)} robots for {len(models)} models: name one for each'
        )
    names = robots or [model.robot.name for model in models]
    drives, ratios = [], []
    for name, model in zip(names, models, strict=True):
        drives.append(load_joint_drives(name))
        joints = list(model.robot.joint_names)
        ratios.append(load_robot(name, joints=joints).drives.gear_ratio)
    return compare_joints_of_size(models, drives, ratios)
