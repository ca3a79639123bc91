# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

from .arm_choice import (
    find_coupled as find_coupled, held_leaders as held_leaders, reach_of_joints as reach_of_joints,
    SeveralArmsError as SeveralArmsError,
)
from .base_parameters import (
    BaseReduction as BaseReduction, DEFAULT_PREFERENCE as DEFAULT_PREFERENCE,
    describe_compensated_gravity as describe_compensated_gravity,
    INDEPENDENCE_TOLERANCE as INDEPENDENCE_TOLERANCE, PREFERENCES as PREFERENCES,
    random_motion as random_motion, reduce_to_base as reduce_to_base, upper_bound as upper_bound,
)
from .base_structure import (
    CLASSES as CLASSES, find_symbols as find_symbols, linear_classes as linear_classes,
    physical_classes as physical_classes, PUBLISHED_ORDERS as PUBLISHED_ORDERS,
    published_rows as published_rows, SymbolicBase as SymbolicBase, to_latex as to_latex,
    to_plain as to_plain, to_text as to_text, unidentifiable_reasons as unidentifiable_reasons,
)
from .consistency import (
    base_dynamics as base_dynamics, describe_placeholders as describe_placeholders,
    find_implausibilities as find_implausibilities, from_pseudo_inertia as from_pseudo_inertia,
    MASS_FLOOR as MASS_FLOOR, massless_joints as massless_joints, NO_PRIOR as NO_PRIOR,
    prior_deviation as prior_deviation, pseudo_inertia as pseudo_inertia,
    RigidDynamics as RigidDynamics, smallest_eigenvalues as smallest_eigenvalues,
    smallest_mass_matrix_eigenvalue as smallest_mass_matrix_eigenvalue,
)
from .corrections import (
    correction_blocks as correction_blocks, CorrectionGroup as CorrectionGroup,
    Corrections as Corrections, CORRECTIONS as CORRECTIONS, CorrectionSignals as CorrectionSignals,
    FastVelocity as FastVelocity, find_ripple_order as find_ripple_order,
    harmonics as harmonics, JointCorrection as JointCorrection, JointDeviation as JointDeviation,
    PositionSeries as PositionSeries, Residuals as Residuals, rigid_columns as rigid_columns,
    Ripple as Ripple,
)
from .denavit_hartenberg import joint_axes as joint_axes
from .discrepancy import (
    Discrepancy as Discrepancy, discrepancy_from_content as discrepancy_from_content,
)
from .dynamics import (
    BAND as BAND, equivalent_bodies as equivalent_bodies, FrictionCurve as FrictionCurve,
    LARGEST_SHARE as LARGEST_SHARE, LinkBody as LinkBody, RigidTorque as RigidTorque,
    TorqueParts as TorqueParts,
)
from .frames import check_table as check_table, FRAMES as FRAMES, link_frames as link_frames
from .friction import (
    AUTOMATIC_FRICTION as AUTOMATIC_FRICTION, CoulombFriction as CoulombFriction,
    CoulombSignFriction as CoulombSignFriction, DictionaryFriction as DictionaryFriction,
    exclude_each_other as exclude_each_other, FRICTION_LAWS as FRICTION_LAWS,
    FrictionOffset as FrictionOffset, LoadFriction as LoadFriction,
    parse_friction as parse_friction, PLAIN_FRICTION as PLAIN_FRICTION,
    PowerViscousFriction as PowerViscousFriction, StribeckFriction as StribeckFriction,
    TemperatureViscousFriction as TemperatureViscousFriction, ViscousFriction as ViscousFriction,
)
from .friction.basis import (
    BasisTerm as BasisTerm, CURVES as CURVES, evaluation_order as evaluation_order,
    JointFunction as JointFunction, run_stops as run_stops, SampleBasis as SampleBasis,
    STOP as STOP,
)
from .friction.law import (
    check_between as check_between, FrictionLaw as FrictionLaw, JointMotion as JointMotion,
    nearest_plain_friction as nearest_plain_friction, sliding_columns as sliding_columns,
    sliding_speeds as sliding_speeds, steady_columns as steady_columns,
    steady_torque as steady_torque,
)
from .identified_model import (
    check_shows_gravity as check_shows_gravity, IdentifiedModel as IdentifiedModel,
    LONGEST_DELAY as LONGEST_DELAY, SignalSource as SignalSource, with_payload as with_payload,
)
from .kinematic_calibration import (
    calibrate as calibrate, DhCorrections as DhCorrections, read_calibration as read_calibration,
)
from .kinematic_filter import (
    kinematic_filter_from_options as kinematic_filter_from_options,
    KinematicFilter as KinematicFilter,
)
from .link_table import read_link_table as read_link_table
from .model_file import dump_model as dump_model, load_model as load_model
from .parameters import (
    EFFORT_UNITS as EFFORT_UNITS, FrictionTerm as FrictionTerm,
    INERTIAL_SYMBOLS as INERTIAL_SYMBOLS, make_standard_parameters as make_standard_parameters,
    NamedJoints as NamedJoints, parameter_units as parameter_units,
    POSITION_ERROR as POSITION_ERROR, StandardParameters as StandardParameters,
    STATED_UNITS as STATED_UNITS, unit_of_joint as unit_of_joint, unit_of_joints as unit_of_joints,
)
from .payload import (
    joint_parameters as joint_parameters, last_link as last_link, Payload as Payload,
    payload_from_parameters as payload_from_parameters, to_frame as to_frame,
    tool_frame as tool_frame, TOOL_FRAMES as TOOL_FRAMES, tool_placements as tool_placements,
)
from .registry import (
    configuration_sha256 as configuration_sha256, find_urdf as find_urdf,
    find_xacro_arguments as find_xacro_arguments, known_robots as known_robots,
    load_joint_drives as load_joint_drives, load_robot as load_robot,
    read_description as read_description, share_directory as share_directory,
)
from .regressor import (
    block_slices as block_slices, continue_friction as continue_friction,
    continue_torque as continue_torque, energy_regressor as energy_regressor,
    friction_motion as friction_motion, inertial_regressor as inertial_regressor,
    initial_friction_states as initial_friction_states, joint_motion as joint_motion,
    Motion as Motion, observation_matrix as observation_matrix,
    prior_inertial_parameters as prior_inertial_parameters, RELEASED_BLOCKS as RELEASED_BLOCKS,
    rigid_and_transmitted_torque as rigid_and_transmitted_torque, rigid_torque as rigid_torque,
    run_friction as run_friction, standard_torque as standard_torque,
    static_regressor as static_regressor,
)
from .regressor_gradient import Passage as Passage, RegressorGradient as RegressorGradient
from .robot_model import (
    gravity_of_mounting as gravity_of_mounting, JointEncoders as JointEncoders,
    JointLimits as JointLimits, limits_of_urdf as limits_of_urdf,
    make_robot_model as make_robot_model, plain_encoders as plain_encoders,
    RobotModel as RobotModel, STANDARD_GRAVITY as STANDARD_GRAVITY, workspace as workspace,
)
from .urdf import (
    parse_robot_xml as parse_robot_xml, parse_urdf as parse_urdf, read_urdf as read_urdf,
    Urdf as Urdf,
)
from .urdf_elements import pose_in as pose_in, tensor_in as tensor_in
from .urdf_variants import (
    for_pinocchio as for_pinocchio, for_simulation as for_simulation, mount_tool as mount_tool,
    Tool as Tool, with_prefix as with_prefix, without_prefix as without_prefix,
)
from .xacro import describe_arguments as describe_arguments, xacro_arguments as xacro_arguments
