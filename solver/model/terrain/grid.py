"""Boxes sorted into square cells of the xy plane, to find the few that are near a point."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

import numpy as np

from ..arrays import Array, Ints

ENTRIES = 8        # boxes may be named in this many cells on average, and there may be this many cells per box
SPARE = 20_000     # on top of that, so that few large boxes need not be set apart
COARSER = 8.0      # the cells of boxes that are set apart are larger by this
ROOM = 4           # times the entries: how large a table of them may be
ROUNDING = 1e-9    # m, and cells: a box just at the radius is found


class Names(NamedTuple):
    """The boxes that belong to each cell."""

    end: Ints       # (cells,) where a cell's names end
    size: Ints      # (cells,) how many they are
    names: Ints     # (entries + 1,) boxes, cell by cell; the last one is nobody

    @staticmethod
    def sort(cell: Ints, names: Ints, cells: int, nobody: int) -> tuple[Names, Ints]:
        """Names sorted by their cells, and the order that did it."""
        order = np.argsort(cell, kind="stable")
        count = np.bincount(cell, minlength=cells)
        return Names(np.cumsum(count), count, np.append(names[order], nobody)), order


@dataclass(frozen=True, eq=False)
class Grid:
    """Cell (i, j) covers [i, i + 1) x [j, j + 1) of  u = xy / side + shift.

    Over a cell are all boxes that overlap it. At home in a cell are the boxes no wider than a cell whose centre is in
    it, each in one cell only, and of wider boxes the parts within the cell; `bounds` encloses them. A margin of empty
    cells as wide as the widest search surrounds the occupied ones; points beyond are put at its inner edge, from where
    a search sees every cell that it should.
    """

    inverse: float        # 1 / side
    shift: Array          # (2, 1)
    lowest: Array         # (2, 1) u is at least this
    highest: Array        # (2, 1) and at most this
    strides: Ints         # (2,) of the numbers of cells
    over: Names
    table: Ints | None    # (cells, C) the names over each cell, filled up with nobody, unless few cells have very many
    home: Names
    bounds: Array         # (6, cells) low and high, with some room for rounding; of nothing, inf and -inf
    windows: tuple[Ints, ...]   # for searches 0, 1, ... cells wide: what to add to the number of a cell

    @staticmethod
    def build(low: Array, high: Array, names: Ints, side: float, reach: float, nobody: int) -> Grid:
        """Cells of at least this side for boxes low to high (N, 3) called by `names` (N,) and searches within reach."""
        extent = (high.max(0) - low.min(0))[:2]
        most = ENTRIES * len(names) + SPARE
        side = max(side, float(np.sqrt(extent.prod() / most)), float(extent.max()) / most)
        inverse = 1.0 / side
        margin = int(np.ceil(reach * inverse + 0.5 + ROUNDING)) + 1
        shift = margin - low[:, :2].min(0) * inverse
        first = (low[:, :2] * inverse + shift).astype(np.intp)                          # (N, 2)
        size = (high[:, :2] * inverse + shift).astype(np.intp) + 1 - first
        shape = (first + size).max(0) + margin
        cells = int(shape.prod())

        entries = size.prod(1)                                                       # (N,) cells each box overlaps
        box = np.repeat(np.arange(len(names)), entries)
        within = np.arange(len(box)) - np.repeat(np.cumsum(entries) - entries, entries)
        at = first[box] + np.stack((within // size[box, 1], within % size[box, 1]), axis=1)
        cell = at[:, 0] * shape[1] + at[:, 1]
        over, order = Names.sort(cell, names[box], cells, nobody)

        is_wide = (high - low)[:, :2].max(1) > side
        small, part = np.flatnonzero(~is_wide), np.flatnonzero(is_wide[box])
        centre = (0.5 * (low + high)[small, :2] * inverse + shift).astype(np.intp)
        corner = (at[part] - shift) * side                                           # of the cells of the parts
        bottom, top = low[box[part]], high[box[part]]
        bottom[:, :2], top[:, :2] = np.maximum(bottom[:, :2], corner), np.minimum(top[:, :2], corner + side)
        home, sorting = Names.sort(np.concatenate((centre[:, 0] * shape[1] + centre[:, 1], cell[part])),
                                   names[np.concatenate((small, box[part]))], cells, nobody)
        used = np.flatnonzero(home.size)
        begin = (home.end - home.size)[used]
        least = np.minimum.reduceat(np.concatenate((low[small], bottom))[sorting], begin)
        greatest = np.maximum.reduceat(np.concatenate((high[small], top))[sorting], begin)
        bounds = np.full((6, cells), np.inf)
        bounds[3:] = -np.inf
        bounds[:, used] = np.concatenate((least - ROUNDING, greatest + ROUNDING), axis=1).T

        steps = [np.arange(-k, k + 1) for k in range(margin)]
        return Grid(inverse, shift[:, None], np.full((2, 1), margin - 1.0), shape[:, None] - float(margin),
                    np.array([shape[1], 1]), over, _tabulated(over, cell[order], nobody), home, bounds,
                    tuple(np.add.outer(step * shape[1], step).ravel() for step in steps))

    def cells(self, points: Array) -> Ints:
        """The cells of points (P, 3); what is not a number is put in the margin."""
        u = points.T[:2] * self.inverse
        u += self.shift
        np.fmax(u, self.lowest, out=u)
        np.fmin(u, self.highest, out=u)
        return np.asarray(self.strides.dot(u.astype(np.intp)))

    def column(self, cells: Ints) -> Ints:
        """(P, C) the boxes over P cells, filled up with nobody."""
        if self.table is not None:
            return self.table.take(cells, axis=0)
        end, count = self.over.end.take(cells)[:, None], self.over.size.take(cells)[:, None]
        slots = np.arange(max(int(count.max(initial=0)), 1))
        return self.over.names.take(np.where(slots < count, end - count + slots, len(self.over.names) - 1))

    def near(self, cells: Ints, points: Array, radius: Array) -> tuple[Ints, Ints]:
        """(who, name): boxes at home where the bounds are within the radius (P,) of points (P, 3), sorted by point."""
        around = self.windows[ceil(max(radius.tolist(), default=0.0) * self.inverse + 0.5 + ROUNDING)]    # (K,)
        cell = cells[:, None] + around                                             # (P, K)
        at = points.T[:, :, None]
        bounds = self.bounds.take(cell, axis=1)                                    # (6, P, K)
        away = np.maximum(bounds[:3], at)
        np.minimum(away, bounds[3:], out=away)
        away -= at
        away *= away
        apart = away[0] + away[1]
        apart += away[2]
        found = (apart <= (radius * radius)[:, None]).ravel().nonzero()[0]
        cell = cell.take(found)
        count = self.home.size.take(cell)
        who = (found // len(around)).repeat(count)
        entry = (self.home.end.take(cell) - count.cumsum()).repeat(count)
        entry += np.arange(len(who))
        return who, self.home.names.take(entry)


def _tabulated(over: Names, cell: Ints, nobody: int) -> Ints | None:
    most = int(over.size.max())
    if len(over.size) * most > ROOM * len(cell):
        return None
    table = np.full((len(over.size), most), nobody)
    table[cell, np.arange(len(cell)) - (over.end - over.size)[cell]] = over.names[:-1]
    return table


@dataclass(frozen=True, eq=False)
class Grids:
    """Grids of several coarseness, usually one: boxes too large for fine cells are in coarser ones."""

    layers: tuple[Grid, ...]

    @staticmethod
    def build(low: Array, high: Array, side: float, reach: float) -> Grids:
        """Cells of `side` for as many of the boxes low to high (N, 3) as few entries can name, then larger ones."""
        width = (high - low)[:, :2]
        left = np.argsort(width.max(1), kind="stable")
        layers: list[Grid] = []
        while len(left):
            entries = (width[left] / side + 1.0).prod(1).cumsum()
            fits = max(int(np.searchsorted(entries, ENTRIES * len(left) + SPARE)), 1)
            chosen = np.sort(left[:fits])
            layers.append(Grid.build(low[chosen], high[chosen], chosen, side, reach, nobody=len(low)))
            left, side = left[fits:], COARSER * side
        return Grids(tuple(layers))

    def cells(self, points: Array) -> tuple[Ints, ...]:
        if len(self.layers) == 1:
            return (self.layers[0].cells(points),)
        return tuple(layer.cells(points) for layer in self.layers)

    def column(self, cells: tuple[Ints, ...]) -> Ints:
        if len(self.layers) == 1:
            return self.layers[0].column(cells[0])
        return np.concatenate([layer.column(own) for layer, own in zip(self.layers, cells)], axis=1)

    def near(self, cells: tuple[Ints, ...], points: Array, radius: Array) -> tuple[Ints, Ints]:
        if len(self.layers) == 1:
            return self.layers[0].near(cells[0], points, radius)
        found = [layer.near(own, points, radius) for layer, own in zip(self.layers, cells)]
        who = np.concatenate([each[0] for each in found])
        order = np.argsort(who, kind="stable")
        return who[order], np.concatenate([each[1] for each in found])[order]
