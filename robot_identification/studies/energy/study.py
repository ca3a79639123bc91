# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The energy of a motion as one function."""

from __future__ import annotations

from pathlib import Path

from robot_identification.blas import one_blas_thread
from robot_identification.errors import UsageError
from robot_identification.files import ResultFolder
from robot_identification.model import check_shows_gravity, load_model
from robot_identification.studies.energy.energy import (
    check_threshold, energy_of_bag, energy_of_trajectory, EnergyOptions,
)
from robot_identification.studies.energy.report import EnergyResult, render_energy_report


@one_blas_thread()
def run_energy(
    model_file: Path, bag: Path | None, options: EnergyOptions | None = None,
    folder: ResultFolder | None = None, report: str = 'report.html',
) -> EnergyResult:
    """
    Return the energy of a recorded motion, or of the trajectory that the options name.

    `report` is the file in `folder`; without a folder nothing is written. Raises DataError if the
    scale of the model is relative or the trajectory is of other joints, UsageError unless there is
    either a bag or a trajectory, or if a file or the folder cannot be used.
    """
    options = EnergyOptions() if options is None else options
    if folder is not None:
        folder.check((report,))
    model = load_model(model_file)
    check_shows_gravity(model, 'the work against gravity is not in its torques')
    if bag is not None and options.trajectory is None:
        energy, notes = energy_of_bag(model, bag)
    elif bag is None and options.trajectory is not None:
        energy, notes = energy_of_trajectory(model, options.trajectory)
    else:
        raise UsageError('the energy is that of a bag or of a trajectory: name one of the two')
    check = None if options.threshold is None else check_threshold(energy, options.threshold)
    result = EnergyResult(model, model_file, bag, options, energy, check, notes)
    if folder is not None:
        folder.write({report: render_energy_report(result, folder.command_line)})
    return result
