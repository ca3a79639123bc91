# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

from .errors import IdentificationError as IdentificationError
from .estimation import Identification as Identification, IdentifyOptions as IdentifyOptions
from .excitation import (
    design_excitation as design_excitation, load_experiment as load_experiment,
    load_trajectory as load_trajectory, Trajectory as Trajectory,
)
from .export import export_model as export_model, export_urdf as export_urdf
from .model import (
    IdentifiedModel as IdentifiedModel, load_model as load_model, load_robot as load_robot,
    RobotModel as RobotModel,
)
from .monitoring import external_torque as external_torque
from .pipeline import identify as identify, predict as predict, validate as validate
from .recording import read_recording as read_recording, Recording as Recording
from .report import write_report as write_report
from .validation import Score as Score

__version__: str
