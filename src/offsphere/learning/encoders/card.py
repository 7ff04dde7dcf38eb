"""What a model card says beside what sentence-transformers writes: where the model is from, and how to score it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from offsphere.base.files import write_whole
from offsphere.base.plain import plain
from offsphere.base.reading.file_access import read_bounded
from offsphere.learning.encoders.citations import OURS, bibtex_of
from offsphere.learning.encoders.encoder_recipe import EncoderRecipe
from offsphere.learning.encoders.named_recipes import RECIPES, name_of
from offsphere.learning.encoders.outcome import TrainingOutcome
from offsphere.learning.objective.exponents import Exponents, write_normalize
from offsphere.wording.written_numbers import chance_alone

HEAD = "## Length, and how to score"
FENG = "Feng & Watanabe 2026, arXiv:2602.09229"  # each side's normalisation as a switch
TAG = "loss:ContrastiveLoss"  # as sentence-transformers writes it, which has another loss of that name
OUR_TAG = "loss:offsphere.ContrastiveLoss"
BEFORE = "\n## Training Details"


def length_report(
    exponents: Exponents,
    plan: Mapping[str, Any],
    dynamics: Sequence[Mapping[str, Any]],
    outcome: TrainingOutcome | None,
) -> str:
    """Markdown that says how the model is to be scored, what its lengths are like, and what it is worth."""
    by_side = (("query", exponents.query), ("document", exponents.document))
    sides = [f"- **{side}**: {_fate_of_length(exponent)}" for side, exponent in by_side]
    lines = [
        HEAD,
        "",
        f"Encode with `encode_query` and `encode_document`, score by `{plan['similarity']}` (`model.similarity` does).",
        "The saved model scores as it was trained with offsphere:",
        "",
        *sides,
        "",
    ]
    rows = [row for row in dynamics if row.get("layer") is None]
    if rows:
        lines += ["| held-out probe, before the last stage | before | after |", "| --- | ---: | ---: |"]
        for name in ("query_length", "document_length", "query_anisotropy", "document_anisotropy", "cohen_d"):
            if rows[0].get(name) is not None:
                lines.append(f"| {name.replace('_', ' ')} | {rows[0][name]:.4f} | {rows[-1][name]:.4f} |")
        lines.append("")
    if outcome is not None:
        lines += [
            f"| {outcome.task['name']}, {outcome.metric} | value | 95 % interval | difference | p |",
            "| --- | ---: | --- | --- | ---: |",
        ]
        for row in outcome.rows:
            gain = row.gain
            difference = f"{gain.difference:+.4f} [{gain.low:+.4f}, {gain.high:+.4f}]" if gain is not None else ""
            p = chance_alone(gain.p) if gain is not None else ""
            lines.append(f"| {row.name} | {row.value:.4f} | {row.low:.4f} to {row.high:.4f} | {difference} | {p} |")
        lines += ["", outcome.conclusion, ""]
    return "\n".join(lines)


def origin_report(recipe: EncoderRecipe, plan: Mapping[str, Any], said: Sequence[str] = ()) -> str:
    """Markdown that says what the model was made from: base model, data, normalisation, recipe.

    Args:
        recipe: How it was trained.
        plan: What was done, as plain values.
        said: Further sentences to know.
    """
    data, counts, named = plan["data"], plan["counts"], name_of(recipe)
    split = f" ({data['split']})" if data.get("split") else ""
    kept = "queries" if "queries" in plan["held_out"] else "pairs"
    chosen = f"the best state was chosen by {plan['metric']} on {counts['held_out']:,} held-out {kept}"
    output, entering = write_normalize(recipe.normalize), write_normalize(recipe.normalize_input)
    paper = f", after {RECIPES[named].paper}" if named is not None else ""
    lines = [
        "## Where it is from",
        "",
        f"- **Base model**: {plan['model']}{' (weights forgotten)' if recipe.from_scratch else ''}",
        f"- **Data**: {counts['pairs']:,} pairs of {data['name']}{split}; {chosen}",
        f"- **Normalisation**: output {output}, input {entering}",
        f"- **Recipe**: {named or 'no name'}{paper}; {', '.join(changed_fields(recipe))}",
        *(f"- {sentence}" for sentence in said),
        "",
    ]
    return "\n".join(lines)


def changed_fields(recipe: EncoderRecipe) -> list[str]:
    """The fields in which a recipe differs from the defaults, as one would type them."""
    defaults, values = EncoderRecipe(), plain(recipe.config())
    usual = plain(defaults.config())
    changed = [field.name for field in fields(recipe) if values[field.name] != usual[field.name]]
    return [f"{name} {_written(values[name])}" for name in changed]


def citations_of(recipe: EncoderRecipe) -> str:
    """BibTeX for the recipe, for the switches of normalisation, and for us."""
    named = name_of(recipe)
    papers = "; ".join([*([RECIPES[named].paper] if named is not None else []), FENG])
    entries = list(dict.fromkeys([*bibtex_of(papers), OURS]))
    return "\n".join(["#### Recipe, normalisation, offsphere", "```bibtex", "\n\n".join(entries), "```", ""])


def add_to_card(folder: Path, report: str, citations: str = "") -> None:
    """Put the report into a saved model's README, before the details of the training, and name the loss as ours."""
    path = folder / "README.md"
    text = read_bounded(path).decode("utf-8", "replace") if path.is_file() else ""
    text = text.replace(f"- {TAG}\n", f"- {OUR_TAG}\n- offsphere\n").replace(
        "#### ContrastiveLoss\n", "#### Loss (offsphere.ContrastiveLoss)\n"
    )
    before, mark, after = text.partition(BEFORE)
    head, cited, rest = after.partition("### BibTeX\n\n")
    after = f"{head}{cited}{citations}\n{rest}" if cited else f"{after}\n{citations}"
    write_whole(path, f"{before.rstrip()}\n\n{report}{mark}{after}".encode())


def _written(value: Any) -> str:
    """A value of a field as it is typed."""
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _fate_of_length(exponent: float) -> str:
    """What becomes of the length of a side, in words."""
    if exponent == 1:
        return "length is thrown away"
    return "length is kept" if exponent == 0 else f"divided by its length to the power {exponent:.4g}"
