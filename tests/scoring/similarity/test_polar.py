"""Polar: the corners that have names, and what a ranking depends on."""

from __future__ import annotations

from offsphere.scoring.similarity import (
    COSINE,
    DOT,
    Polar,
)


def test_names_of_the_corners():
    corners = {(1, 1): "cosine", (0, 0): "dot", (1, 0): "query-normalized", (0, 1): "document-normalized"}
    assert {point: Polar(*point).name for point in corners} == corners
    assert Polar(0.5, 0.5).name == "half"
    assert Polar(1, 1.25).name == "polar(1, 1.25)"


def test_a_rank_depends_on_the_document_exponent_alone():
    assert Polar(0.3, 1).ranks_as == COSINE.ranks_as != DOT.ranks_as
    assert Polar(0.3, 1).pairs_as != COSINE.pairs_as
