# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Drive the simulated robot's action in a process of its own; print what happened as JSON."""

import json
import sys
import time

from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from rcl_interfaces.srv import SetParameters
import rclpy
from rclpy.action import ActionClient
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

ACTION = 'scaled_joint_trajectory_controller/follow_joint_trajectory'
DEADLINE = 20.0
STATUS = {
    GoalStatus.STATUS_SUCCEEDED: 'SUCCEEDED',
    GoalStatus.STATUS_CANCELED: 'CANCELED',
    GoalStatus.STATUS_ABORTED: 'ABORTED',
}


class Client:
    """Sends goals and notes the true joint states and the feedback."""

    def __init__(self, namespace, joints):
        self.joints = joints
        self.node = rclpy.create_node('action_client', namespace=namespace)
        self.action = ActionClient(self.node, FollowJointTrajectory, ACTION)
        self.states, self.feedback = [], []
        # Few are kept, so that on a busy machine the last one is not an old one.
        self.node.create_subscription(
            JointState, 'simulated_robot/noise_free_joint_states', self.states.append, 5
        )
        self.wait(self.action.server_is_ready, 'the action server')
        self.wait(lambda: self.states, 'a joint state')

    def wait(self, condition, what):
        """Serve callbacks until a condition holds."""
        deadline = time.monotonic() + DEADLINE
        while not condition():
            if time.monotonic() > deadline:
                sys.exit(f'waited {DEADLINE} s for {what}')
            rclpy.spin_once(self.node, timeout_sec=0.05)

    def wait_for(self, future, what):
        self.wait(future.done, what)
        return future.result()

    def position(self):
        values = dict(zip(self.states[-1].name, self.states[-1].position, strict=True))
        return [values[joint] for joint in self.joints]

    def time(self):
        """Return the stamp of the last joint state [s]."""
        stamp = self.states[-1].header.stamp
        return stamp.sec + stamp.nanosec * 1e-9

    def wait_simulated(self, duration):
        end = self.time() + duration
        self.wait(lambda: self.time() >= end, f'{duration} s of joint states')

    def send(self, positions, duration, joints=None):
        point = JointTrajectoryPoint(positions=positions, velocities=[0.0] * len(positions))
        point.time_from_start.sec = int(duration)
        point.time_from_start.nanosec = round((duration - int(duration)) * 1e9)
        goal = FollowJointTrajectory.Goal(
            trajectory=JointTrajectory(joint_names=joints or self.joints, points=[point])
        )
        return self.wait_for(
            self.action.send_goal_async(goal, feedback_callback=self._on_feedback),
            'an answer to a goal',
        )

    def _on_feedback(self, message):
        self.feedback.append(message.feedback)

    def call(self, kind, service, request):
        client = self.node.create_client(kind, f'simulated_robot/{service}')
        self.wait(client.service_is_ready, f'the service {service}')
        return self.wait_for(client.call_async(request), f'an answer of {service}')

    def inject(self, name, value):
        parameter = Parameter(f'inject.{name}', value=value).to_parameter_msg()
        request = SetParameters.Request(parameters=[parameter])
        (result,) = self.call(SetParameters, 'set_parameters', request).results
        if not result.successful:
            sys.exit(result.reason)
        # Applied in the next cycle.
        self.wait_simulated(0.1)

    def result(self, handle):
        answer = self.wait_for(handle.get_result_async(), 'a result')
        return {
            'status': STATUS.get(answer.status, answer.status),
            'error_code': answer.result.error_code,
            'error_string': answer.result.error_string,
        }


def shifted(positions, distance):
    return [q + distance for q in positions]


def refused(client):
    here = client.position()
    accepted = {
        'wrong joints': client.send(here, 1.0, [*client.joints[:-1], 'gripper']).accepted,
        'a joint missing': client.send(here[:-1], 1.0, client.joints[:-1]).accepted,
        'NaN': client.send([float('nan'), *here[1:]], 1.0).accepted,
    }
    return {'accepted': accepted}


def succeeded(client):
    target = shifted(client.position(), 0.2)
    handle = client.send(target, 1.0)
    result = client.result(handle)
    client.wait_simulated(0.3)
    return {
        'accepted': handle.accepted,
        **result,
        'feedback': [
            {
                'joints': list(feedback.joint_names),
                'desired': list(feedback.desired.positions),
                'actual': list(feedback.actual.positions),
                'error': list(feedback.error.positions),
            }
            for feedback in client.feedback
        ],
        'distance': max(abs(a - b) for a, b in zip(client.position(), target, strict=True)),
    }


def canceled(client):
    """Cancel a goal in full motion and watch the arm stop."""
    target = shifted(client.position(), -1.0)
    handle = client.send(target, 3.0)
    client.wait(lambda: max(map(abs, client.states[-1].velocity)) > 0.5, 'full motion')
    answer = client.wait_for(handle.cancel_goal_async(), 'an answer to the cancellation')
    result = client.result(handle)
    client.wait_simulated(1.5)
    return {
        **result, 'canceling': len(answer.goals_canceling),
        'speed': max(map(abs, client.states[-1].velocity)),
        'distance_left': min(abs(a - b) for a, b in zip(client.position(), target, strict=True)),
    }


def replaced(client):
    here = client.position()
    older = client.send(shifted(here, 0.5), 3.0)
    client.wait_simulated(0.5)
    target = shifted(here, -0.1)
    newer = client.send(target, 1.0)
    results = {'older': client.result(older), 'newer': client.result(newer)}
    client.wait_simulated(0.3)
    results['distance'] = max(abs(a - b) for a, b in zip(client.position(), target, strict=True))
    return results


def interrupted(client):
    """Stop the program while a goal is under way; send another, then let it run again."""
    handle = client.send(shifted(client.position(), 0.5), 3.0)
    client.wait_simulated(0.7)
    client.inject('program_running', False)
    result = client.result(handle)
    refused = client.send(client.position(), 1.0).accepted
    client.inject('program_running', True)
    here = client.position()
    client.wait_simulated(0.5)
    return {
        **result, 'accepted_while_inactive': refused,
        'moved': max(abs(a - b) for a, b in zip(client.position(), here, strict=True)),
    }


def restarted(client):
    """Restart the driver while a goal is under way."""
    handle = client.send(shifted(client.position(), 0.5), 3.0)
    client.wait_simulated(0.5)
    client.call(Trigger, 'restart', Trigger.Request())
    since = client.time()
    refused = client.send(client.position(), 1.0).accepted
    result = client.result(handle)
    return {**result, 'accepted_while_silent': refused, 'silent': client.time() - since}


CASES = (refused, succeeded, canceled, replaced, interrupted, restarted)


def main():
    """Go through some cases, by name, with the joints of one robot in a namespace."""
    namespace, names, *joints = sys.argv[1:]
    rclpy.init()
    client = Client(namespace, joints)
    cases = {
        case.__name__: case(client) for case in CASES if case.__name__ in names.split(',')
    }
    client.node.destroy_node()
    rclpy.shutdown()
    print(json.dumps(cases))


if __name__ == '__main__':
    main()
