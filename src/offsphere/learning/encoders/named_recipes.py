"""Recipes that have a name: how well-known encoders were trained, and what each does with length."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any, NamedTuple

from offsphere.base.known_names import known_name
from offsphere.learning.encoders.encoder_recipe import EncoderRecipe
from offsphere.learning.objective.exponents import Normalize


class NamedRecipe(NamedTuple):
    """A recipe that has a name: where it is from, what is special about it, and what it does with length."""

    recipe: EncoderRecipe
    paper: str
    says: str
    length: str

    @property
    def negatives(self) -> str:
        """Where the negatives of the recipe come from, in words."""
        recipe = self.recipe
        parts = ["batch"]
        parts += [f"queue of {recipe.queue:,}"] if recipe.momentum is not None else []
        parts += [f"{recipe.hard_negatives} mined"] if recipe.hard_negatives else []
        return ", ".join(parts)

    @property
    def temperature(self) -> str:
        """The temperature as it is printed, and whether it is learned."""
        number = f"{self.recipe.temperature:g}"
        return f"{number}, learned" if self.recipe.scale == "learn" else number


def _entry(paper: str, says: str, length: str, **options: Any) -> NamedRecipe:
    """An entry of the table below; ``options`` are the fields in which its recipe differs from the defaults."""
    return NamedRecipe(EncoderRecipe(**options), paper, says, length)


SIZE = ("batch", "epochs", "steps", "rate", "queue", "max_tokens", "mini_batch", "hard_negatives")
THROWN = "thrown away on both sides"

RECIPES: Mapping[str, NamedRecipe] = MappingProxyType(
    {
        "simcse": _entry(
            "Gao et al. 2021, arXiv:2104.08821",
            "the same text twice, told apart by dropout alone",
            THROWN,
            views="same",
            temperature=0.05,
            batch=64,
        ),
        "simclr": _entry(
            "Chen et al. 2020, arXiv:2002.05709",
            "two augmented views of a text or an image, negatives from both views (NT-Xent)",
            THROWN,
            views="augmented",
            loss="simclr",
            temperature=0.1,
            batch=64,
        ),
        "moco": _entry(
            "He et al. 2020, arXiv:1911.05722",
            "two augmented views, one by a slow copy of the model, whose former vectors are negatives; temperature, "
            "momentum, queue and batch as in the paper, which trains on images. Left open: how a text is augmented",
            THROWN,
            views="augmented",
            temperature=0.07,
            momentum=0.999,
            queue=65_536,
            batch=256,
        ),
        "dpr": _entry(
            "Karpukhin et al. 2020, arXiv:2004.04906",
            "raw dot product, in-batch and hard negatives; one encoder for both sides here, two there",
            "kept on both sides; documents may use it",
            normalize="none",
            temperature=1.0,
            scale="fixed",
            hard_negatives=1,
        ),
        "contriever": _entry(
            "Izacard et al. 2021, arXiv:2112.09118",
            "two random crops of a text, a slow copy with a long queue; temperature, momentum, queue, rate as in the "
            "paper, whose batch is 2,048 and whose crops also lose words; the scale is calibrated here, fixed there",
            "kept on both sides; documents may use it",
            views="crops",
            normalize="none",
            temperature=0.05,
            momentum=0.9995,
            queue=131_072,
            rate=5e-5,
        ),
        "e5": _entry(
            "Wang et al. 2022, arXiv:2212.03533",
            "prompts for each side, a low temperature, both directions",
            THROWN,
            loss="clip",
            temperature=0.01,
            prompts=("query: ", "passage: "),
        ),
        "gte": _entry(
            "Li et al. 2023, arXiv:2308.03281",
            "a low temperature, both directions, negatives of the own side too; no prompts, as in the paper; one "
            "denominator a direction here, one for all there",
            THROWN,
            loss="simclr",
            temperature=0.01,
        ),
        "clip": _entry(
            "Radford et al. 2021, arXiv:2103.00020",
            "both directions, the scale is learned",
            THROWN,
            loss="clip",
            temperature=0.07,
            scale="learn",
        ),
        "siglip": _entry(
            "Zhai et al. 2023, arXiv:2303.15343",
            "every pair of a batch is judged alone, by a sigmoid; scale and bias are learned",
            THROWN,
            loss="siglip",
            temperature=0.1,
            scale="learn",
        ),
        "magnitude": _entry(
            "Feng & Watanabe 2026, arXiv:2602.09229; calibrated scale and own rate are ours",
            "one side normalised, the scale calibrated to the lengths; learned exponents (--normalize learn) have "
            "a rate of their own",
            "kept on the document, which is ranked by it",
            normalize="query",
            temperature=0.05,
            scale="calibrated",
            own_rate=1e-2,
        ),
        "pace": _entry(
            "PACE 2026",
            "cosine with LoRA first, then the dot product with all weights, where pairs that cosine has right already "
            "count less (focal weights). Left open, so ours: half of the steps each, rank 16, weights (1 - p)^2 with p "
            "the positive's share by cosine, the calibrated scale",
            "thrown away first, then kept on both sides",
            normalize="none",
            temperature=0.05,
            scale="calibrated",
            first="both",
            lora=16,
            focal=2.0,
        ),
    }
)


def name_of(recipe: EncoderRecipe) -> str | None:
    """The named recipe all of whose fields a recipe has: the one with the most of them; nothing where there is none.

    Args:
        recipe: Any recipe; its size and speed (batch, steps, rate, ...) may be others.

    Returns:
        The name.

    Example:
        >>> import offsphere as osp
        >>> name_of(osp.recipe_with("magnitude", batch=64, steps=300)), name_of(osp.EncoderRecipe())
        ('magnitude', None)
    """
    usual, most, name = EncoderRecipe(), 0, None
    for known, named in RECIPES.items():
        own = [field.name for field in fields(usual) if field.name not in SIZE]
        own = [field for field in own if getattr(named.recipe, field) != getattr(usual, field)]
        if len(own) > most and all(getattr(recipe, field) == getattr(named.recipe, field) for field in own):
            most, name = len(own), known
    return name


def recipe_with(
    recipe: EncoderRecipe | str | None, normalize: Normalize | None = None, **options: Any
) -> EncoderRecipe:
    """Take a recipe by name or as it is, with some fields changed.

    Args:
        recipe: The name of a recipe, a recipe, or nothing for the defaults.
        normalize: The output, which is scored; as the recipe has it without.
        options: Fields of an ``EncoderRecipe`` to change.

    Returns:
        The recipe, checked.

    Raises:
        UnknownNameError: If no recipe or no field has such a name.
        ParameterError: If a value means nothing.

    Example:
        >>> import offsphere as osp
        >>> recipe = osp.recipe_with("e5", normalize="query", batch=64)
        >>> recipe.loss, recipe.temperature, recipe.prompts, recipe.similarity
        ('clip', 0.01, ('query: ', 'passage: '), 'query-normalized')
    """
    base = (
        RECIPES[known_name("recipe", recipe, RECIPES)].recipe if isinstance(recipe, str) else recipe or EncoderRecipe()
    )
    return base.with_options(options, normalize)
