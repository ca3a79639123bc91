# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification export`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from robot_identification import load_model
from robot_identification.cli.command import add_command
from robot_identification.cli.options import (
    add_force_option, add_json_option, add_model_argument,
)
from robot_identification.cli.output import print_json, say, warn
from robot_identification.errors import UsageError
from robot_identification.export import (
    body_changes, ChangedFiles, describe_left_out, EXPORTERS, ExportOptions, fit_all_frictions,
    FORMS, is_scene, LinkChange, make_mjcf, make_urdf, PackOptions, PLAIN, SceneOptions,
    simulation_pack,
)
from robot_identification.files import check_writable, write_files
from robot_identification.model import describe_compensated_gravity, IdentifiedModel
from robot_identification.recording import parse_joint_names
from robot_identification.report import fixed, number, text_table
from robot_identification.validation import BAD, findings_in, limits_in, SIMULATION

# Names of the options whose file can also be written into one that is there.
URDF, SCENE = 'urdf', 'mjcf'
PLUGINS = 'ros2-control'
# Options of --sim alone, as `PackOptions` has them.
PACK = ('models', 'seed', 'usd_joints')


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, 'export',
        'robot-identification export result/identified_model.yaml --urdf ur5_identified.urdf '
        '--mjcf ur5.xml', run,
    )
    add_model_argument(parser)
    parser.add_argument(
        '--urdf', type=Path, metavar='OUT', help='URDF with identified inertials and friction'
    )
    for name, (what, _) in EXPORTERS.items():
        parser.add_argument(f'--{name}', type=Path, metavar='OUT', help=what)
    defaults = PackOptions()
    parser.add_argument(
        '--sim', type=Path, metavar='DIR',
        help='folder for simulators: URDF, MJCF, a USD layer for PhysX and Newton, actuators for '
        'Isaac Lab, and models to randomize over',
    )
    parser.add_argument(
        '--models', type=int, metavar='N',
        help=f'number of models in --sim, drawn from the covariance; default {defaults.models}',
    )
    parser.add_argument(
        '--seed', type=int, help=f'seed of these models; default {defaults.seed}',
    )
    parser.add_argument(
        '--usd-joints', metavar='PATH',
        help='prim of the USD that holds the joints, in --sim; default /ROBOT/joints',
    )
    _add_scene_options(parser)
    parser.add_argument(
        '--friction-form', choices=tuple(FORMS),
        help='friction of joints in MJCF: ' + '; '.join(
            f'{form}, {what}' for form, what in FORMS.items()
        ) + f'; default {PLAIN}',
    )
    add_force_option(parser)
    add_json_option(parser)


def _add_scene_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for a file of the user that is changed."""
    parser.add_argument(
        '--into', type=Path, metavar='FILE',
        help='your URDF or MuJoCo scene, in which --urdf or --mjcf changes identified values '
        'only; without an output the changes are shown',
    )
    parser.add_argument(
        '--diff', action='store_true',
        help='print the changes of the file as a patch, and everything else on stderr',
    )
    parser.add_argument(
        '--joint-names', metavar='SCENE=MODEL,..',
        help='joints with other names in the scene than in the model',
    )
    parser.add_argument(
        '--override-defaults', action='store_true',
        help='give joints of a scene attributes of their own where their class has a default',
    )
    parser.add_argument(
        '--extra-bodies', nargs='+', metavar='BODY', default=[],
        help='bodies of the scene that were not on the arm when it was identified',
    )


def run(args: argparse.Namespace) -> int:
    """Export the model."""
    changed_format = _changed_format(args)
    outputs = _outputs(args, changed_format)
    options = ExportOptions(args.friction_form or PLAIN)
    asked = {name: value for name in PACK if (value := getattr(args, name)) is not None}
    model = _load(args.model)
    pack = {} if args.sim is None else simulation_pack(
        model, PackOptions(friction_form=options.friction_form, **asked)
    )
    changed = _change_file(args, model, changed_format)
    contents: dict[Path, str | bytes] = {}
    for name, path in outputs.items():
        if changed is not None and name == changed_format:
            contents |= changed.outputs(path)
        else:
            contents[path] = EXPORTERS[name][1](model, options)
    in_pack = {args.sim / name: text for name, text in pack.items()}
    contents |= in_pack
    write_files(contents, args.force)
    written = {**outputs, **({'files': list(contents)} if len(contents) > len(outputs) else {})}
    # Of a pack one line is enough.
    places = [path for path in contents if path not in in_pack]
    places += [] if args.sim is None else [args.sim]
    diff = None
    if changed is not None and (args.diff or not contents):
        diff = changed.diff(outputs.get(changed_format, args.into))
    changes = body_changes(model) if changed is None else changed.links
    masses = _masses(model, changed)
    hidden = describe_compensated_gravity(model.robot, model.parameters)
    notes = (*filter(None, [hidden]), *(() if changed is None else changed.notes))
    if changed_format == SCENE or SCENE in outputs:
        notes += _worst_frictions(model, options.friction_form)
    if PLUGINS in outputs and (left_out := describe_left_out(model)):
        notes += (left_out,)
    if args.json:
        print_json({
            **written,
            'links': [vars(change) for change in changes],
            'mass_before': masses[0],
            'mass_after': masses[1],
            **({'notes': list(notes)} if notes else {}),
            **({} if diff is None else {'diff': diff}),
        })
        return 0
    # A diff stands alone on stdout, so that it can be kept as a patch.
    write = print if diff is None else say
    if diff is not None:
        print(_harmless(diff), end='')
    for line in (*_summary(changes, masses), *notes):
        write(line)
    for path in places:
        write(f'written to {path}')
    return 0


def _load(path: Path) -> IdentifiedModel:
    """Return a model, with warnings of its verdict and of what was suspected of its data."""
    model = load_model(path)
    if model.quality.get('verdict') == BAD:
        reasons = '; '.join(map(str, model.quality.get('reasons', ())))
        warn(f'the verdict on the model is {BAD}: {reasons}')
    for limit in limits_in(model.quality):
        if limit.use == SIMULATION:
            warn(f'{limit.level} for {limit.use}: {limit.reason}')
    findings = findings_in(model.quality)
    for finding in (*findings.warnings, *findings.contradictions):
        warn(str(finding))
    return model


def _worst_frictions(model: IdentifiedModel, form: str) -> tuple[str, ...]:
    """Return how well a form holds the friction of the joint that it holds worst."""
    frictions = fit_all_frictions(model, form)
    worst = max(range(len(frictions)), key=lambda joint: frictions[joint].misfit)
    # What the form holds exactly is not worth a line; the rest is rounding.
    if frictions[worst].misfit <= 1e-9 * frictions[worst].size:
        return ()
    return (frictions[worst].describe(model.robot.joint_names[worst]),)


def _changed_format(args: argparse.Namespace) -> str:
    """Return the format of the file that is changed: of --into, else the model's own URDF."""
    if args.into is not None and is_scene(args.into):
        return SCENE
    for option in ('joint_names', 'override_defaults', 'extra_bodies'):
        if getattr(args, option):
            raise UsageError(
                f'--{option.replace("_", "-")} is about a MuJoCo scene: name it by --into FILE'
            )
    return URDF


def _change_file(
    args: argparse.Namespace, model: IdentifiedModel, changed_format: str
) -> ChangedFiles | None:
    """Return the user's file, or the model's own, with what was identified; None if not wanted."""
    if changed_format == SCENE:
        return make_mjcf(model, args.into, SceneOptions(
            parse_joint_names(args.joint_names), args.override_defaults, tuple(args.extra_bodies),
            args.friction_form or PLAIN,
        ))
    return None if args.urdf is None and args.into is None else make_urdf(model, args.into)


def _outputs(args: argparse.Namespace, changed_format: str) -> dict[str, Path]:
    """Return what is to be written where, after checking that it may be."""
    outputs: dict[str, Path] = {
        name: path for name in (URDF, *EXPORTERS)
        if (path := getattr(args, name.replace('-', '_'))) is not None
    }
    if not outputs and args.into is None and args.sim is None:
        *first, last = (f'--{name}' for name in (URDF, *EXPORTERS))
        raise UsageError(
            f'export writes nothing: name at least one of {", ".join(first)} and {last}'
        )
    if args.into is not None and outputs and changed_format not in outputs:
        raise UsageError(
            f'{args.into} is {"a MuJoCo scene" if changed_format == SCENE else "a URDF"}: name '
            f'where it is written with what was identified by --{changed_format} OUT'
        )
    if args.diff and args.into is None and args.urdf is None:
        raise UsageError('--diff is about a file that is changed: name it by --into FILE')
    for option in PACK:
        if args.sim is None and getattr(args, option) is not None:
            raise UsageError(
                f'--{option.replace("_", "-")} is about a pack: name its folder by --sim DIR'
            )
    if args.friction_form and args.sim is None and SCENE not in (changed_format, *outputs):
        raise UsageError('--friction-form is about MJCF: name it by --mjcf OUT or --sim DIR')
    places: dict[Path, str] = {args.model.resolve(): 'MODEL'}
    for name, path in outputs.items():
        other = places.setdefault(path.resolve(), f'--{name}')
        if other != f'--{name}':
            raise UsageError(f'{path} is {other} and --{name}: name two different files')
        check_writable(path, args.force)
    return outputs


def _masses(
    model: IdentifiedModel, changed: ChangedFiles | None
) -> tuple[float, float]:
    """Return the mass of all that moves before and after [kg]."""
    if changed is not None:
        return changed.mass_before, changed.mass_after
    changes = body_changes(model)
    return (
        sum(change.mass_before for change in changes),
        sum(change.mass_after for change in changes),
    )


def _summary(changes: tuple[LinkChange, ...], masses: tuple[float, float]) -> list[str]:
    """Return the links that changed as a table."""
    rows = [
        (
            change.link, number(change.mass_before, 4), number(change.mass_after, 4),
            'n/a' if change.centre_moved is None else fixed(1e3 * change.centre_moved, 1),
        )
        for change in changes
    ]
    rows.append(('all that moves', number(masses[0], 4), number(masses[1], 4), ''))
    return text_table(('link', 'kg before', 'kg after', 'centre moved mm'), rows)


def _harmless(text: str) -> str:
    """Return a text that cannot steer a terminal, with its tabs and ends of lines."""
    return ''.join(
        letter if letter.isprintable() or letter in '\t\r\n' else '?' for letter in text
    )
