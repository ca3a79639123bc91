# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Picture of sim_to_real_mujoco.md: motion of a real joint, measured, and simulated before and after.

`python docs/_ext/real_drift.py MODEL BAG --start 14.52 --joint panda_joint4 -o picture.svg`, with
a model that was identified from the time before `--start`.
"""

from pathlib import Path

from real_torque import parse_arguments
from robot_identification import load_model
from robot_identification.files import write_atomically
from robot_identification.processing import load_for_model
from robot_identification.studies.rollout import (
    joint_pictures, RolloutOptions, run_rollout,
)


def draw(model_file: Path, bag: Path, start: float, joint: str) -> str:
    """Return the picture of the report as a file of its own."""
    model = load_model(model_file)
    dataset, _ = load_for_model(model, bag, start=start)
    rollout, = run_rollout(model, [dataset], RolloutOptions())
    picture = joint_pictures(rollout)[model.robot.joint_names.index(joint)]
    return str(picture.markup).replace('<svg', '<svg xmlns="http://www.w3.org/2000/svg"', 1)


def main() -> None:
    """Write the picture."""
    given = parse_arguments(__doc__.strip().splitlines()[0])
    write_atomically(given.output, draw(given.model, given.bag, given.start, given.joint))


if __name__ == '__main__':
    main()
