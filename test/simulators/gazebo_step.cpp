// Copyright 2026 The robot_identification developers
// SPDX-License-Identifier: Apache-2.0
//
// One step of Gazebo's physics engine from given states of an arm that is fixed to the world:
//
//   gazebo_step PLUGIN ARM.sdf GRAVITY STEP JOINT... < states
//
// GRAVITY [m/s^2] points down, STEP is in nanoseconds. A state is q, dq and tau of the n joints;
// for each, a line of n accelerations follows, the change of velocity over the step, and of the
// three torques that each joint has passed on, in its frame.

#include <chrono>
#include <iostream>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <ignition/physics/ForwardStep.hh>
#include <ignition/physics/GetEntities.hh>
#include <ignition/physics/Joint.hh>
#include <ignition/physics/RequestEngine.hh>
#include <ignition/physics/sdf/ConstructModel.hh>
#include <ignition/physics/sdf/ConstructWorld.hh>
#include <ignition/plugin/Loader.hh>
#include <sdf/Root.hh>
#include <sdf/World.hh>

namespace physics = ignition::physics;
using Features = physics::FeatureList<
  physics::ForwardStep, physics::GetBasicJointProperties, physics::GetBasicJointState,
  physics::GetJointFromModel, physics::GetJointTransmittedWrench, physics::SetBasicJointState,
  physics::sdf::ConstructSdfModel, physics::sdf::ConstructSdfWorld>;
using Duration = std::chrono::steady_clock::duration;

int main(int, char ** arguments)
{
  ignition::plugin::Loader loader;
  loader.LoadLib(arguments[1]);
  auto engine = physics::RequestEngine3d<Features>::From(
    loader.Instantiate("ignition::physics::dartsim::Plugin"));
  sdf::Root root;
  for (const auto & error : root.Load(arguments[2])) {
    throw std::runtime_error(error.Message());
  }
  sdf::World surroundings;
  surroundings.SetName("surroundings");
  surroundings.SetGravity({0.0, 0.0, -std::stod(arguments[3])});
  auto world = engine->ConstructWorld(surroundings);
  auto arm = world->ConstructModel(*root.Model());

  std::vector<decltype(arm->GetJoint(""))> joints;
  for (char ** name = arguments + 5; *name != nullptr; ++name) {
    joints.push_back(arm->GetJoint(*name));
    if (!joints.back() || joints.back()->GetDegreesOfFreedom() != 1) {
      throw std::runtime_error(std::string("the engine has no moving joint ") + *name);
    }
  }

  physics::ForwardStep::Input input;
  physics::ForwardStep::Output output;
  physics::ForwardStep::State unused;
  auto & step = input.Get<Duration>() = std::chrono::nanoseconds(std::stoll(arguments[4]));
  const double seconds = std::chrono::duration<double>(step).count();
  const std::size_t n = joints.size();
  std::vector<double> state(3 * n);
  std::cout.precision(std::numeric_limits<double>::max_digits10);
  while (true) {
    for (double & value : state) {
      std::cin >> value;
    }
    if (!std::cin) {
      return 0;
    }
    for (std::size_t index = 0; index < n; ++index) {
      joints[index]->SetPosition(0, state[index]);
      joints[index]->SetVelocity(0, state[n + index]);
      joints[index]->SetForce(0, state[2 * n + index]);
    }
    world->Step(output, unused, input);
    for (std::size_t index = 0; index < n; ++index) {
      std::cout << (joints[index]->GetVelocity(0) - state[n + index]) / seconds << ' ';
    }
    for (const auto & joint : joints) {
      std::cout << joint->GetTransmittedWrench().torque.transpose() << ' ';
    }
    std::cout << '\n';
  }
}
