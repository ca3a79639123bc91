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

"""`robot-identification base-parameters`."""

from __future__ import annotations

import argparse
from typing import Any

from robot_identification.cli.command import add_command
from robot_identification.cli.options import add_json_option
from robot_identification.cli.options import add_robot_options
from robot_identification.cli.options import robot_from_options
from robot_identification.cli.output import print_json
from robot_identification.cli.output import warn
from robot_identification.errors import UsageError
from robot_identification.model.base_parameters import BaseReduction
from robot_identification.model.base_parameters import DEFAULT_PREFERENCE
from robot_identification.model.base_parameters import INDEPENDENCE_TOLERANCE
from robot_identification.model.base_parameters import PREFERENCES
from robot_identification.model.base_parameters import reduce_to_base
from robot_identification.model.base_parameters import upper_bound
from robot_identification.model.friction import parse_friction
from robot_identification.model.link_frames import FRAMES
from robot_identification.model.link_frames import link_frames
from robot_identification.model.parameter_classes import linear_classes
from robot_identification.model.parameter_classes import physical_classes
from robot_identification.model.parameter_classes import unidentifiable_reasons
from robot_identification.model.parameters import make_standard_parameters
from robot_identification.model.published_orders import find_order
from robot_identification.model.published_orders import PUBLISHED_ORDERS
from robot_identification.model.published_orders import published_rows
from robot_identification.model.robot_model import RobotModel
from robot_identification.model.symbols import find_symbols
from robot_identification.model.symbols import SymbolicBase
from robot_identification.model.symbols import to_latex
from robot_identification.model.symbols import to_plain
from robot_identification.model.symbols import to_text

CLASS_WORDS = {
    'identifiable': 'identifiable alone',
    'combined': 'only in a combination',
    'unidentifiable': 'no motion shows them',
}


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, 'base-parameters', 'say which parameters of an arm motion can show',
        'robot-identification base-parameters --robot ur5 --friction coulomb,viscous '
        '--rotor-inertia --symbolic', run,
    )
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
        help='where the parameters of a link are stated: joint frames of the URDF (default), '
        'standard (dh) or modified (mdh) Denavit-Hartenberg frames',
    )
    parser.add_argument(
        '--preference', choices=PREFERENCES,
        help=f'which parameters lead the combinations (default: {DEFAULT_PREFERENCE})',
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
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Print rank, classes and expressions."""
    if args.as_published and (args.frames or args.preference):
        raise UsageError('--as-published sets --frames and --preference: leave those out')
    robot = robot_from_options(args)
    parameters = make_standard_parameters(
        robot.n, parse_friction(args.friction), args.rotor_inertia
    )
    order = find_order(args.as_published) if args.as_published else None
    frames = link_frames(robot, order.frames if order else args.frames or 'joint')
    reduction = reduce_to_base(
        robot, parameters, frames=frames,
        preference=order.preference if order else args.preference or DEFAULT_PREFERENCE,
    )
    rows = published_rows(reduction, order) if order else list(range(reduction.rank))
    symbolic = (
        find_symbols(robot, reduction, frames) if args.symbolic or args.latex else None
    )
    reasons = unidentifiable_reasons(robot, reduction, frames)
    if reduction.neglected:
        warn(
            f'counted as dependent: {", ".join(reduction.neglected)}; the geometry shows them by '
            f'less than {INDEPENDENCE_TOLERANCE:g} of their size, for axes and gravity are a '
            'little off the parallel or perpendicular'
        )
    if args.json:
        print_json(_content(robot, reduction, rows, symbolic, reasons))
    elif args.latex and symbolic is not None:
        _print_latex(reduction, rows, symbolic)
    else:
        _print_text(robot, reduction, rows, symbolic, reasons)
    return 0


def _content(
    robot: RobotModel, reduction: BaseReduction, rows: list[int], symbolic: SymbolicBase | None,
    reasons: dict[str, str],
) -> dict[str, Any]:
    base = []
    for row in rows:
        entry: dict[str, Any] = {
            'name': reduction.names[row],
            'unit': reduction.units[row],
            'expression': reduction.expression(row),
        }
        if symbolic is not None:
            expression = symbolic.expressions[row]
            entry |= {
                'symbolic': to_text(expression),
                'latex': to_latex(expression),
                'terms': to_plain(expression),
            }
        base.append(entry)
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
        content['symbols'] = {
            'constants': symbolic.constants,
            'held_out_error': symbolic.error,
            'numeric_coefficients': symbolic.numeric,
        }
    return content


def _print_text(
    robot: RobotModel, reduction: BaseReduction, rows: list[int], symbolic: SymbolicBase | None,
    reasons: dict[str, str],
) -> None:
    gravity = ', '.join(f'{value:.4g}' for value in robot.gravity)
    print(
        f'{robot.name}: {reduction.rank} base parameters of {reduction.parameters.size} standard '
        f'ones, gravity ({gravity}) m/s^2, in {FRAMES[reduction.frames]}'
    )
    linear, physical = linear_classes(reduction), physical_classes(reduction)
    for kind, names in linear.items():
        print(f'  {CLASS_WORDS[kind]} ({len(names)}): {" ".join(names) or "none"}')
    counts = '/'.join(str(len(names)) for names in physical.values())
    print(f'  counted by masses and centres instead of first moments: {counts}')
    for reason in dict.fromkeys(reasons.values()):
        because = ' '.join(name for name in reasons if reasons[name] == reason)
        print(f'  {because}: {reason}')
    print('Joints: ' + ', '.join(
        f'{number} {name}' for number, name in enumerate(robot.joint_names, start=1)
    ))
    if symbolic is not None:
        lengths = ', '.join(f'{name} = {value:g} m' for name, value in symbolic.constants.items())
        print(f'Lengths: {lengths or "none"}')
        print(f'Error on held-out lengths: {symbolic.error:.1e}{_numeric_words(symbolic)}')
    for number, row in enumerate(rows, start=1):
        text = (
            reduction.expression(row) if symbolic is None else to_text(symbolic.expressions[row])
        )
        print(f'{number:4d}  {text}  [{reduction.units[row]}]')


def _numeric_words(symbolic: SymbolicBase) -> str:
    if not symbolic.numeric:
        return ''
    return f' ({symbolic.numeric} coefficients follow no law of two lengths and stay numbers)'


def _print_latex(reduction: BaseReduction, rows: list[int], symbolic: SymbolicBase) -> None:
    print(f'% {FRAMES[reduction.frames]}; error on held-out lengths {symbolic.error:.1e}'
          f'{_numeric_words(symbolic)}')
    print(r'\begin{align}')
    lines = [rf'  \theta_{{{number}}} &= {to_latex(symbolic.expressions[row])}'
             for number, row in enumerate(rows, start=1)]
    print(' \\\\\n'.join(lines))
    print(r'\end{align}')
