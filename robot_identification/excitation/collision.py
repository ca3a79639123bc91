# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Collision: distances between the links of an arm and to its cell, along the whole path.

Distances are coal's, through Pinocchio. Between two samples a distance cannot shrink faster than
the two bodies can approach, so a few hundred samples prove a clearance at every instant.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
import pinocchio as pin
from robot_identification.arrays import FloatArray
from robot_identification.errors import MissingDependencyError, UnsafeMotionError, UsageError
from robot_identification.model import for_pinocchio, RobotModel, workspace

# Pairs of links with two joints between them that come no nearer than this [m] in any of so many
# random poses cannot touch: their distance depends on two angles, which so many poses cover.
NEVER_NEARER = 0.001
STRUCTURE_POSES = 2000
# Intervals of the proof are halved from the first length down to the shortest [s]; then a
# clearance counts as broken.
FIRST_INTERVAL, SHORTEST_INTERVAL = 0.2, 1.0e-4
# Pairs whose distances a search sees at once.
NEAREST_PAIRS = 2
# Speeds are sampled, at 1 kHz; bounding balls and chain lengths are bounds by themselves.
SPEED_RESERVE = 1.02


@dataclass(frozen=True)
class Obstacle:
    """A box that stands in the arm's cell, or that the arm carries."""

    name: str  # its name
    size: tuple[float, float, float]  # edges along its own axes [m]
    # Pose of its centre [m], [rad] in the frame of the link, or in the URDF's root frame.
    xyz: tuple[float, float, float]
    rpy: tuple[float, float, float]
    link: str = ''  # link that carries it, as a tool; empty: it stands in the cell


@dataclass(frozen=True)
class Clearance:
    """The nearest approach of a motion."""

    distance: float  # [m], negative where the bodies overlap
    pair: tuple[str, str]  # names of two links, or of a link and an obstacle
    time: float  # [s]

    def __str__(self) -> str:
        return f'{self.pair[0]} and {self.pair[1]} are {self.distance:.4f} m apart'


class CollisionModel:
    """
    Collision shapes of an arm, of what is fixed to it, and of its cell.

    Locked joints stand where they are locked. Obstacles are boxes in the root frame, and those
    that links carry; links that no joint moves stand among the former and are not checked.

    Two links of the URDF whose shapes overlap in every pose cannot be checked, as no real ones do.
    They are left out if `may_overlap` names them, or is None, and are in `overlapping`. Raises
    UnsafeMotionError if a link that moves and has mass has no simple collision shape, or a joint
    slides without end; UsageError if a box is carried by a link that the arm does not have;
    MissingDependencyError if coal is not installed.
    """

    def __init__(
        self, robot: RobotModel, obstacles: Sequence[Obstacle] = (),
        may_overlap: Collection[tuple[str, str]] | None = (),
    ) -> None:
        coal = _import_coal()
        self._robot = robot
        text = for_pinocchio(robot.urdf.text)
        self._model = pin.buildModelFromXML(text)
        self._geometry = pin.buildGeomFromUrdfString(
            self._model, text, pin.GeometryType.COLLISION
        )
        self._links = [
            self._model.frames[shape.parentFrame].name for shape in self._geometry.geometryObjects
        ]
        carriers = _carriers(self._model, robot.joint_names)
        # Bodies that the same joints carry stand still to one another.
        self._carriers = [carriers[shape.parentJoint] for shape in self._geometry.geometryObjects]
        self._check_shapes()
        self._own = len(self._links)
        # Carried boxes are bodies of the arm, so they come before those of the cell.
        for obstacle in sorted(obstacles, key=lambda obstacle: not obstacle.link):
            self._add_box(obstacle, carriers, coal.Box(*obstacle.size))
        self._order = np.array([
            self._model.joints[self._model.getJointId(joint)].idx_q for joint in robot.joint_names
        ])
        self._order_of_velocities = np.array([
            self._model.joints[self._model.getJointId(joint)].idx_v for joint in robot.joint_names
        ])
        self._still = pin.neutral(self._model)
        for joint, position in robot.locked.items():
            self._still[self._model.joints[self._model.getJointId(joint)].idx_q] = position
        self._add_pairs(sum(not obstacle.link for obstacle in obstacles))
        self.cannot_touch, self.overlapping = self._choose_pairs(may_overlap)
        self._speed_of_pairs = self._approach_speeds()
        self._watched, self._watched_data = np.arange(len(self.pairs)), self._geometry_data

    def _add_box(self, obstacle: Obstacle, carriers: list[frozenset[int]], box: Any) -> None:
        pose = pin.SE3(pin.rpy.rpyToMatrix(*obstacle.rpy), np.array(obstacle.xyz))
        frame, joint = 0, 0
        if obstacle.link:
            if not self._model.existBodyName(obstacle.link):
                raise UsageError(
                    f'obstacle {obstacle.name} is carried by {obstacle.link}, which '
                    f'{self._robot.name} does not have; its links are '
                    f'{", ".join(link.name for link in self._robot.urdf.links)}'
                )
            frame = self._model.getBodyId(obstacle.link)
            joint = self._model.frames[frame].parentJoint
            pose = self._model.frames[frame].placement * pose
        self._geometry.addGeometryObject(pin.GeometryObject(
            obstacle.name, joint, frame, pose, box
        ))
        self._links.append(obstacle.name)
        self._carriers.append(carriers[joint])

    def _check_shapes(self) -> None:
        """Check that no body that moves goes unseen: a proof about the others is none."""
        bare = _bare_links(self._robot, self._links)
        if bare or not any(self._carriers):
            raise UnsafeMotionError(
                f'{self._robot.name} has no collision shapes (boxes, cylinders, spheres; meshes '
                f'are not read) at {", ".join(bare) or "any link that moves"}: add some to its '
                'URDF, or say `collision: off` in the experiment file and keep everything out of '
                'its reach'
            )

    def _add_pairs(self, obstacles: int) -> None:
        """Add the pairs that joints move to one another."""
        count = len(self._carriers)
        links = self._of_arm = count - obstacles
        for i in range(count):
            for j in range(i + 1, count):
                # Neighbours share a joint, where their shapes overlap; an obstacle shares none.
                if self._joints_between(i, j) > (1 if j < links else 0) and i < links:
                    self._geometry.addCollisionPair(pin.CollisionPair(i, j))
        self._data, self._geometry_data = self._model.createData(), self._geometry_of_its_own()

    def _choose_pairs(
        self, may_overlap: Collection[tuple[str, str]] | None
    ) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]:
        """Remove pairs that cannot touch, and those that overlap in every pose; return both."""
        pairs = list(self._geometry.collisionPairs)
        names = [(self._links[pair.first], self._links[pair.second]) for pair in pairs]
        lower, upper = workspace(self._robot)
        poses = np.random.default_rng(0).uniform(
            lower, upper, (STRUCTURE_POSES, self._robot.n)
        )
        # Only of these is it asked whether they can touch.
        asked = [
            k for k, pair in enumerate(pairs)
            if pair.second < self._of_arm and self._joints_between(pair.first, pair.second) == 2
        ]
        nearest = np.min([self._distances_of(asked, q) for q in poses], axis=0)
        apart = [k for k, distance in zip(asked, nearest, strict=True) if distance > NEVER_NEARER]
        overlapping = self._always_overlapping([
            k for k, pair in enumerate(pairs)
            if pair.second < self._own and (may_overlap is None or names[k] in may_overlap)
        ], poses)
        for k in sorted([*apart, *overlapping], reverse=True):
            self._geometry.removeCollisionPair(pairs[k])
        self._geometry_data = self._geometry_of_its_own()
        self.pairs = tuple(
            (self._links[pair.first], self._links[pair.second])
            for pair in self._geometry.collisionPairs
        )
        return (
            tuple(sorted({names[k] for k in apart})),
            tuple(sorted({names[k] for k in overlapping})),
        )

    def _always_overlapping(self, asked: list[int], poses: FloatArray) -> list[int]:
        """Return which pairs overlap in every pose."""
        for q in poses:
            if not asked:
                break
            distances = self._distances_of(asked, q)
            asked = [
                k for k, distance in zip(asked, distances, strict=True) if distance <= 0.0
            ]
        return asked

    def _distances_of(self, asked: Sequence[int], q: FloatArray) -> FloatArray:
        """Return the distances of some pairs at a pose."""
        pin.updateGeometryPlacements(
            self._model, self._data, self._geometry, self._geometry_data, self._full(q)
        )
        return np.array([
            pin.computeDistance(self._geometry, self._geometry_data, k).min_distance
            for k in asked
        ])

    def _geometry_of_its_own(self) -> Any:
        """Return data in which a distance does not depend on those asked for before."""
        coal, data = _import_coal(), self._geometry.createData()
        for k in range(len(data.distanceRequests)):
            # Pinocchio's requests begin where the last answer ended, and nearest points differ.
            data.distanceRequests[k] = coal.DistanceRequest()
        return data

    def _joints_between(self, i: int, j: int) -> int:
        """Return how many moving joints lie between two shapes."""
        return len(self._carriers[i] ^ self._carriers[j])

    def _full(self, q: FloatArray) -> FloatArray:
        """Return the configuration of all joints, those that stand still included."""
        full: FloatArray = self._still.copy()
        full[self._order] = q
        return full

    def _results(self, q: FloatArray, data: Any) -> Any:
        """Return the distance results of the pairs that are active in some data, at a pose."""
        pin.computeDistances(self._model, self._data, self._geometry, data, self._full(q))
        return data.distanceResults

    def distances(self, q: FloatArray) -> FloatArray:
        """Return the distance of every pair at a pose (n,) [m], negative where they overlap."""
        return np.array([one.min_distance for one in self._results(q, self._geometry_data)])

    def nearest(self, poses: FloatArray) -> tuple[FloatArray, FloatArray]:
        """
        Return the two smallest distances at poses (N, n) [m], and derivatives (N, 2, n).

        Two, if there are as many pairs: the nearest one changes along a motion.
        """
        count = min(NEAREST_PAIRS, len(self._watched))
        N = len(poses)
        distances, jacobians = np.empty((N, count)), np.empty((N, 6, self._model.nv))
        pairs = np.empty((N, count), dtype=np.int64)
        normals, points = np.empty((N, count, 3)), np.empty((N, count, 2, 3))
        for k, q in enumerate(poses):
            watched = self._watched_distances(q)
            # One joint's comes as a vector.
            jacobians[k] = pin.computeJointJacobians(
                self._model, self._data, self._full(q)
            ).reshape(6, -1)
            nearest = np.argsort(watched)[:count]
            distances[k], pairs[k] = watched[nearest], self._watched[nearest]
            for m, pair in enumerate(pairs[k]):
                result = self._watched_data.distanceResults[int(pair)]
                normals[k, m] = result.normal
                points[k, m] = result.getNearestPoint1(), result.getNearestPoint2()
        return distances, self._distance_gradients(pairs, normals, points, jacobians)

    def watch(self, poses: FloatArray, within: float) -> None:
        """Restrict searches to pairs nearer than `within` [m] in some poses; proofs see all."""
        nearest = np.min([self.distances(q) for q in poses], axis=0)
        self._watched = np.flatnonzero(nearest < within)
        self._watched_data = self._geometry_of_its_own()
        for pair in np.flatnonzero(nearest >= within):
            self._watched_data.deactivateCollisionPair(int(pair))

    def least(self, poses: FloatArray) -> FloatArray:
        """Return the smallest distance of the watched pairs [m] at some poses (N, n), (N,)."""
        return np.array([self._watched_distances(q).min(initial=np.inf) for q in poses])

    def _watched_distances(self, q: FloatArray) -> FloatArray:
        results = self._results(q, self._watched_data)
        return np.array([results[int(pair)].min_distance for pair in self._watched])

    def _distance_gradients(
        self, pairs: NDArray[np.int64], normals: FloatArray, points: FloatArray,
        jacobians: FloatArray,
    ) -> FloatArray:
        """
        Return how distances change with the joints, by their two nearest points, (N, m, n).

        `pairs` (N, m), `normals` (N, m, 3) and `points` (N, m, 2, 3) are of the nearest pairs at N
        poses; `jacobians` (N, 6, nv) have the joints' motions about the root frame's origin.
        """
        # A joint moves a point p by v + w x p, along the normal n by n'v + (p x n)'w.
        arms = np.cross(points, normals[:, :, None])
        along = normals[:, :, None] @ jacobians[:, None, :3] + arms @ jacobians[:, None, 3:]
        signed = along * self._signed_carriers[pairs]
        own: FloatArray = signed.sum(axis=2)[..., self._order_of_velocities]
        return own

    @cached_property
    def _signed_carriers(self) -> FloatArray:
        """Joints that carry the first body of a pair (-1) and the second (1), (pairs, 2, nv)."""
        model = self._model
        carried = np.zeros((model.njoints, model.nv))
        for joint in range(1, model.njoints):
            first, count = model.joints[joint].idx_v, model.joints[joint].nv
            carried[joint] = carried[model.parents[joint]]
            carried[joint, first:first + count] = 1.0
        of_shape = [shape.parentJoint for shape in self._geometry.geometryObjects]
        return np.array([
            (-carried[of_shape[pair.first]], carried[of_shape[pair.second]])
            for pair in self._geometry.collisionPairs
        ])

    def place(self, q: FloatArray, pair: int) -> FloatArray:
        """Return where a pair is nearest at a pose (n,), in the root frame [m], shape (3,)."""
        result = self._results(q, self._geometry_data)[pair]
        middle: FloatArray = 0.5 * (result.getNearestPoint1() + result.getNearestPoint2())
        return middle

    def closest(self, poses: FloatArray, times: FloatArray) -> Clearance:
        """Return the nearest approach at some poses (N, n), seen at `times` (N,)."""
        distances = np.array([self.distances(q) for q in poses])
        k, pair = np.unravel_index(np.argmin(distances), distances.shape)
        return Clearance(float(distances[k, pair]), self.pairs[pair], float(times[k]))

    def _approach_speeds(self) -> FloatArray:
        """
        Return the fastest approach of each pair for unit speed of a joint, (pairs, n) [m] or [1].

        A joint that turns moves a point by its distance from the axis at most: the lengths of the
        chain behind it and the ball around the shape. A joint that carries both bodies moves them
        as one.
        """
        shapes = self._geometry.geometryObjects
        n = self._robot.n
        ids = [self._model.getJointId(joint) for joint in self._robot.joint_names]
        slides = self._slides()
        reach = np.zeros((len(shapes), n))
        for index, shape in enumerate(shapes):
            shape.geometry.computeLocalAABB()
            length = float(
                np.linalg.norm(shape.placement.act(shape.geometry.aabb_center))
                + shape.geometry.aabb_radius
            )
            joint = shape.parentJoint
            while joint:
                if joint in ids:
                    column = ids.index(joint)
                    prismatic = joint in slides
                    reach[index, column] = 1.0 if prismatic else length
                length += float(np.linalg.norm(self._model.jointPlacements[joint].translation))
                length += slides.get(joint, 0.0)
                joint = self._model.parents[joint]
        pairs = list(self._geometry.collisionPairs)
        first, second = (
            reach[[getattr(pair, side) for pair in pairs]].reshape(-1, n)
            for side in ('first', 'second')
        )
        return np.where((first > 0.0) & (second > 0.0), 0.0, first + second)

    def _slides(self) -> dict[int, float]:
        """Return how far each prismatic joint lengthens the chain at most [m], by joint."""
        limits = self._robot.limits
        ends = dict(zip(
            self._robot.joint_names, np.maximum(np.abs(limits.lower), np.abs(limits.upper)),
            strict=True,
        ))
        ends |= {joint: abs(position) for joint, position in self._robot.locked.items()}
        ways = {
            joint.name: float(ends[joint.name]) for joint in self._robot.urdf.joints
            if joint.kind == 'prismatic'
        }
        endless = [joint for joint, way in ways.items() if not np.isfinite(way)]
        if endless:
            raise UnsafeMotionError(
                f'{", ".join(endless)} of {self._robot.name} slides without end: state its '
                'position limits, without which its reach is not known'
            )
        return {self._model.getJointId(joint): way for joint, way in ways.items()}

    def prove(
        self,
        position: Callable[[FloatArray], FloatArray],
        duration: float,
        velocity: FloatArray,
        clearance: float,
    ) -> Clearance:
        """
        Prove that a motion keeps a clearance [m] at every instant.

        `position` returns positions (N, n) at times (N,) [s] up to `duration` [s]; `velocity` (N,
        n) is on an even, dense grid from 0 to `duration` [rad/s or m/s]. Returns the nearest
        approach that was seen, infinite where there is nothing to touch. Raises UnsafeMotionError
        with the pair, the place and the time where the motion comes nearer than `clearance`.
        """
        if not self.pairs:
            return Clearance(np.inf, ('', ''), 0.0)
        count = int(np.ceil(duration / FIRST_INTERVAL)) + 1
        times = np.linspace(0.0, duration, count)
        rates = self._rates(velocity, count - 1)
        distances, nearest = self._see(position(times), times, clearance)
        cells, starts, stops = np.arange(count - 1), times[:-1], times[1:]
        before, after = distances[:-1], distances[1:]
        while True:
            # Nothing can have approached by more than this in between.
            least = 0.5 * (before + after - rates[cells] * (stops - starts)[:, None])
            open_ = np.flatnonzero(np.any(least < clearance, axis=1))
            if not open_.size:
                return nearest
            cells, starts, stops = cells[open_], starts[open_], stops[open_]
            if stops[0] - starts[0] < SHORTEST_INTERVAL:
                k, pair = np.unravel_index(np.argmin(least[open_]), least[open_].shape)
                worst = Clearance(float(least[open_][k, pair]), self.pairs[pair], float(starts[k]))
                raise self._too_near(worst, clearance)
            middle = 0.5 * (starts + stops)
            distances, seen = self._see(position(middle), middle, clearance)
            nearest = min(nearest, seen, key=lambda one: one.distance)
            cells = np.concatenate([cells, cells])
            starts, stops = np.concatenate([starts, middle]), np.concatenate([middle, stops])
            before = np.concatenate([before[open_], distances])
            after = np.concatenate([distances, after[open_]])

    def _see(
        self, poses: FloatArray, times: FloatArray, clearance: float
    ) -> tuple[FloatArray, Clearance]:
        """Return the distances (N, pairs) at some instants and the nearest approach of them."""
        distances = np.empty((len(poses), len(self.pairs)))
        nearest = Clearance(np.inf, ('', ''), 0.0)
        # Coarse instants first: what is too near is found soon.
        for k in sorted(range(len(poses)), key=lambda k: -(k & -k) if k else -len(poses)):
            distances[k] = self.distances(poses[k])
            worst = int(np.argmin(distances[k]))
            if distances[k, worst] < nearest.distance:
                nearest = Clearance(
                    float(distances[k, worst]), self.pairs[worst], float(times[k])
                )
                if nearest.distance < clearance:
                    raise self._too_near(nearest, clearance)
        return distances, nearest

    def _rates(self, velocity: FloatArray, cells: int) -> FloatArray:
        """Return how fast each pair approaches at most in each cell of time, (cells, pairs)."""
        edges = np.linspace(0, len(velocity) - 1, cells + 1)
        speeds = np.array([
            np.abs(velocity[int(np.floor(start)):int(np.ceil(stop)) + 1]).max(axis=0)
            for start, stop in pairwise(edges)
        ])
        # A grid misses a maximum by little; a joint that stands in a cell may still creep.
        bound = SPEED_RESERVE * speeds + 1e-3 * np.abs(velocity).max(axis=0)
        rates: FloatArray = bound @ self._speed_of_pairs.T
        return rates

    def _too_near(self, seen: Clearance, clearance: float) -> UnsafeMotionError:
        return UnsafeMotionError(
            f'{seen} at {seen.time:.3f} s, the clearance is {clearance} m: narrow the window of '
            'the joints that bring them together, or move the obstacle'
        )


def links_without_shapes(robot: RobotModel) -> tuple[str, ...]:
    """Return the links that move with mass and no simple collision shape; all if none has one."""
    text = for_pinocchio(robot.urdf.text)
    model = pin.buildModelFromXML(text)
    geometry = pin.buildGeomFromUrdfString(model, text, pin.GeometryType.COLLISION)
    shaped = {
        model.frames[shape.parentFrame].name for shape in geometry.geometryObjects
        if shape.parentJoint
    }
    if not shaped:
        return tuple(link.name for link in robot.urdf.links if link.moved)
    return _bare_links(robot, shaped)


def _bare_links(robot: RobotModel, shaped: Collection[str]) -> tuple[str, ...]:
    return tuple(
        link.name for link in robot.urdf.links
        if link.moved and link.mass > 0.0 and link.name not in shaped
    )


def _carriers(model: Any, moving: Sequence[str]) -> list[frozenset[int]]:
    """Return for every joint of a model the moving joints that carry its body."""
    carriers: list[frozenset[int]] = [frozenset()]
    for joint in range(1, model.njoints):
        own = {joint} if model.names[joint] in moving else set()
        carriers.append(carriers[model.parents[joint]] | own)
    return carriers


def _import_coal() -> Any:
    try:
        import coal
    except ImportError:
        raise MissingDependencyError('coal', 'a collision check', 'pip install coal') from None
    return coal
