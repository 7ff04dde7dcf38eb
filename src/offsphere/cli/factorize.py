"""``offsphere factorize``: what cosine means on the factors of a recommender."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from offsphere.base.errors import ParameterError
from offsphere.base.files import write_whole
from offsphere.cli.options import shared_options as options
from offsphere.cli.progress_bar import progress_bar
from offsphere.cli.steps.writable import check_writable
from offsphere.cli.tables.paragraphs import echo_paragraph

if TYPE_CHECKING:
    from offsphere.factors.closed_form import Factors
    from offsphere.factors.recommending import Recommendations
    from offsphere.factors.stability import Stability

NEIGHBOURS = 10
PENALISED = {
    "product": "the product of the factors",
    "nothing": "nothing",
    "factors": "each side's factors (weight decay, ALS)",
}

factorize_app = typer.Typer(help="What cosine means on learned factors: fit, test, demonstrate.", no_args_is_help=True)


@factorize_app.command("fit")
def fit_command(
    interactions: Annotated[Path, typer.Argument(help="Users x items: scipy sparse .npz, or dense .npy.")],
    rank: Annotated[int, typer.Option(help="How many factors.")] = 64,
    regularization: Annotated[float, typer.Option("--lambda", help="The weight of the penalty.")] = 1.0,
    objective: Annotated[int, typer.Option(help="1 penalises the product of the factors, 2 each of them.")] = 2,
    weighting: Annotated[str, typer.Option(help="none, standardize (each item) or popularity (inverse).")] = "none",
    power: Annotated[float, typer.Option(help="Of the popularity, for --weighting popularity.")] = 0.5,
    out: Annotated[Path | None, typer.Option(help="Folder for the factors.")] = None,
    metric: Annotated[str, typer.Option(help="Of the held-out interactions.")] = "ndcg@10",
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Of what is held out.")] = 0,
    as_json: options.AsJson = False,
) -> None:
    """Fit in closed form, judge on held-out interactions, and say whether cosine means anything."""
    from offsphere.factors.closed_form import factorize
    from offsphere.factors.factor_files import read_interactions
    from offsphere.factors.recommending import hold_out, recommend
    from offsphere.factors.stability import stability
    from offsphere.statistics.metrics import parse_metric

    if parse_metric(metric).kind != "ranking":
        raise ParameterError(f"{metric} has no value a user: use ndcg@10, mrr@10, recall@100, map@100, ...")
    if out is not None:
        check_writable(out / "factors.json")
    matrix = read_interactions(interactions)
    with progress_bar("factorising") as progress:
        show = progress or (lambda *_: None)
        show(0, 4)
        factors = factorize(
            matrix, rank, regularization, objective=objective, weighting=weighting, power=power, seed=seed
        )
        if out is not None:
            factors.save(out)
        show(1, 4)
        trust = stability(factors, neighbours=min(NEIGHBOURS, len(factors.items) - 1), seed=seed)
        show(2, 4)
        held_out = hold_out(matrix, seed=seed)
        refitted = factors.refit(held_out.train)
        show(3, 4)
        judged = recommend(refitted, held_out, metric=metric, seed=seed)
    if as_json:
        fit: dict[str, Any] = {"items": len(factors.items), "k": rank, "used": factors.used, "objective": objective}
        fit |= {"lambda": regularization, "weighting": weighting}
        fit |= {"empty_users": factors.empty_users, "empty_items": factors.empty_items}
        values = {"factors": fit, "recommending": judged.to_json(), "stability": trust.to_json()}
        typer.echo(json.dumps(values, indent=2, allow_nan=False))
        return
    _print_fit(factors, rank, judged, trust)
    if out is not None:
        typer.echo(f"The factors are in {out}.")


@factorize_app.command("stability")
def stability_command(
    items: Annotated[Path, typer.Argument(help="Item factors (.npy, a row an item), or a folder of factorize fit.")],
    users: Annotated[Path | None, typer.Option(help="User factors (.npy), to check that no score changes.")] = None,
    regularized: Annotated[
        str | None,
        typer.Option(help="What training penalised: product, nothing, or factors (weight decay, ALS)."),
    ] = None,
    freedom: Annotated[str | None, typer.Option(help="Or directly: diagonal, invertible, rotation.")] = None,
    neighbours: Annotated[int, typer.Option(help="How many nearest neighbours to watch.")] = 10,
    draws: Annotated[int, typer.Option(help="Random changes to try.")] = 10,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Of the random changes.")] = 0,
    as_json: options.AsJson = False,
) -> None:
    """How far can cosine neighbours change while the model does not change at all?"""
    from offsphere.factors.closed_form import Factors
    from offsphere.factors.factor_files import read_numbers
    from offsphere.factors.stability import REGULARIZED, stability

    factors = Factors.load(items) if items.is_dir() else read_numbers(items, 2)
    others = read_numbers(users, 2) if users is not None else None

    def judge(penalised: str | None) -> Stability:
        return stability(
            factors, others, freedom=freedom, regularized=penalised, neighbours=neighbours, draws=draws, seed=seed
        )

    if items.is_dir() or regularized is not None or freedom is not None:
        trust = judge(regularized)
        if as_json:
            typer.echo(json.dumps(trust.to_json(), indent=2, allow_nan=False))
        else:
            _print_stability(trust)
        return
    # a file does not say what its training penalised, which decides what may change: all that may be is told
    by_penalty = {penalised: judge(penalised) for penalised in REGULARIZED}
    if as_json:
        told = {"regularized": {penalised: trust.to_json() for penalised, trust in by_penalty.items()}}
        typer.echo(json.dumps(told, indent=2, allow_nan=False))
        return
    for penalised, trust in by_penalty.items():
        typer.echo(f"If the training penalised {PENALISED[penalised]}:")
        echo_paragraph(trust.verdict, "  ")
    echo_paragraph("Say which it was with --regularized product, nothing or factors, to see more of it.")


@factorize_app.command("demo")
def factorize_demo_command(
    out: Annotated[Path, typer.Option(help="The page.")] = Path("factors.html"),
    users: Annotated[int, typer.Option(help="Simulated users.")] = 20_000,
    items: Annotated[int, typer.Option(help="Simulated items.")] = 1_000,
    clusters: Annotated[int, typer.Option(help="Clusters of items.")] = 5,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Of the simulation.")] = 0,
) -> None:
    """Simulate clustered users and items, and draw how far the cosines of one and the same model can differ."""
    from offsphere.factors.experiment import RANK, experiment
    from offsphere.factors.simulation import simulate
    from offsphere.report.factor_page import factors_to_html

    check_writable(out)
    data = simulate(users, items, clusters, most_items=min(100, items), seed=seed)
    result = experiment(data, max(1, min(RANK, items // 2, users // 2)), seed=seed)
    write_whole(out, factors_to_html(result).encode())
    for panel in result.panels:
        echo_paragraph(f"{panel.title}: within {panel.within:.3f}, between {panel.between:.3f}, AUC {panel.auc:.3f}")
    echo_paragraph(result.stability.verdict)
    typer.echo(f"The page is {out} ({out.stat().st_size / 1e6:.1f} MB).")


def _print_fit(factors: Factors, rank: int, judged: Recommendations, trust: Stability) -> None:
    """The factors, what scorers are worth on held-out interactions, and whether their cosines can be trusted."""
    from offsphere.cli.tables.comparison_table import print_comparison

    echo_paragraph(f"{factors!r}: {factors.used} of {rank} factors in use")
    if factors.empty_users or factors.empty_items:
        empty = f"{factors.empty_users:,} users and {factors.empty_items:,} items have no interactions; they are zero"
        typer.echo(f"warning: {empty}", err=True)
    print_comparison(judged.table, every_row=True)
    for sentence in judged.sentences[1:]:
        echo_paragraph(sentence)
    _print_stability(trust)


def _print_stability(trust: Stability) -> None:
    """What changes of the factors do to cosine neighbours: named changes one by one, random ones together."""
    drawn = [change for change in trust.changes if change.drawn]
    for change in trust.changes:
        if change not in drawn:
            echo_paragraph(
                f"{change.name}: {change.overlap:.0%} of neighbours stay, rank correlation "
                f"{change.rank_correlation:+.2f}"
            )
    if drawn:
        low, high = (pick(change.overlap for change in drawn) for pick in (min, max))
        echo_paragraph(f"{len(drawn)} random changes ({trust.freedom}): {low:.0%} to {high:.0%} of neighbours stay")
    rounding = max(change.score_change for change in trust.changes)
    echo_paragraph(f"no score of the model changes by more than {rounding:.0e} of the largest")
    if len(trust.asked) < trust.items:
        echo_paragraph(f"looked at the neighbours of {len(trust.asked):,} of {trust.items:,} items")
    echo_paragraph(trust.verdict)
    if not trust.determined:
        named = ", ".join(f"{item} ({share:.0%})" for item, share in trust.least_trusted[:5])
        echo_paragraph(f"Least to be trusted are items {named}.")
