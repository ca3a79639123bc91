# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

from pathlib import Path

from setuptools import find_packages, setup

package_name = 'robot_identification'

nodes = [
    'simulated_robot',
    'trajectory_generator',
    'experiment_runner',
    'bag_recorder',
    'identifier',
    'torque_predictor',
    'friction_tester',
    'rtde_reader',
    'experiment_coordinator',
]


def shared(folder, pattern='*'):
    """Install the files of a folder under the same folder of the package's share directory."""
    files = sorted(str(path) for path in Path(folder).glob(pattern) if path.is_file())
    return (f'share/{package_name}/{folder}', files)


setup(
    name=package_name,
    version='1.0.0',
    packages=find_packages(include=[package_name, f'{package_name}.*']),
    package_data={
        package_name: ['py.typed', '**/*.pyi', '**/*.j2', 'report/templates/*.js'],
    },
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{package_name}']),
        (f'share/{package_name}', ['package.xml']),
        shared('launch', '*.launch.py'),
        shared('config/campaigns', '*.yaml'),
        shared('config/robots', '*.yaml'),
        shared('config/link_tables', '*.yaml'),
        shared('config/experiments', '*.yaml'),
        shared('config/csv', '*.yaml'),
        shared('config/nodes', '*'),
        shared('config/rviz', '*.rviz'),
        shared('config/plotjuggler', '*.xml'),
        shared('config/foxglove', '*.json'),
        shared('security/policies', '*.xml'),
        shared('urdf'),
    ],
    python_requires='>=3.10',
    # On a robot machine everything comes from package.xml (its Pinocchio is the ROS package, never
    # PyPI's, which needs numpy 2), in the set-up by make from requirements/lock.txt. Elsewhere:
    # pip install 'robot_identification[core,report,bags]', without the nodes, which need ROS.
    install_requires=['setuptools'],
    extras_require={
        'core': [
            'defusedxml', 'lxml', 'numpy>=2', 'pin>=3', 'PyYAML', 'scipy', 'threadpoolctl',
        ],
        'report': ['jinja2', 'matplotlib', 'pillow'],
        'bags': ['mcap', 'rosbags'],
        'cluster': ['distributed'],
        'collision': ['coal'],
        'completion': ['shtab'],
        'consistency': ['clarabel'],
        'docs': ['furo', 'myst-parser', 'sphinx'],
        'excitation': ['daqp'],
        'frames': ['pandas'],
        'genetic': ['pymoo>=0.6.2'],
        'logs': ['h5py', 'pyarrow'],
        'simulation': ['mujoco'],
        'test': ['pytest'],  # what makes `colcon test` run pytest
        'usd': ['usd-core'],
        'xacro': ['xacro'],
    },
    zip_safe=False,  # report templates are read as files
    maintainer='robot_identification developers',
    maintainer_email='maintainers@robot-identification.dev',
    description='Identification of the dynamic parameters of robot arms.',
    # Of the source, whose link colcon runs in another folder for --symlink-install.
    long_description=Path(__file__).resolve().with_name('README.md').read_text(encoding='utf-8'),
    long_description_content_type='text/markdown',
    author='robot_identification developers',
    author_email='maintainers@robot-identification.dev',
    license='Apache-2.0',
    entry_points={
        # Lets `ament_copyright` accept the two-line SPDX headers.
        'ament_copyright.license': [f'apache2_spdx = {package_name}.ament_license:apache2_spdx'],
        'console_scripts': [
            f'robot-identification = {package_name}.cli.main:main',
            *(f'{node} = {package_name}.nodes.entry:{node}' for node in nodes),
        ],
    },
)
