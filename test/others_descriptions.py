# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Descriptions of arms in packages of PyPI: which there are, and how they are fetched by hash."""

from dataclasses import dataclass
import hashlib
import os
from pathlib import Path
import subprocess
import sys
import sysconfig
import zipfile

import pytest

REQUIREMENTS = Path(__file__).resolve().parents[1] / 'requirements' / 'descriptions.txt'
INSTALLED = 'example-robot-data'
INSTALLED_ROBOTS = Path(
    sysconfig.get_path('purelib'), 'cmeel.prefix', 'share', 'example-robot-data', 'robots',
)
# What a description is made of but meshes.
UNPACKED = ('.urdf', '.xacro', '.yaml', 'package.xml')

# By day: quick, with two joints without end. Files without masses are in no table: of such an arm
# there is nothing to simulate.
BY_DAY = """
double_pendulum_description/urdf/double_pendulum_continuous.urdf
"""

# By night, of the installed package: an arm below a flying base, joints without end, seven joints,
# a hobby arm, a prismatic joint on a mobile base. Joints stand where the file has several arms.
BY_NIGHT = """
borinot_description/urdf/borinot_flying_arm_2.urdf
z1_description/urdf/z1.urdf
alex_description/urdf/alex_nub_hands.urdf Left{ShoulderPitch,ShoulderRoll,ShoulderYaw,ElbowPitch}
kinova_description/robots/kinova.urdf
xarm_description/urdf/xarm7.urdf
so_arm_description/urdf/so101.urdf
tiago_description/robots/tiago_no_hand.urdf
panda_description/urdf/panda.urdf
so_arm_description/urdf/so100.urdf
ur_description/urdf/ur3_robot.urdf
ur_description/urdf/ur5_gripper.urdf
ur_description/urdf/ur10_robot.urdf
asr_twodof_description/urdf/TwoDofs.urdf
double_pendulum_description/urdf/double_pendulum.urdf
finger_edu_description/robots/finger_edu.urdf
hextilt_description/urdf/hextilt_flying_arm_5.urdf
anymal_b_simple_description/robots/anymal-kinova.urdf
b1_description/urdf/b1-z1.urdf
talos_data/robots/talos_left_arm.urdf
bolt_description/robots/bolt.urdf
baxter_description/urdf/baxter.urdf left_{s0,s1,e0,e1,w0,w1,w2}
tiago_pro_description/robots/tiago_pro.urdf arm_left_{1,2,3,4,5,6,7}_joint
pr2_description/urdf/pr2.urdf l_{shoulder_pan,shoulder_lift,upper_arm_roll,elbow_flex}_joint
g1_description/urdf/g1_29dof_rev_1_0.urdf left_shoulder_{pitch,roll,yaw}_joint left_elbow_joint
centauro_description/urdf/centauro.urdf j_arm1_{1,2,3,4,5,6}
icub_description/robots/icub.urdf l_{shoulder_pitch,shoulder_roll,shoulder_yaw,elbow}
allegro_hand_description/urdf/allegro_left_hand.urdf joint_{0,1,2,3}.0
romeo_description/urdf/romeo.urdf L{ShoulderPitch,ShoulderYaw,ElbowRoll,ElbowYaw}
"""

# By night, of the wheels in REQUIREMENTS.
DOWNLOADED = """
airo_models/arms/ur3e/ur3e.urdf
airo_models/arms/ur5e/ur5e.urdf
arx5_interface/models/L5.urdf
arx5_interface/models/L5_umi.urdf
arx5_interface/models/X5.urdf
arx5_interface/models/X7_left.urdf
stretch_urdf/RE1V0/stretch_description_RE1V0_tool_stretch_gripper.urdf
stretch_urdf/RE2V0/xacro/stretch_description_RE2V0_eoa_wrist_dw3_tool_sg3.xacro
stretch_urdf/SE3/xacro/stretch_description_SE3_eoa_wrist_dw3_tool_tablet_12in.xacro
rtbdata/xacro/lynxmotion_al5d_description/urdf/al5d_robot.urdf
rtbdata/xacro/trossen_descriptions/urdf/px100.urdf.xacro
rtbdata/xacro/trossen_descriptions/urdf/px150.urdf.xacro
rtbdata/xacro/trossen_descriptions/urdf/rx150.urdf.xacro
rtbdata/xacro/trossen_descriptions/urdf/rx200.urdf.xacro
rtbdata/xacro/trossen_descriptions/urdf/vx250.urdf.xacro
rtbdata/xacro/trossen_descriptions/urdf/vx300.urdf.xacro
rtbdata/xacro/trossen_descriptions/urdf/vx300s.urdf.xacro
rtbdata/xacro/trossen_descriptions/urdf/wx200.urdf.xacro
rtbdata/xacro/trossen_descriptions/urdf/wx250.urdf.xacro
rtbdata/xacro/trossen_descriptions/urdf/wx250s.urdf.xacro
"""


@dataclass(frozen=True)
class Description:
    """A URDF or xacro of others: its path in the package, and the joints of one of its arms."""

    path: str
    joints: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return Path(self.path).name.split('.')[0]


def described(table: str) -> tuple[Description, ...]:
    rows = (line.split() for line in table.splitlines() if line)
    return tuple(
        Description(path, tuple(name for text in joints for name in _names(text)))
        for path, *joints in rows
    )


def _names(text):
    """Return the names that a{b,c}d stands for, as in a shell."""
    before, brace, rest = text.partition('{')
    inside, _, after = rest.partition('}')
    return [before + choice + after for choice in inside.split(',')] if brace else [text]


def fetch_descriptions(folder: Path) -> None:
    """Download the wheels, unless they are in the cache, and unpack their descriptions."""
    wheels = _cache()
    wheels.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [
            sys.executable, '-m', 'pip', 'download', '--quiet', '--disable-pip-version-check',
            '--no-input', '--require-hashes', '--no-deps', '--only-binary', ':all:',
            # One wheel for every Python that runs the tests: nothing of it is.
            '--python-version', '3.11', '--platform', 'manylinux_2_28_x86_64',
            '--retries', '1', '--timeout', '30',
            # Without a network those in the cache are taken, by their hashes, too.
            '--find-links', wheels, '--dest', wheels, '--requirement', REQUIREMENTS,
        ],
        capture_output=True, text=True, timeout=1800, check=False,
    )
    if done.returncode:
        said = done.stderr.strip() or done.stdout.strip()
        if 'HASHES' in said:
            pytest.fail(f'{REQUIREMENTS.name}: {said}')
        pytest.skip(f'the wheels in {REQUIREMENTS.name} cannot be downloaded: '
                    f'{said.splitlines()[-1]}')
    for wheel in wheels.glob('*.whl'):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(
                folder, [name for name in archive.namelist() if name.endswith(UNPACKED)],
            )


def _cache():
    home = os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache'
    # Wheels of another list are not unpacked beside those of this one.
    listed = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()[:12]
    return Path(home) / 'robot_identification' / 'descriptions' / listed
