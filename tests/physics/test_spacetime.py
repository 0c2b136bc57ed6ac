"""Mending a motion over a stretch of time: promises are kept, changes are smooth, the rest stays as it was."""

import numpy as np

from solver.numerics import rotation
from solver.physics.shape import shape_of
from solver.physics.spacetime import Promises, settle
from solver.physics.trajectory import point_paths
from solver.physics.tree import Tree
from tests.clips import synthetic

FAR = 10.0


def test_a_foot_goes_where_it_should_and_no_point_is_under_the_floor() -> None:
    character, motion = synthetic.CLIPS["walk"](rate=60.0)
    tree, shape, frames = Tree(character), shape_of(character, motion), len(motion)
    foot = next(i for i, role in enumerate(character.roles) if role == "foot")
    hand = next(i for i, role in enumerate(character.roles) if role in ("hand", "arm") and not character.children[i])
    links, local = np.array([foot, hand]), np.zeros((2, 3))
    before = point_paths(tree, shape, motion, links, local)
    middle = slice(25, 30)
    targets, weights, fixed = before.copy(), np.zeros((frames, 2)), np.zeros(frames, dtype=bool)
    targets[middle, 0] += np.array([0.03, 0.02, 0.06])
    weights[middle, 0] = 1.0
    fixed[:3] = fixed[-3:] = True
    floor = np.full((frames, 2), -np.inf)
    lowest = before[middle, 1, 2].max() + 0.05
    floor[middle, 1] = lowest

    def height(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return x[..., 2], np.broadcast_to([0.0, 0.0, 1.0], x.shape)

    promises = Promises(links, local, targets, weights, height, floor, FAR, np.full(len(character), -FAR),
                        np.full(len(character), FAR))
    settled = settle(tree, shape, motion, promises, np.full(tree.nv, 1e-4), 4.0, fixed)
    after = point_paths(tree, shape, settled, links, local)
    assert np.abs(after[middle, 0] - targets[middle, 0]).max() < 1e-3
    assert after[middle, 1, 2].min() > lowest - 1e-3
    changed = rotation.subtract(settled.rotations, motion.rotations)
    assert np.abs(changed[fixed]).max() < 1e-3
    assert np.abs(np.diff(changed, 2, axis=0)).max() < 0.05
