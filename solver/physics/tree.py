"""The constant matrices of a character that replace loops over its links, built once.

nv degrees of freedom: three for the root's position, then three per ball, one per hinge, none per fixed joint.
"""

from __future__ import annotations

import numpy as np

from ..model.arrays import Array, Ints
from ..model.character import Character


class Tree:
    """Who moves whom, as index and mask arrays."""

    def __init__(self, character: Character) -> None:
        self.character = character
        count = self.count = len(character)
        link, axis = [0, 0, 0], [np.zeros(3)] * 3
        for i, joint in enumerate(character.joints):
            if joint == "ball":
                link += [i, i, i]
                axis += list(np.eye(3))
            elif joint == "hinge":
                link.append(i)
                axis.append(character.axes[i])
        self.dof_link: Ints = np.array(link, dtype=np.intp)      # (nv,)
        self.dof_axis: Array = np.array(axis)                    # (nv, 3) in the link's frame; zero for root linear
        self.nv = nv = len(link)

        # rows of link-frame tangents (3 N) <-> degrees of freedom
        self.expand: Array = np.zeros((3 * count, nv))
        for dof in range(3, nv):
            i = self.dof_link[dof]
            self.expand[3 * i:3 * i + 3, dof] = self.dof_axis[dof]
        self.collect: Array = np.ascontiguousarray(self.expand[:, 3:].T)   # (nv - 3, 3 N)

        self.is_all_ball = all(joint == "ball" for joint in character.joints)

        above = character.is_ancestor.astype(np.float64)        # [i, j] j moves i
        self.above: Array = above                               # (N, N)
        self.below: Array = np.ascontiguousarray(above.T)       # [i, j] j hangs on i
        self.moves: Array = np.ascontiguousarray(above[:, self.dof_link])  # (N, nv): dof moves link
        self.own: Array = np.zeros((count, nv))                 # dof is a rotation of this very link
        self.own[self.dof_link[3:], np.arange(3, nv)] = 1.0

        chain = above[self.dof_link][:, self.dof_link]          # [c, d]: link of d moves link of c
        # keep S_c . F_d once, where d hangs on (or is) c; half of the diagonal, as M = X + X^T
        self.mass_mask: Array = np.triu(chain.T, 1) + 0.5 * np.eye(nv)

        self.sum6: Array = np.ones(6)
        self.jumps: list[Ints] = []  # pointer jumping, log2(depth) rounds; `count` stands for "no ancestor"
        ancestor = np.append(np.where(character.parents < 0, count, character.parents), count)
        while (ancestor[:-1] < count).any():
            self.jumps.append(ancestor[:-1].copy())
            ancestor = ancestor[ancestor]
        self.fixed_links: Ints = np.array([i for i, j in enumerate(character.joints) if j == "fixed"], dtype=np.intp)
        self.hinge_links: Ints = np.array([i for i, j in enumerate(character.joints) if j == "hinge"], dtype=np.intp)
        self.hinge_dofs: Ints = np.array([int(np.flatnonzero(self.dof_link == i)[0]) for i in self.hinge_links],
                                         dtype=np.intp)
        self.ball_links: Ints = np.array([i for i, j in enumerate(character.joints) if j == "ball"], dtype=np.intp)
        self.ball_dofs: Ints = np.array([int(np.flatnonzero(self.own[i])[0]) for i in self.ball_links],
                                        dtype=np.intp)  # the first of three

    def turns(self, v: Array) -> Array:
        """(N, 3) rotation vectors of the links, in their own axes, from rates or displacements (nv,)."""
        flat = v[3:] if self.is_all_ball else self.expand @ v
        return np.asarray(flat.reshape(-1, 3))
