# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

from .estimation import Identification as Identification, IdentifyOptions as IdentifyOptions
from .excitation import design_excitation as design_excitation, load_experiment as load_experiment
from .export import export_urdf as export_urdf
from .model import (
    IdentifiedModel as IdentifiedModel, load_model as load_model, load_robot as load_robot,
    RobotModel as RobotModel,
)
from .pipeline import identify as identify, predict as predict, validate as validate
from .recording import read_recording as read_recording, Recording as Recording

__version__: str
