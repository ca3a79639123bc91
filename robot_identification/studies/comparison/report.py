# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The comparison of models: `compare` with its options and results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
import math
from pathlib import Path
from typing import Any

from robot_identification.blas import one_blas_thread
from robot_identification.errors import UsageError
from robot_identification.estimation import JointTest
from robot_identification.files import ResultFolder
from robot_identification.model import IdentifiedModel, load_joint_drives, load_model, load_robot
from robot_identification.options import check_options, option
from robot_identification.report import (
    attributes, bullets, fixed, json_text, Meaning, NOT_AVAILABLE, number, percent, render_page,
    text_table, wrap,
)
from robot_identification.studies.comparison.comparison import (
    compare_models, group_words, GroupDifference, LEVEL, ModelComparison, p_words,
)
from robot_identification.studies.comparison.sliding import compare_joints_of_size, JointsOfSize
from robot_identification.studies.comparison.torque_change import (
    change_of_torque, motion_of_trajectory, shared_motion, TorqueChange,
)

GROUP_HEADER = ('group', 'parameters', 'tested', 'p', 'p corrected', 'change', 'largest')
PARAMETER_HEADER = ('parameter', 'unit', 'first', 'second', 'std error', 'z', 'p')
SIZE_HEADER = ('joint', 'robot', 'model', 'deg C', 'Coulomb', 'std error', 'viscous', 'std error')
TORQUE_HEADER = ('joint', 'mean [N m]', 'RMS', 'largest', 'of limit')
COMPARISON_FILES = ('comparison.json', 'report.html', 'results.txt')
# Parameters of a group that the terminal shows; the report and the JSON file have them all.
MOST_SHOWN = 5


@dataclass(frozen=True, eq=False)
class ComparedPair:
    """The first model and another one."""

    paths: tuple[str, str]  # of both, as they were given
    comparison: ModelComparison  # the tests
    torque: TorqueChange  # along one motion


@dataclass(frozen=True, eq=False)
class CompareResult:
    """Results of `compare`."""

    # The first model and each other one; none where only joints of one size are compared.
    pairs: tuple[ComparedPair, ...]
    sizes: tuple[JointsOfSize, ...] = ()  # joints of one size, where they were asked for


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


def comparison_file_content(result: CompareResult) -> dict[str, Any]:
    """Return the content of comparison.json (docs/formats/comparison.md); NaN stays NaN."""
    return {
        'schema_version': 1,
        'pairs': [
            {
                'first': pair.paths[0],
                'second': pair.paths[1],
                **attributes(pair.comparison, 'verdict', 'differ', 'notes'),
                'level': LEVEL,
                'groups': [_group_content(group) for group in pair.comparison.groups],
                'torque': attributes(
                    pair.torque, 'joints', 'samples', 'mean', 'rms', 'largest',
                    share_of_limit='share',
                ),
            }
            for pair in result.pairs
        ],
        'joints_of_size': [asdict(size) for size in result.sizes],
    }


def _group_content(group: GroupDifference) -> dict[str, Any]:
    test = JointTest(math.nan, (math.nan, math.nan), math.nan) if group.test is None else (
        group.test
    )
    return {
        **attributes(group, 'group', 'moved', 'p_corrected', 'directions', 'change', 'notes'),
        **attributes(test, 'p_value', 'statistic', degrees_of_freedom='freedom'),
        'parameters': [
            attributes(
                entry, 'name', 'unit', 'first', 'second', 'standard_error', 'z', 'p_value'
            )
            for entry in group.parameters
        ],
    }


def comparison_text(result: CompareResult) -> str:
    """Return a comparison as plain text, at most 100 columns wide."""
    lines: list[str] = []
    for pair in result.pairs:
        lines += _pair_lines(pair)
    for size in result.sizes:
        lines += _size_lines(size)
    return '\n'.join(lines).rstrip() + '\n'


def comparison_meaning(pair: ComparedPair) -> Meaning:
    """Return what the comparison of two models means: the findings, and how much torque it is."""
    joints, largest = pair.torque.joints, pair.torque.largest
    most = max(range(len(joints)), key=lambda joint: float(largest[joint]))
    torque = (
        f'along one motion their torques differ by {number(float(largest[most]))} '
        f'{pair.torque.unit(most)} at most ({joints[most]}, '
        f'{percent(float(pair.torque.share[most]))} of its limit)'
    )
    groups = sorted(pair.comparison.groups, key=lambda group: not group.moved)
    findings = (group.describe() for group in groups)
    differ = pair.comparison.differ
    return Meaning(
        'They differ' if differ else 'No difference beyond chance',
        'usable' if differ else 'good',
        (*findings, torque),
        'find out what changed between the recordings: payload, mounting, temperature, wear'
        if differ else
        'keep the model with the smaller errors on unseen motion; more data may still show a '
        'difference',
    )


def render_comparison_report(result: CompareResult, command_line: str = '') -> str:
    """Return the report of a comparison, one HTML file that needs no network."""
    return render_page(
        'comparison.html.j2',
        pairs=[
            {
                'paths': pair.paths,
                'meaning': comparison_meaning(pair),
                'notes': pair.comparison.notes,
                'groups': [_group_row(group) for group in pair.comparison.groups],
                'parameters': [
                    (group_words(group.group), _parameter_rows(group), group.notes)
                    for group in pair.comparison.groups
                ],
                'torque': torque_rows(pair.torque),
                'samples': pair.torque.samples,
            }
            for pair in result.pairs
        ],
        sizes=[
            (size.size, _size_rows(size), _size_words(size)) for size in result.sizes
        ],
        group_header=GROUP_HEADER,
        parameter_header=PARAMETER_HEADER,
        torque_header=TORQUE_HEADER,
        size_header=SIZE_HEADER,
        command_line=command_line,
    )


def _pair_lines(pair: ComparedPair) -> list[str]:
    lines = [
        *wrap(f'{pair.paths[1]} against {pair.paths[0]}'),
        *bullets(pair.comparison.verdict), '',
        *text_table(GROUP_HEADER, [_group_row(group) for group in pair.comparison.groups]),
    ]
    for group in pair.comparison.groups:
        if group.moved:
            rows = _parameter_rows(group, MOST_SHOWN)
            lines += ['', *text_table(PARAMETER_HEADER, rows)]
    lines += [
        '', *wrap(f'Difference of torque along a motion of {pair.torque.samples} samples:'),
        *text_table(TORQUE_HEADER, torque_rows(pair.torque)),
    ]
    of_groups = [
        f'{group_words(group.group)}: {note}'
        for group in pair.comparison.groups for note in group.notes
    ]
    return [*lines, *bullets([*pair.comparison.notes, *of_groups]), '']


def _size_lines(size: JointsOfSize) -> list[str]:
    return [
        *wrap(f'Joints of size {size.size}, friction on the side of the motor [N m, N m s/rad]'),
        *text_table(SIZE_HEADER, _size_rows(size)),
        *wrap(_size_words(size)),
        '',
    ]


def _group_row(group: GroupDifference) -> tuple[str, ...]:
    far = group.largest
    return (
        group.group.replace('_', ' '),
        str(len(group.parameters)),
        str(group.directions),
        NOT_AVAILABLE if group.test is None else _chance(group.test.p_value),
        _chance(group.p_corrected),
        percent(group.change),
        NOT_AVAILABLE if far is None else f'{far.name} {far.z:+.1f}',
    )


def _parameter_rows(group: GroupDifference, most: int | None = None) -> list[tuple[str, ...]]:
    """Return the parameters of a group, or those that differ most."""
    entries = group.parameters if most is None else sorted(
        (entry for entry in group.parameters if math.isfinite(entry.z)),
        key=lambda entry: -abs(entry.z),
    )[:most]
    return [
        (
            entry.name, entry.unit, number(entry.first, 4), number(entry.second, 4),
            number(entry.standard_error, 2), fixed(entry.z, 1), _chance(entry.p_value),
        )
        for entry in entries
    ]


def _chance(p_value: float) -> str:
    return p_words(p_value).lstrip('=') if math.isfinite(p_value) else NOT_AVAILABLE


def torque_rows(torque: TorqueChange) -> list[tuple[str, ...]]:
    """Return the cells of the table of a change of torque; titles are TORQUE_HEADER."""
    return [
        (name, number(float(mean)), number(float(rms)), number(float(largest)),
         percent(float(share)))
        for name, mean, rms, largest, share in zip(
            torque.joints, torque.mean, torque.rms, torque.largest, torque.share, strict=True
        )
    ]


def _size_rows(size: JointsOfSize) -> list[Sequence[str]]:
    return [
        (
            joint.joint, joint.robot, str(joint.model), fixed(joint.temperature, 1),
            number(joint.coulomb), number(joint.coulomb_error, 2),
            number(joint.viscous), number(joint.viscous_error, 2),
        )
        for joint in size.joints
    ]


def _size_words(size: JointsOfSize) -> str:
    if len(size.joints) < 2:
        return 'The only joint of its size.'
    return (
        f'Largest over smallest: Coulomb {fixed(size.coulomb_spread, 2)} '
        f'(p{p_words(size.coulomb_p)}), viscous {fixed(size.viscous_spread, 2)} '
        f'(p{p_words(size.viscous_p)}). A small p says that they differ by more than the errors '
        'of the models; temperature, wear and drive gains do that.'
    )
