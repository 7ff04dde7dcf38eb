"""How many cores there are to work with, how to keep them busy, and how much memory there is."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any, TypeVar

Result = TypeVar("Result")

CORES = "OFFSPHERE_CORES"  # the variable that says how many cores this process may use
WAITING = 2  # pieces of work that wait for each thread: enough to keep it busy, few enough for little memory


def available_cores() -> int:
    """How many cores this process may run on: fewer than the machine has, where the system or a variable says so."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    text = os.environ.get(CORES, "")
    return min(cores, max(int(text), 1)) if text.isdecimal() else cores


def one_blas_thread() -> AbstractContextManager[Any]:
    """Let matrix products inside it use one thread each: how BLAS shares out a sum would decide how it is rounded."""
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[Any] = threadpool_limits(limits=1, user_api="blas")
    return limits


def physical_memory() -> int:
    """How many bytes of memory the machine has; where it does not say, as many as any has."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 1 << 62


def in_order(work: Callable[..., Result], pieces: Iterable[tuple[Any, ...]], threads: int) -> Iterator[Result]:
    """The result of ``work(*piece)`` for each piece, in order, computed in threads; few pieces are kept at a time."""
    running: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for piece in pieces:
            running.append(pool.submit(work, *piece))
            if len(running) > WAITING * threads:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()


def run_all(work: Callable[..., object], pieces: Iterable[tuple[Any, ...]], threads: int) -> None:
    """Do ``work(*piece)`` for each piece, in threads; what one of them raises is raised here."""
    for _ in in_order(work, pieces, threads):
        pass
