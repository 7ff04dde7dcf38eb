"""``adapt``: contrastive learning on frozen vectors, in seconds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from offsphere.base.progress import Progress
from offsphere.data.task import EmbeddedTask, Task, TaskVectors
from offsphere.learn.adapters.adapter_recipe import Recipe
from offsphere.learn.adapters.adapter_setup import AdapterSetup
from offsphere.learn.objective.exponents import Normalize
from offsphere.scoring.adapter import Adapter


def adapt(
    task: Task,
    vectors: TaskVectors,
    *,
    normalize: Normalize | None = None,
    recipe: Recipe | None = None,
    also: Sequence[EmbeddedTask] = (),
    held_out: EmbeddedTask | None = None,
    new_documents: bool = False,
    metric: str | None = None,
    seed: int = 0,
    seeds: int = 1,
    repeat: int | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Adapter:
    """Train an adapter on a task's vectors as they are: whoever made them, nothing is encoded again.

    ``options`` are fields of a ``Recipe`` (sides, rank, magnitude, normalize_input, loss, temperature, vrns, ...) and
    override those of a ``recipe`` that is given. ``also`` are other tasks with vectors to learn from, such as the
    titles and texts of the corpus. Training stops by the value on ``held_out``, without it on queries put aside from
    the task, as they come; with ``new_documents`` on queries whose relevant documents are relevant to none that is
    learned from. With several ``seeds`` the one with the best held-out value is kept. The result is a transform;
    ``adapter.scorer`` is what was trained.
    """
    chosen = (recipe or Recipe()).changed(normalize, options)
    setup = AdapterSetup.of(
        (task, vectors),
        also=also,
        held_out=held_out,
        new_documents=new_documents,
        metric=metric,
        seed=seed,
        repeat=repeat,
    )
    return setup.adapt(chosen, range(seed, seed + seeds), progress)
