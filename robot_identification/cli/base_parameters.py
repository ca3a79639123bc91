# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification base-parameters`."""

import argparse
from collections.abc import Iterator
from typing import Any

from robot_identification.cli.options import add_robot_options, robot_from_options
from robot_identification.cli.output import print_json, warn
from robot_identification.errors import UsageError
from robot_identification.model import (
    BaseReduction, DEFAULT_PREFERENCE, find_symbols, FRAMES, INDEPENDENCE_TOLERANCE,
    linear_classes, link_frames, make_standard_parameters, parse_friction, physical_classes,
    PREFERENCES, PUBLISHED_ORDERS, published_rows, reduce_to_base, RobotModel, SymbolicBase,
    to_latex, to_plain, to_text, unidentifiable_reasons, upper_bound,
)

EXAMPLE = (
    'robot-identification base-parameters --robot ur5 --friction coulomb,viscous '
    '--rotor-inertia --symbolic'
)
CLASS_WORDS = {
    'identifiable': 'identifiable alone',
    'combined': 'only in a combination',
    'unidentifiable': 'no motion shows them',
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_robot_options(parser)
    parser.add_argument(
        '--friction', default='none', metavar='LAWS',
        help='comma list of friction laws, or none (default: %(default)s)',
    )
    parser.add_argument(
        '--rotor-inertia', action=argparse.BooleanOptionalAction, default=False,
        help='include reflected rotor inertias (default: no)',
    )
    parser.add_argument(
        '--frames', choices=FRAMES,
        help='frames of the parameters of a link: joint frames of the URDF (default), '
        'standard (dh) or modified (mdh) Denavit-Hartenberg frames',
    )
    parser.add_argument(
        '--preference', choices=PREFERENCES,
        help=f'parameters that lead the combinations (default: {DEFAULT_PREFERENCE})',
    )
    parser.add_argument(
        '--as-published', choices=PUBLISHED_ORDERS,
        help='frames, leading parameters and order of a published work',
    )
    parser.add_argument(
        '--symbolic', action='store_true',
        help="write coefficients as products of the arm's lengths",
    )
    parser.add_argument('--latex', action='store_true', help='print the expressions as LaTeX')


def run(args: argparse.Namespace) -> None:
    """Print rank, classes and expressions."""
    if args.as_published and (args.frames or args.preference):
        raise UsageError('--as-published sets --frames and --preference: leave those out')
    robot = robot_from_options(args)
    parameters = make_standard_parameters(
        robot.n, parse_friction(args.friction), args.rotor_inertia
    )
    order = PUBLISHED_ORDERS[args.as_published] if args.as_published else None
    frames = link_frames(robot, order.frames if order else args.frames or 'joint')
    reduction = reduce_to_base(
        robot, parameters, frames=frames,
        preference=order.preference if order else args.preference or DEFAULT_PREFERENCE,
    )
    rows = published_rows(reduction, order) if order else list(range(reduction.rank))
    symbolic = (
        find_symbols(robot, reduction, frames) if args.symbolic or args.latex else None
    )
    if reduction.neglected:
        warn(
            f'counted as dependent: {", ".join(reduction.neglected)}; the geometry shows them by '
            f'less than {INDEPENDENCE_TOLERANCE:g} of their size, for axes and gravity are a '
            'little off the parallel or perpendicular'
        )
    reasons = unidentifiable_reasons(robot, reduction, frames)
    content = _content(robot, reduction, rows, symbolic, reasons)
    if args.json:
        print_json(content)
    elif args.latex and symbolic is not None:
        print('\n'.join(_latex_lines(reduction, rows, symbolic)))
    else:
        print('\n'.join(_lines(content)))


def _content(
    robot: RobotModel, reduction: BaseReduction, rows: list[int], symbolic: SymbolicBase | None,
    reasons: dict[str, str],
) -> dict[str, Any]:
    """Return what --json prints, and the text shows."""
    units = reduction.units_of(robot)
    base: list[dict[str, Any]] = [
        {'name': reduction.names[row], 'unit': units[row], 'expression': reduction.expression(row)}
        for row in rows
    ]
    content = {
        'robot': robot.name,
        'joints': list(robot.joint_names),
        'frames': reduction.frames,
        'preference': reduction.preference,
        'gravity': robot.gravity,
        'standard_parameters': reduction.parameters.size,
        'rank': reduction.rank,
        'upper_bound_inertial': upper_bound(robot),
        'singular_values': reduction.singular_values,
        'cumulative_energy': reduction.cumulative_energy,
        'neglected': list(reduction.neglected),
        'classes': {kind: list(names) for kind, names in linear_classes(reduction).items()},
        'classes_physical': {
            kind: list(names) for kind, names in physical_classes(reduction).items()
        },
        'reasons': reasons,
        'base_parameters': base,
    }
    if symbolic is not None:
        for entry, row in zip(base, rows, strict=True):
            expression = symbolic.expressions[row]
            entry |= {
                'symbolic': to_text(expression),
                'latex': to_latex(expression),
                'terms': to_plain(expression),
            }
        content['symbols'] = {
            'constants': symbolic.constants,
            'held_out_error': symbolic.error,
            'numeric_coefficients': symbolic.numeric,
        }
    return content


def _lines(content: dict[str, Any]) -> Iterator[str]:
    """Yield rank, classes and expressions of a content."""
    gravity = ', '.join(f'{value:.4g}' for value in content['gravity'])
    yield (
        f'{content["robot"]}: {content["rank"]} base parameters of '
        f'{content["standard_parameters"]} standard ones, gravity ({gravity}) m/s^2, in '
        f'{FRAMES[content["frames"]]}'
    )
    for kind, names in content['classes'].items():
        yield f'  {CLASS_WORDS[kind]} ({len(names)}): {" ".join(names) or "none"}'
    counts = '/'.join(str(len(names)) for names in content['classes_physical'].values())
    yield f'  counted by masses and centres instead of first moments: {counts}'
    reasons = content['reasons']
    for reason in dict.fromkeys(reasons.values()):
        yield f'  {" ".join(name for name in reasons if reasons[name] == reason)}: {reason}'
    yield 'Joints: ' + ', '.join(
        f'{number} {name}' for number, name in enumerate(content['joints'], start=1)
    )
    if symbols := content.get('symbols'):
        lengths = [f'{name} = {value:g} m' for name, value in symbols['constants'].items()]
        yield f'Lengths: {", ".join(lengths) or "none"}'
        yield _error_words(symbols['held_out_error'], symbols['numeric_coefficients'])
    for number, entry in enumerate(content['base_parameters'], start=1):
        text = entry.get('symbolic', entry['expression'])
        yield f'{number:4d}  {text}  [{entry["unit"]}]'


def _error_words(error: float, numeric: int) -> str:
    words = f'Error on held-out lengths: {error:.1e}'
    if numeric:
        words += f' ({numeric} coefficients follow no law of two lengths and stay numbers)'
    return words


def _latex_lines(
    reduction: BaseReduction, rows: list[int], symbolic: SymbolicBase
) -> Iterator[str]:
    yield f'% {FRAMES[reduction.frames]}; {_error_words(symbolic.error, symbolic.numeric)}'
    yield r'\begin{align}'
    for number, row in enumerate(rows, start=1):
        end = '' if number == len(rows) else r' \\'
        yield rf'  \theta_{{{number}}} &= {to_latex(symbolic.expressions[row])}{end}'
    yield r'\end{align}'
