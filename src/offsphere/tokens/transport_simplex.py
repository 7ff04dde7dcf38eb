"""Exact optimal transport, compiled: the network simplex for a table of costs.

The plan with the least cost is one of the trees that span rows and columns. From a tree that is filled greedily, an
arc enters whose cost is below what the potentials of its ends say (the best of a block of arcs, which is how Kiraly &
Kovacs 2012 found it fastest), and the first arc that the circle through it empties leaves. Supplies are moved by a
hair, so that no arc is empty by chance and no circle is walked for ever; the value is that of the potentials with the
supplies as they were given.

Compiled code does not ask whether an index is inside its array: ``transport_costs`` gives as many supplies as the costs
have rows, and as many demands as they have columns, at least one of each, all finite and not negative.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

HAIR = 1e-12  # by which each supply is moved, of a sum of one
ROUNDING = 1e-13  # how far below zero a reduced cost must be to count, of the largest cost


@njit(cache=True, nogil=True)
def least_cost(cost: Any, supply: Any, demand: Any) -> float:
    """The least cost of moving ``supply`` (rows) to ``demand`` (columns), both summing to one."""
    rows, columns = cost.shape
    nodes = rows + columns
    parent, depth = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    children = np.empty((3, nodes), np.int64)  # the first child of each node, and the next and the last of its siblings
    flow, potential = np.zeros(nodes), np.zeros(nodes)  # the flow of a node is that of the arc to its parent
    waiting = np.empty(nodes, np.int64)
    _first_tree(cost, supply, demand, parent, depth, children, flow, potential, waiting)
    block = max(int(np.sqrt(rows * columns)), 10)
    enough = -ROUNDING * max(1.0, np.abs(cost).max())
    at = 0
    while True:
        row, column, gain, at = _entering(cost, potential, at, block, enough)
        if row < 0:
            break
        amount, leaving, by_row = _circle(parent, depth, flow, row, rows + column, rows)
        top, new_parent = (row, rows + column) if by_row else (rows + column, row)
        _hang(parent, children, flow, top, new_parent, leaving, amount)
        _shift(parent, depth, children, potential, waiting, top, gain if by_row else -gain, rows)
    value = 0.0
    for i in range(rows):
        value += potential[i] * supply[i]
    for j in range(columns):
        value += potential[rows + j] * demand[j]
    return value


@njit(cache=True, nogil=True)
def _first_tree(
    cost: Any, supply: Any, demand: Any, parent: Any, depth: Any, children: Any, flow: Any, potential: Any, waiting: Any
) -> None:
    """Fill a tree: each row in turn is emptied into its cheapest columns that still want something."""
    rows, columns = cost.shape
    nodes = rows + columns
    arcs, amounts = np.empty((nodes - 1, 2), np.int64), np.empty(nodes - 1)
    wanted = demand.copy()
    wanted[columns - 1] += HAIR * rows
    still_open = np.ones(columns, np.bool_)
    left, row, open_columns = supply[0] + HAIR, 0, columns
    for arc in range(nodes - 1):
        column = -1
        for j in range(columns):
            if still_open[j] and (column < 0 or cost[row, j] < cost[row, column]):
                column = j
        amount = min(left, wanted[column])
        arcs[arc, 0], arcs[arc, 1], amounts[arc] = row, rows + column, amount
        if row < rows - 1 and (left <= wanted[column] or open_columns == 1):
            wanted[column] -= amount
            row += 1
            left = supply[row] + HAIR
        else:
            left -= amount
            still_open[column] = False
            open_columns -= 1
    _root(cost, arcs, amounts, parent, depth, children, flow, potential, waiting)


@njit(cache=True, nogil=True)
def _root(
    cost: Any, arcs: Any, amounts: Any, parent: Any, depth: Any, children: Any, flow: Any, potential: Any, waiting: Any
) -> None:
    """Hang the tree of these arcs up by the first row: parents, depths, children and potentials."""
    rows = cost.shape[0]
    nodes = len(parent)
    ends = np.zeros(nodes + 1, np.int64)
    for arc in range(len(arcs)):
        ends[arcs[arc, 0] + 1] += 1
        ends[arcs[arc, 1] + 1] += 1
    for node in range(nodes):
        ends[node + 1] += ends[node]
    next_entry = ends[:nodes].copy()
    around = np.empty(2 * len(arcs), np.int64)
    for arc in range(len(arcs)):
        for end in range(2):
            around[next_entry[arcs[arc, end]]] = arc
            next_entry[arcs[arc, end]] += 1
    children[:] = -1
    parent[0], depth[0], waiting[0] = -1, 0, 0
    done, known = 0, 1
    while done < known:
        node = waiting[done]
        done += 1
        for position in range(ends[node], ends[node + 1]):
            arc = around[position]
            other = arcs[arc, 0] + arcs[arc, 1] - node
            if other == parent[node]:
                continue
            parent[other], depth[other], flow[other] = node, depth[node] + 1, amounts[arc]
            potential[other] = cost[arcs[arc, 0], arcs[arc, 1] - rows] - potential[node]
            _add_child(children, node, other)
            waiting[known] = other
            known += 1


@njit(cache=True, nogil=True)
def _entering(cost: Any, potential: Any, at: int, block: int, enough: float) -> Any:
    """The arc that gains most in the first block that has one, what it gains, and where to look next; row -1: none."""
    rows, columns = cost.shape
    gain, row, column = enough, -1, -1
    i = at // columns
    j = at - i * columns
    in_block = 0
    for _ in range(rows * columns):
        reduced = cost[i, j] - potential[i] - potential[rows + j]
        if reduced < gain:
            gain, row, column = reduced, i, j
        j += 1
        if j == columns:
            j = 0
            i = i + 1 if i + 1 < rows else 0
        in_block += 1
        if in_block == block:
            if row >= 0:
                break
            in_block = 0
    return row, column, gain, i * columns + j


@njit(cache=True, nogil=True)
def _circle(parent: Any, depth: Any, flow: Any, row: int, column: int, rows: int) -> Any:
    """Send as much as possible round the circle that an arc closes: how much, whose arc is empty then, on which side.

    On the row's side arcs whose lower end is a row lose what those of columns win; on the column's side it is the
    other way round.
    """
    amount, leaving, by_row = np.inf, -1, True
    left, right = row, column
    while left != right:
        if depth[left] >= depth[right]:
            if left < rows and flow[left] < amount:
                amount, leaving, by_row = flow[left], left, True
            left = parent[left]
        else:
            if right >= rows and flow[right] < amount:
                amount, leaving, by_row = flow[right], right, False
            right = parent[right]
    while row != left:
        flow[row] += -amount if row < rows else amount
        row = parent[row]
    while column != left:
        flow[column] += -amount if column >= rows else amount
        column = parent[column]
    return amount, leaving, by_row


@njit(cache=True, nogil=True)
def _hang(parent: Any, children: Any, flow: Any, node: int, new_parent: int, last: int, amount: float) -> None:
    """Cut the tree above ``last`` and hang what is below it up by ``node``: all arcs between the two turn round."""
    while True:
        above, carried = parent[node], flow[node]
        _remove_child(children, above, node)
        parent[node], flow[node] = new_parent, amount
        _add_child(children, new_parent, node)
        if node == last:
            return
        node, new_parent, amount = above, node, carried


@njit(cache=True, nogil=True)
def _shift(
    parent: Any, depth: Any, children: Any, potential: Any, waiting: Any, top: int, by: float, rows: int
) -> None:
    """Move the potentials of a subtree, rows up and columns down, so that its new arc is tight; and count depths."""
    waiting[0], count = top, 1
    while count:
        count -= 1
        node = waiting[count]
        depth[node] = depth[parent[node]] + 1
        potential[node] += by if node < rows else -by
        child = children[0, node]
        while child >= 0:
            waiting[count] = child
            count += 1
            child = children[1, child]


@njit(cache=True, nogil=True)
def _add_child(children: Any, node: int, child: int) -> None:
    """Put a node before the other children of its parent."""
    first = children[0, node]
    children[1, child], children[2, child] = first, -1
    if first >= 0:
        children[2, first] = child
    children[0, node] = child


@njit(cache=True, nogil=True)
def _remove_child(children: Any, node: int, child: int) -> None:
    """Take a node out of the children of its parent."""
    after, before = children[1, child], children[2, child]
    if before >= 0:
        children[1, before] = after
    else:
        children[0, node] = after
    if after >= 0:
        children[2, after] = before
