# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification export`."""

import argparse
from pathlib import Path

from robot_identification import load_model
from robot_identification.cli.options import (
    add_force_option, add_model_argument, options_given,
)
from robot_identification.cli.output import print_results, say, warn
from robot_identification.errors import UsageError
from robot_identification.export import (
    body_changes, ChangedFiles, describe_left_out, export_mjcf, EXPORTERS, ExportOptions,
    fit_all_frictions, is_scene, LinkChange, make_mjcf, make_urdf, simulation_pack,
)
from robot_identification.files import check_writable, write_files
from robot_identification.model import describe_compensated_gravity, IdentifiedModel
from robot_identification.options import add_arguments
from robot_identification.report import fixed, number, text_table
from robot_identification.validation import BAD, findings_in, limits_in, SIMULATION

EXAMPLE = (
    'robot-identification export result/identified_model.yaml --urdf ur5_identified.urdf '
    '--mjcf ur5.xml'
)
# Names of the options whose file can also be written into one that is there.
URDF, SCENE = 'urdf', 'mjcf'
PLUGINS = 'ros2-control'
# Options of --sim alone, and of a scene alone.
OF_PACK = ('models', 'seed', 'usd_joints')
OF_SCENE = ('joint_names', 'override_defaults', 'extra_bodies')


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_model_argument(parser)
    for name, exporter in EXPORTERS.items():
        parser.add_argument(f'--{name}', type=Path, metavar='OUT', help=exporter.about)
    parser.add_argument(
        '--sim', type=Path, metavar='DIR',
        help='folder for simulators: URDF, MJCF, a USD layer for PhysX and Newton, actuators for '
        'Isaac Lab, and models to randomize over',
    )
    parser.add_argument(
        '--into', type=Path, metavar='FILE',
        help='your URDF or MuJoCo scene, in which --urdf or --mjcf changes identified values '
        'only; without an output the changes are shown',
    )
    parser.add_argument(
        '--diff', action='store_true',
        help='print the changes of the file as a patch, and everything else on stderr',
    )
    add_arguments(parser, ExportOptions)
    add_force_option(parser)


def run(args: argparse.Namespace) -> None:
    """Export the model."""
    changed_format = SCENE if args.into is not None and is_scene(args.into) else URDF
    outputs = _outputs(args, changed_format)
    options = options_given(args, ExportOptions)
    model = _load(args.model)
    pack = {} if args.sim is None else {
        args.sim / name: text for name, text in simulation_pack(model, options).items()
    }
    changed = _change_file(args, model, changed_format, options)
    contents: dict[Path, str | bytes] = {}
    for name, path in outputs.items():
        if changed is not None and name == changed_format:
            contents |= changed.outputs(path)
        elif name == SCENE:
            contents[path] = export_mjcf(model, options.friction_form)
        else:
            contents[path] = EXPORTERS[name].write(model)
    # Of a pack one line is enough.
    places = [*contents, *([] if args.sim is None else [args.sim])]
    contents |= pack
    write_files(contents, args.force)
    diff = None
    if changed is not None and (args.diff or not contents):
        diff = changed.diff(outputs.get(changed_format, args.into))
    changes = body_changes(model) if changed is None else changed.links
    masses = (
        sum(change.mass_before for change in changes),
        sum(change.mass_after for change in changes),
    ) if changed is None else (changed.mass_before, changed.mass_after)
    notes = _notes(model, changed, {changed_format, *outputs}, options)
    text = '\n'.join([
        *_summary(changes, masses), *notes, *(f'written to {path}' for path in places),
    ])
    if diff is not None and not args.json:
        # A diff stands alone on stdout, so that it can be kept as a patch.
        print(_harmless(diff), end='')
        say(text)
        return
    print_results(args, {
        **outputs, **({'files': list(contents)} if len(contents) > len(outputs) else {}),
        'links': [vars(change) for change in changes],
        'mass_before': masses[0],
        'mass_after': masses[1],
        **({'notes': notes} if notes else {}),
        **({} if diff is None else {'diff': diff}),
    }, text)


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


def _change_file(
    args: argparse.Namespace, model: IdentifiedModel, changed_format: str, options: ExportOptions
) -> ChangedFiles | None:
    """Return the user's file, or the model's own, with what was identified; None if not wanted."""
    if changed_format == SCENE:
        return make_mjcf(model, args.into, options)
    return None if args.urdf is None and args.into is None else make_urdf(model, args.into)


def _notes(
    model: IdentifiedModel, changed: ChangedFiles | None, formats: set[str],
    options: ExportOptions,
) -> list[str]:
    """Return what is to be known of the model and of what was written in some formats."""
    notes = [
        describe_compensated_gravity(model.robot, model.parameters),
        *(() if changed is None else changed.notes),
    ]
    if SCENE in formats:
        frictions = fit_all_frictions(model, options.friction_form)
        worst = max(range(len(frictions)), key=lambda joint: frictions[joint].misfit)
        # What the form holds exactly is not worth a line; the rest is rounding.
        if frictions[worst].misfit > 1e-9 * frictions[worst].size:
            notes.append(frictions[worst].describe(model.robot.joint_names[worst]))
    if PLUGINS in formats:
        notes.append(describe_left_out(model))
    return [note for note in notes if note]


def _outputs(args: argparse.Namespace, changed_format: str) -> dict[str, Path]:
    """Return what is to be written where, after checking that it may be."""
    if changed_format != SCENE:
        _refuse_void(args, OF_SCENE, 'a MuJoCo scene: name it by --into FILE')
    outputs: dict[str, Path] = {
        name: path for name in EXPORTERS
        if (path := getattr(args, name.replace('-', '_'))) is not None
    }
    if not outputs and args.into is None and args.sim is None:
        *first, last = (f'--{name}' for name in EXPORTERS)
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
    if args.sim is None:
        _refuse_void(args, OF_PACK, 'a pack: name its folder by --sim DIR')
        if SCENE not in (changed_format, *outputs):
            _refuse_void(args, ('friction_form',), 'MJCF: name it by --mjcf OUT or --sim DIR')
    places: dict[Path, str] = {args.model.resolve(): 'MODEL'}
    for name, path in outputs.items():
        other = places.setdefault(path.resolve(), f'--{name}')
        if other != f'--{name}':
            raise UsageError(f'{path} is {other} and --{name}: name two different files')
        check_writable(path, args.force)
    return outputs


def _refuse_void(args: argparse.Namespace, names: tuple[str, ...], about: str) -> None:
    """Raise UsageError if an option is given that is about what nothing else asks for."""
    for name in names:
        value = getattr(args, name)  # None, or of a switch false, if it is not given
        if value is not None and value is not False:
            raise UsageError(f'--{name.replace("_", "-")} is about {about}')


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
