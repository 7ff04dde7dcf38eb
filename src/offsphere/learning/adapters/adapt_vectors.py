"""``adapt``: contrastive learning on frozen vectors, in seconds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from offsphere.base.progress import Progress
from offsphere.data.call_order import check_order
from offsphere.data.task import EmbeddedTask, Task, TaskVectors
from offsphere.learning.adapters.adapter_recipe import Recipe
from offsphere.learning.adapters.adapter_setup import AdapterSetup
from offsphere.learning.objective.exponents import Normalize
from offsphere.learning.tracking import Tracking
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
    tracking: Tracking | None = None,
    device: str | None = None,
    **options: Any,
) -> Adapter:
    """Train an adapter on a task's vectors as they are: whoever made them, nothing is encoded again.

    Args:
        task: What to learn from.
        vectors: The vectors of the task.
        normalize: The output, which is scored: both (cosine), none (dot), query, document, half, learn, or a pair of
            exponents; as the recipe has it without.
        recipe: How to train; the defaults of ``Recipe`` without.
        also: Further tasks with vectors to learn from, such as the titles and texts of the corpus.
        held_out: What training stops by, which is not learned from; queries put aside from the task without.
        new_documents: Whether queries that are put aside share no relevant document with those that are learned from.
        metric: By which held-out queries are measured; the usual one of the task without.
        seed: Of what is put aside, of the batches and of the start.
        seeds: How many trainings there are, from that seed on; the one with the best held-out value is kept.
        repeat: How often the task's own pairs come for each pair of ``also``; about as many of both without.
        progress: Called now and then with how far it is.
        tracking: Who follows the training; nobody unless said.
        device: Where torch computes, as ``"cpu"`` or ``"cuda:1"``; what it finds unless said.
        options: Fields of a ``Recipe`` (sides, rank, magnitude, loss, temperature, ...), which override the recipe.

    Returns:
        The adapter, which is a transform; ``adapter.scorer`` is what was trained, ``adapter.record`` how it went.

    Raises:
        OffsphereError: If there is too little to learn from, or an option means nothing; torch must be installed.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> rng = np.random.default_rng(0)
        >>> documents = rng.standard_normal((60, 4)).astype(np.float32)
        >>> queries = documents[:, ::-1] + 0.1 * rng.standard_normal((60, 4))  # coordinates in another order
        >>> judged = {f"q{row}": {f"d{row}": 1.0} for row in range(60)}
        >>> task = osp.RankingTask.from_judgments(judged, [f"d{row}" for row in range(60)])
        >>> vectors = osp.RankingVectors.of(task, queries.astype(np.float32), documents)
        >>> adapter = osp.adapt(task, vectors, batch=32, rate=0.03, epochs=100)
        >>> adapter.scorer.name
        'adapter(untied) + cosine'
        >>> adapter.record.run.best > adapter.record.run.start + 0.5
        True
    """
    check_order("adapt", task, vectors)
    chosen = (recipe or Recipe()).with_options(options, normalize)
    setup = AdapterSetup.of(
        (task, vectors),
        also=also,
        held_out=held_out,
        new_documents=new_documents,
        metric=metric,
        seed=seed,
        repeat=repeat,
        device=device,
    )
    return setup.adapt(chosen, range(seed, seed + seeds), progress, tracking)
