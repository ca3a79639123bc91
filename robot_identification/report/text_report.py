# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Results as plain text for the terminal and results.txt, at most 100 columns wide."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.estimation import Identification
from robot_identification.model import IdentifiedModel
from robot_identification.report.corrections import corrections_section
from robot_identification.report.data_quality import training_bags
from robot_identification.report.explanation import score_fit, Scored, urdf_words
from robot_identification.report.formatting import (
    bullets, effort_text, effort_unit_text, fixed, NOT_AVAILABLE, number, percent, sliding_text,
    text_table, wrap,
)
from robot_identification.report.friction import friction_table, FrictionTable
from robot_identification.report.parameters import inertial_coefficients
from robot_identification.report.residuals import collect_residuals, whiteness_words
from robot_identification.validation import BagErrors, Validation, Verdict


def results_text(
    identification: Identification, fitted: Sequence[Scored] | None = None
) -> str:
    """Return the results of an identification as plain text; `fitted` is of `score_fit`."""
    model = identification.model
    fitted = score_fit(identification) if fitted is None else fitted
    lines = [
        *_heading('Identification', model),
        *_verdict_lines(identification.verdict),
        *_section('Errors on held-out blocks of the training recording'),
        *wrap(
            'NRMSE on held-out blocks, on the samples that were fitted (training), and of the '
            'inertial parameters of the URDF there, friction fitted to these very samples.'
            if not model.relative_scale else
            'NRMSE on held-out blocks and on the samples that were fitted (training). '
            f'{urdf_words(model)}'
        ),
    ]
    for held_out, fit, prior in zip(
        identification.cross_validation, fitted, identification.prior, strict=True
    ):
        lines += _error_lines(held_out, prior.nrmse, prior.nrmse_mean, fit.errors)
    lines += _correction_lines(identification, fitted)
    lines += _residual_lines(fitted)
    lines += _parameter_lines(model)
    lines += _friction_lines(model)
    lines += _choice_lines(identification)
    lines += _recommendation_lines(identification)
    lines += _warning_lines(identification)
    lines += _origin_lines(model)
    return _joined(lines)


def summary_text(identification: Identification) -> str:
    """Return what a terminal shows of an identification, on one screen; `results_text` has all."""
    name, verdict = identification.model.robot.name, identification.verdict
    return _joined([
        f'Identification of {name}: {verdict.level.upper()}',
        *short_verdict_lines(verdict, shortcomings(identification)),
        '', *_summary_table(identification),
    ])


def short_verdict_lines(verdict: Verdict, first: Sequence[str] = ()) -> list[str]:
    """Return the most important reasons of a verdict, after others, and what to do next."""
    reasons = [*first, *verdict.reasons]
    lines = [f'By use: {verdict.describe_uses()}'] if verdict.limits else []
    lines += _first_of(reasons, 4)
    lines += wrap(verdict.next_step, first='Next step: ')
    if verdict.assumptions:
        lines += wrap(
            'the data cannot tell some errors of gains, zeros or topics; check what results.txt '
            'lists', first='Not checked: ',
        )
    return lines


def shortcomings(identification: Identification) -> list[str]:
    """Return what an identification could not determine, in words."""
    found = []
    if identification.model.relative_scale:
        unit = identification.model.effort_unit
        found.append(
            f'relative scale: drive gains are unknown, torques are in {effort_unit_text(unit)}'
        )
    if identification.stationary_joints:
        found.append(f'hardly moved: {", ".join(identification.stationary_joints)}')
    if identification.unidentifiable:
        found.append(f'not determined by the data: {", ".join(identification.unidentifiable)}')
    return found


def _summary_table(identification: Identification) -> list[str]:
    """Return errors and plain friction of every joint; errors are means over the recordings."""
    scores = [
        np.ma.masked_invalid([errors.nrmse for errors in side]).mean(axis=0).filled(np.nan)
        for side in (identification.cross_validation, identification.prior)
    ]
    table = friction_table(identification.model)
    plain = {joint: (coulomb, viscous) for joint, coulomb, viscous, _ in table.nearest}
    header: tuple[str, ...] = ('joint', 'NRMSE held out', 'URDF with friction')
    if plain:
        coulomb, viscous, _ = table.nearest_units
        header = (*header, f'Coulomb [{coulomb}]', f'viscous [{viscous}]')
    unknown = (NOT_AVAILABLE, NOT_AVAILABLE)
    rows: list[tuple[str, ...]] = []
    for joint, own, prior in zip(identification.model.robot.joint_names, *scores, strict=True):
        cells = plain.get(joint, unknown) if plain else ()
        rows.append((joint, fixed(own), fixed(prior), *cells))
    means = (
        fixed(float(np.ma.filled(np.ma.masked_invalid(score).mean(), np.nan))) for score in scores
    )
    rows.append(('mean', *means, *(('', '') if plain else ())))
    return text_table(header, rows)


def validation_text(model: IdentifiedModel, validation: Validation) -> str:
    """Return the results of a validation as plain text."""
    lines = [
        *_heading('Validation', model),
        *_verdict_lines(validation.verdict),
        *_section('Errors'),
        *wrap(urdf_words(model)),
    ]
    for errors in validation.bags:
        seen = ', training data' if errors.bag in validation.training else ''
        lines += _error_lines(errors, errors.urdf_nrmse, errors.urdf_nrmse_mean, seen=seen)
        lines += _detail_lines(errors)
    return _joined(lines)


def _heading(what: str, model: IdentifiedModel) -> list[str]:
    gravity = ', '.join(f'{value:g}' for value in model.robot.mounting_gravity)
    return [
        *wrap(f'{what} of {model.robot.name}'),
        *wrap(f'{model.robot.n} joints, gravity ({gravity}) m/s^2 in the root frame, effort: '
              f'{effort_text(model.effort_unit)}'),
        *(wrap(sliding_text(model.robot)) if sliding_text(model.robot) else []),
        '',
    ]


def _verdict_lines(verdict: Verdict) -> list[str]:
    lines = [f'Verdict: {verdict.level.upper()}', f'By use: {verdict.describe_uses()}']
    lines += bullets(verdict.reasons)
    lines += wrap(verdict.next_step, first='Next step: ')
    if verdict.assumptions:
        lines += ['What the data cannot tell, and you must check:']
    return [*lines, *bullets(verdict.assumptions)]


def _section(title: str) -> list[str]:
    return ['', title, '-' * len(title)]


def _first_of(texts: Sequence[str], most: int) -> list[str]:
    """Return the first of some texts as a list, and how many more there are."""
    left = len(texts) - most
    return bullets([*texts[:most], *([f'{left} more in the report'] if left > 0 else [])])


def _error_lines(
    errors: BagErrors, prior: FloatArray, prior_mean: float, fit: BagErrors | None = None,
    seen: str = '',
) -> list[str]:
    """Return errors beside the NRMSE (n,) of the URDF, and of the fit where they are held out."""
    unit = effort_unit_text(errors.unit)
    normalized = [errors.nrmse, prior] if fit is None else [errors.nrmse, fit.nrmse, prior]
    means = [errors.nrmse_mean, *([] if fit is None else [fit.nrmse_mean]), prior_mean]
    header = (
        'joint', *(
            ('NRMSE', 'URDF without friction') if fit is None else
            ('NRMSE held out', 'training', 'URDF with friction')
        ), f'RMSE [{unit}]', 'moving', 'bias',
    )
    rows = zip(
        errors.joints, *(map(fixed, values) for values in normalized),
        *(map(number, values) for values in (errors.rmse, errors.rmse_moving, errors.bias)),
        strict=True,
    )
    return [
        '',
        *wrap(f'{errors.bag}{seen}, {errors.samples} samples'),
        *text_table(header, [*rows, ('mean', *map(fixed, means), '', '', '')]),
    ]


def _correction_lines(identification: Identification, fitted: Sequence[Scored]) -> list[str]:
    """Return what the corrections explain of each joint that has some."""
    section = corrections_section(identification, fitted)
    if section is None:
        return []
    return [
        *_section('Corrections: errors without and with them'),
        *wrap('RMS errors are on the samples that were fitted. The parameters, exports and '
              'monitoring have no corrections; shares are of the squared error on held-out '
              'blocks. Coherence is that of the residual with measured minus smooth velocity, the '
              f'mean above {section.split} Hz.'),
        '',
        *text_table(*section.table(' > ', f' [{section.unit}]')),
        '',
        *(line for joint, groups in section.groups for line in wrap(f'{joint}: {groups}')),
    ]


def _residual_lines(bags: Sequence[Scored]) -> list[str]:
    """Return size and memory of the residuals, physical and over the noise of the effort."""
    unit = effort_unit_text(bags[0].dataset.effort_unit)
    rows, memories = [], []
    for residual in collect_residuals(bags):
        figures = map(number, residual.figures)
        rows.append((residual.joint, *figures, fixed(residual.lag_one, 2)))
        memories.append(residual.without_samples())
    header = (
        'joint', f'mean [{unit}]', 'median', 'std', '/ noise: mean', 'median', 'std', 'lag 1',
    )
    return [
        *_section('Residuals on the samples that were fitted'),
        *wrap('Mean and median size and standard deviation, then the same over the noise of the '
              'effort from sample to sample (std 1: nothing but noise is left); lag 1 is the '
              'correlation of neighbours.'),
        '',
        *text_table(header, rows),
        *wrap(whiteness_words(memories)),
    ]


def _detail_lines(errors: BagErrors) -> list[str]:
    """Return size and memory of the residuals of a recording, where they were measured."""
    details, unit = errors.details, effort_unit_text(errors.unit)
    if details is None:
        return []
    header = (
        'joint', f'mean size [{unit}]', 'largest', 'noise', 'noise / std', 'explained', 'lag 1',
    )
    rows = zip(
        errors.joints, map(number, details.mae), map(number, details.largest),
        (number(noise, 2) for noise in details.noise), map(fixed, details.floor),
        map(percent, details.explained), (fixed(one, 2) for one in details.lag_one), strict=True,
    )
    bands = zip(
        errors.joints, map(fixed, details.uncorrected), map(percent, details.covered_moving),
        map(percent, details.covered_resting), strict=True,
    )
    return [
        '',
        *wrap('Residuals: mean and largest size; noise of the effort from sample to sample, and '
              'the same over the standard deviation of the effort; share of the variance '
              'explained; correlation of neighbours.'),
        *text_table(header, list(rows)),
        '',
        *wrap('NRMSE without the corrections of the model, and the share of the samples within '
              'the band of 95 % that it states, in motion and at rest.'),
        *text_table(('joint', 'NRMSE without corrections', 'in the band', 'at rest'), list(bands)),
    ]


def _parameter_lines(model: IdentifiedModel) -> list[str]:
    errors = (
        'Standard errors assume white residuals; true errors can be several times larger.'
        if model.covariance_kind == 'residual' else
        'Standard errors count residuals that are correlated in time as what they are.'
    )
    return [
        *_section('Base parameters'),
        *wrap(f"Stated in the URDF's joint frames. {errors} The combinations are in the report "
              'and in the model file.'),
        '',
        *text_table(
            ('name', 'value', '', 'std error', 'relative', 'unit', 'note'),
            [
                (entry.name, number(entry.value, 4), '+-', number(entry.standard_error, 2),
                 percent(entry.relative), entry.unit, 'weak' if entry.weak else '')
                for entry in inertial_coefficients(model)
            ],
        ),
    ]


def _friction_lines(model: IdentifiedModel) -> list[str]:
    table = friction_table(model)
    if not table.rows:
        return []
    lines = _section('Friction')
    # More would not fit next to each other.
    if len(table.columns) <= 3:
        header = ('joint', *(f'{name} [{unit}]' for name, unit in table.columns))
        return [*lines, *text_table(header, [
            (joint, *(
                f'{number(one.value)} +- {number(one.standard_error, 2)}' if one else NOT_AVAILABLE
                for one in entries
            )) for joint, entries in table.rows
        ])]
    if table.nearest:
        coulomb, viscous, speed = table.nearest_units
        header = ('joint', f'Coulomb [{coulomb}]', f'viscous [{viscous}]', f'up to [{speed}]')
        lines += [
            'Nearest Coulomb and viscous friction, in steady sliding at the mean load',
            *text_table(header, table.nearest), '', 'All terms',
        ]
    return [*lines, *_term_table(table)]


def _term_table(table: FrictionTable) -> list[str]:
    """Return one line for each term, the joint on the first of its own."""
    width = max(len(entry.term) for _, entries in table.groups for entry in entries)
    rows = []
    for joint, entries in table.groups:
        for first, entry in enumerate(entries):
            one = entry.coefficient
            rows.append((
                joint if first == 0 else '', entry.term.ljust(width), entry.constant,
                *((NOT_AVAILABLE, '', '', '') if one is None else (
                    number(one.value), number(one.standard_error, 2), one.unit,
                    'weak' if one.weak else '',
                )),
            ))
    header = ('joint', 'term'.ljust(width), 'constant', 'value', 'std error', 'unit', 'note')
    return text_table(header, rows)


def _choice_lines(identification: Identification) -> list[str]:
    """Return what was chosen on held-out blocks, and what decided it."""
    lines = _section('Choices')
    for question in identification.candidates:
        tried = ', '.join(
            f'{name} {fixed(score, 4)}'
            for name, score in zip(question.names, question.scores, strict=True)
        )
        lines += wrap(f'{question.question}: {question.chosen}, {question.rule}', first='  - ')
        lines += wrap(f'(mean NRMSE: {tried})', first='    ')
    lines += wrap(f'passes over the data: {identification.estimate.passes}', first='  - ')
    if identification.decided_by_prior:
        lines += wrap(
            'the URDF says more than the data of '
            f'{", ".join(identification.decided_by_prior)}', first='  - ',
        )
    return lines


def _recommendation_lines(identification: Identification) -> list[str]:
    """Return the motions that would show what the data did not, the most helpful ones."""
    if not identification.recommendations:
        return []
    motions = list(map(str, identification.recommendations))
    return [
        *_section('Motions that would show more'), *_first_of(motions, 5)
    ]


def _warning_lines(identification: Identification) -> list[str]:
    return [*_section('Notes'), *bullets([
        *shortcomings(identification), identification.model.consistency_note,
        *identification.notes,
    ])]


def _origin_lines(model: IdentifiedModel) -> list[str]:
    lines = _section('Identified from')
    for path, sha256 in training_bags(model):
        lines += [*wrap(path), *wrap(sha256, first='  sha256 ')]
    options = model.provenance.get('options', {})
    chosen = [f'{name} {value}' for name, value in options.items() if value is not None]
    return [*lines, *wrap(', '.join(chosen))]


def _joined(lines: Sequence[str]) -> str:
    return '\n'.join(lines) + '\n'
