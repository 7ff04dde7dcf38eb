"""Work that is done in threads."""

from __future__ import annotations

import time

import pytest

from offsphere.base.cores import available_cores, in_order, run_all


def test_work_in_threads_comes_back_in_order():
    def work(piece: int, delay: float) -> int:
        time.sleep(delay)
        return piece

    pieces = [(piece, 0.02 if piece % 3 == 0 else 0.0) for piece in range(20)]
    assert list(in_order(work, pieces, threads=4)) == list(range(20))
    assert available_cores() >= 1


def test_pieces_are_made_when_they_are_needed():
    made = []
    pieces = ((made.append(piece) or piece,) for piece in range(1000))
    results = in_order(lambda piece: piece, pieces, threads=2)
    assert next(results) == 0
    assert len(made) < 10
    results.close()


def test_what_a_thread_raises_is_raised_by_whoever_started_it():
    done = []

    def work(piece: int) -> None:
        if piece == 3:
            raise FloatingPointError("piece 3")
        done.append(piece)

    with pytest.raises(FloatingPointError, match="piece 3"):
        run_all(work, [(piece,) for piece in range(9)], threads=2)
    done.clear()
    run_all(work, [(piece,) for piece in (7, 8)], threads=2)
    assert sorted(done) == [7, 8]
