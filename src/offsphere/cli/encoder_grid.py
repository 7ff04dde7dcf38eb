"""The grid of ``offsphere ablate --encoder``: the training of a model, not of an adapter on its vectors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from offsphere.cli.loading import check_writable
from offsphere.cli.progress import progress_bar
from offsphere.cli.train import task_named, text_parts

if TYPE_CHECKING:
    from offsphere.learn.ablation.ablation import Ablation
    from offsphere.learn.encoders.encoder_recipe import EncoderRecipe


def ablate_encoders(
    data: str,
    model: str,
    out: Path,
    recipe: EncoderRecipe,
    *,
    also: list[str],
    held_out: str | None,
    budget: tuple[list[float] | None, list[float] | None],
    only: str | None,
    full: bool,
    splits: tuple[str | None, str | None],
    metric: str | None,
    seeds: int,
    seed: int,
    new_documents: bool,
    ignore_missing: bool,
) -> Ablation:
    """The grid over the training of a model."""
    from offsphere.learn.ablation import encoder_variants as making
    from offsphere.learn.ablation.ablate_encoders import ablate_encoder
    from offsphere.learn.ablation.variants import budget_of

    usual = making.TEMPERATURES if recipe.temperature is None else (recipe.temperature,)
    trials = budget_of(budget[0] or usual, budget[1] or making.RATES)
    chosen = making.encoder_grid(recipe, trials, full=full)
    if only is not None:
        chosen = making.only(chosen, [name.strip() for name in only.split(";")])
    check_writable(out / "ablation.json")
    learned, judged = text_parts(data, splits, ignore_missing=ignore_missing)
    with progress_bar("training") as progress:
        found = ablate_encoder(
            learned,
            model,
            judged,
            also=[task_named(other) for other in also],
            held_out=task_named(held_out) if held_out is not None else None,
            recipe=recipe,
            variants=chosen,
            metric=metric,
            seeds=seeds,
            seed=seed,
            new_documents=new_documents,
            keep=out / "parts",
            progress=progress,
        )
    found.save(out)
    return found
