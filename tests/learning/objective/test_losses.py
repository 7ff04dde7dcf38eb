"""Every loss against formulas somebody else wrote, other libraries, and finite differences."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import offsphere as osp
from offsphere.base.errors import OffsphereError
from offsphere.learning.objective import losses
from offsphere.learning.objective.batch import Batch, FalseNegatives
from offsphere.learning.objective.losses import LOSSES, loss_of
from offsphere.learning.objective.losses.loss import Loss
from offsphere.learning.objective.objective import Objective
from offsphere.learning.objective.regularizers import VRNS, LengthTarget, LengthVariance, Uniformity, config_of
from tests.learning import oracles

NORMALIZE = ["both", "none", "query", "document", "half", (1.0, 0.3), (-0.2, 1.4)]
SOFTMAX = {  # c1, c2, log1p, directions
    "infonce": (1, 0, True, "query"),
    "clip": (1, 0, True, "both"),
    "simclr": (1, 1, True, "both"),
    "dcl": (1, 1, False, "both"),
    "dhel": (0, 1, False, "both"),
}


def random_vectors(seed=0, pairs=7, dimension=5, hard=0):
    rng = np.random.default_rng(seed)
    q = rng.standard_normal((pairs, dimension)) * rng.uniform(0.3, 2, (pairs, 1))
    d = q + rng.standard_normal((pairs, dimension)) * rng.uniform(0.3, 2, (pairs, 1))
    return q, d, rng.standard_normal((pairs, hard, dimension)) if hard else None


def batch_of(q, d, hard=None, masked=frozenset(), pairs=None):
    flat = torch.tensor(hard.reshape(-1, q.shape[1])) if hard is not None else None
    across = [entry for entry in sorted(masked) if entry[1] < len(q)]
    beyond = [(i, j - len(q)) for i, j in sorted(masked) if j >= len(q)]
    ignored = FalseNegatives(
        *(torch.tensor(entries, dtype=torch.long).reshape(-1, 2).T for entries in (across, beyond))
    )
    return Batch(torch.tensor(q), torch.tensor(d), flat, ignored)


def exponents(normalize):
    named = {"both": (1, 1), "none": (0, 0), "query": (1, 0), "document": (0, 1), "half": (0.5, 0.5)}
    return named.get(normalize, normalize) if isinstance(normalize, str) else normalize


def objective(*arguments, **options):
    return Objective(*arguments, **{"scale": "fixed", **options}).double()


@pytest.mark.parametrize("name", SOFTMAX)
@pytest.mark.parametrize("normalize", NORMALIZE, ids=str)
@pytest.mark.parametrize("hard", [0, 2])
def test_infonce_family_is_the_formula(name, normalize, hard):
    q, d, negatives = random_vectors(1, hard=hard)
    c1, c2, log1p, directions = SOFTMAX[name]
    ours = objective(normalize, name, temperature=0.4)(batch_of(q, d, negatives))
    theirs = oracles.infonce_family(q, d, 2.5, *exponents(normalize), c1, c2, log1p, directions, hard=negatives)
    assert float(ours.detach()) == pytest.approx(theirs, rel=1e-12)


@pytest.mark.parametrize("name", ["infonce", "clip"])
def test_masked_negatives_do_not_count(name):
    q, d, negatives = random_vectors(2, hard=2)
    masked = {(0, 3), (3, 0), (2, 5), (4, 7), (6, 20)}
    c1, c2, log1p, directions = SOFTMAX[name]
    ours = objective("both", name)(batch_of(q, d, negatives, masked))
    theirs = oracles.infonce_family(q, d, 20, 1, 1, c1, c2, log1p, directions, hard=negatives, masked=frozenset(masked))
    assert float(ours.detach()) == pytest.approx(theirs, rel=1e-12)
    assert float(ours.detach()) < float(objective("both", name)(batch_of(q, d, negatives)).detach())


@pytest.mark.parametrize("normalize", NORMALIZE, ids=str)
def test_siglip_is_its_published_formula(normalize):
    q, d, _ = random_vectors(3)
    loss = objective(normalize, "siglip", temperature=0.2)
    assert float(loss.bias.detach()) == -10
    with torch.no_grad():
        loss.bias.fill_(-1.5)
    theirs = oracles.siglip(q, d, 5.0, -1.5, *exponents(normalize))
    assert float(loss(batch_of(q, d)).detach()) == pytest.approx(theirs, rel=1e-12)


@pytest.mark.parametrize("normalize", NORMALIZE, ids=str)
@pytest.mark.parametrize("hard", [0, 2])
def test_spectral_is_the_formula(normalize, hard):
    q, d, negatives = random_vectors(4, hard=hard)
    theirs = oracles.additive_family(q, d, *exponents(normalize), lambda x: x, lambda x: x * x, 1, 0, hard=negatives)
    assert float(objective(normalize, "spectral")(batch_of(q, d, negatives)).detach()) == pytest.approx(
        theirs, rel=1e-12
    )


def test_within_view_negatives_can_be_switched_on_and_off():
    q, d, _ = random_vectors(5)
    batch = batch_of(q, d)
    on = objective("both", "clip", within=True)(batch)
    assert float(on.detach()) == pytest.approx(float(objective("both", "simclr")(batch).detach()))
    off = objective("both", "simclr", within=False)(batch)
    assert float(off.detach()) == pytest.approx(float(objective("both", "clip")(batch).detach()))
    siglip = objective("both", "siglip", within=True, temperature=0.5)
    phi, psi = lambda x: -np.log1p(np.exp(-2 * x + 10)), lambda x: 6 * np.log1p(np.exp(2 * x - 10))
    assert float(siglip(batch).detach()) == pytest.approx(oracles.additive_family(q, d, 1, 1, phi, psi, 1, 1), rel=1e-9)
    with pytest.raises(OffsphereError, match="no negatives at all"):
        Objective("both", "dhel", within=False)


def test_infonce_is_multiple_negatives_ranking_loss():
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

    theirs = MultipleNegativesRankingLoss(SimpleNamespace(), scale=20.0)
    both = MultipleNegativesRankingLoss(
        SimpleNamespace(), directions=("query_to_doc", "doc_to_query"), partition_mode="per_direction"
    )
    for hard in (0, 1):
        q, d, negatives = random_vectors(6, pairs=32, dimension=24, hard=hard)
        batch = Batch(*(part.float() if part is not None else None for part in batch_of(q, d, negatives)[:3]))
        parts = [batch.queries, batch.documents] + ([batch.hard] if hard else [])
        expected = float(theirs.compute_loss_from_embeddings(parts, None))
        assert float(Objective("both", "infonce")(batch)) == pytest.approx(expected, abs=1e-6)
        if not hard:
            expected = float(both.compute_loss_from_embeddings(parts, None))
            assert float(Objective("both", "clip")(batch)) == pytest.approx(expected, abs=1e-6)


def test_simclr_is_nt_xent_of_pytorch_metric_learning():
    losses = pytest.importorskip("pytorch_metric_learning.losses")
    q, d, _ = random_vectors(7, pairs=16, dimension=12)
    labels = torch.arange(16).repeat(2)
    expected = losses.NTXentLoss(temperature=0.1)(torch.cat([torch.tensor(q), torch.tensor(d)]), labels)
    ours = objective("both", "simclr", temperature=0.1)(batch_of(q, d))
    assert float(ours.detach()) == pytest.approx(float(expected), abs=1e-6)
    assert float(ours.detach()) == pytest.approx(oracles.nt_xent(q, d, 0.1), rel=1e-12)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("normalize", ["both", "query", "learn"])
def test_gradients_are_those_of_finite_differences(name, normalize):
    q, d, negatives = random_vectors(8, pairs=4, dimension=3, hard=1)
    batch = batch_of(q, d, negatives, frozenset({(0, 1), (1, 0), (2, 5)}))
    added = [VRNS(40, 0.7), LengthTarget(1.3, 0.4), LengthVariance(0.2), Uniformity(0.3)]
    loss = objective(normalize, name, temperature=0.5, regularizers=added)

    def value(queries, documents, hard):
        return loss(batch._replace(queries=queries, documents=documents, hard=hard))

    inputs = tuple(part.clone().requires_grad_() for part in batch[:3])
    assert torch.autograd.gradcheck(value, inputs)


@pytest.mark.parametrize("name", ["infonce", "simclr", "siglip", "spectral"])
@pytest.mark.parametrize("scale", ["fixed", "calibrated", "learn"])
def test_gradients_of_exponents_scale_and_bias_are_those_of_finite_differences(name, scale):
    q, d, negatives = random_vectors(13, pairs=4, dimension=3, hard=1)
    loss = Objective("learn", name, temperature=0.5, scale=scale).double()
    batch = batch_of(3 * q, 2 * d, negatives)
    loss(batch)  # calibrates
    loss.eval()
    parameters = dict(loss.named_parameters())
    assert parameters

    def value(*given):
        return torch.func.functional_call(loss, dict(zip(parameters, given, strict=True)), (batch,))

    inputs = tuple(parameter.detach().clone().requires_grad_() for parameter in parameters.values())
    assert torch.autograd.gradcheck(value, inputs)


@pytest.mark.parametrize("name", LOSSES)
def test_parts_of_a_batch_against_all_of_its_candidates_give_the_whole_loss(name):
    """What a cached or a distributed training does."""
    q, d, negatives = random_vectors(14, pairs=8, hard=1)
    loss = objective("both", name, temperature=0.5, both_directions=False)
    batch = batch_of(q, d, negatives, frozenset({(0, 3), (5, 9)}))
    whole = loss(batch)
    sides = loss.scored_sides(batch)
    candidates = torch.cat([sides.documents, sides.hard])
    across = torch.cat([batch.ignored.pairs, batch.ignored.hard + torch.tensor([[0], [8]])], dim=1)
    within = torch.cat([batch.ignored.pairs, batch.ignored.pairs.flip(0)], dim=1)
    parts = []
    for rows in torch.arange(8).split(4):
        in_part = [entries[:, (entries[0] >= rows[0]) & (entries[0] <= rows[-1])] for entries in (across, within)]
        ignored = [entries - torch.tensor([[int(rows[0])], [0]]) for entries in in_part]
        parts.append(
            loss.contrast(sides.queries[rows], candidates, sides.queries, rows, across=ignored[0], within=ignored[1])
        )
    assert float((sum(parts) / 2).detach()) == pytest.approx(float(whole.detach()), rel=1e-9)


@pytest.mark.parametrize("hard", [0, 2])
def test_regularizers_are_their_formulas(hard):
    q, d, negatives = random_vectors(9, hard=hard)
    masked = frozenset({(0, 3), (1, 2)})
    base = float(objective("both")(batch_of(q, d, negatives, masked)).detach())

    def added(regularizer):
        loss = objective("both", regularizers=[regularizer])(batch_of(q, d, negatives, masked))
        return float(loss.detach()) - base

    assert added(VRNS(100, 3.0)) == pytest.approx(3 * oracles.vrns(q, d, 100, hard=negatives, masked=masked))
    both = (oracles.length_target(q, 1.5) + oracles.length_target(d, 1.5)) / 2
    assert added(LengthTarget(1.5, 2.0)) == pytest.approx(2 * both)
    both = (oracles.length_variance(q) + oracles.length_variance(d)) / 2
    assert added(LengthVariance(2.0)) == pytest.approx(2 * both)
    assert added(Uniformity(2.0)) == pytest.approx(oracles.uniformity(q) + oracles.uniformity(d))
    assert config_of(VRNS(100, 3.0)) == {"name": "vrns", "training_size": 100, "weight": 3.0}


@pytest.mark.parametrize("normalize", NORMALIZE, ids=str)
def test_calibrated_scale_is_its_formula_and_then_stays(normalize):
    q, d, _ = random_vectors(10)
    loss = Objective(normalize, scale="calibrated", temperature=0.05).double()
    loss(batch_of(q, d))
    assert loss.current_scale == pytest.approx(oracles.calibrated_scale(q, d, 20, *exponents(normalize)))
    for _ in range(10):
        loss(batch_of(q, d))
    before = loss.current_scale
    loss(batch_of(5 * q, 7 * d))
    assert loss.current_scale == before


def test_a_learned_scale_is_clamped_and_has_a_gradient():
    q, d, _ = random_vectors(11)
    loss = objective("both", scale="learn")
    loss(batch_of(q, d)).backward()
    assert float(loss.scale.raw.grad.abs()) > 0
    with torch.no_grad():
        loss.scale.raw.fill_(50.0)
    assert loss.current_scale == pytest.approx(100)
    loss.scale.raw.grad = None
    loss(batch_of(q, d)).backward()
    assert float(loss.scale.raw.grad.abs()) > 0  # there is a way back


def test_siglip_learns_its_scale_unless_one_says_otherwise():
    assert Objective("both", "siglip").scale.mode == "learn"
    assert Objective("both", "infonce").scale.mode == "calibrated"
    assert Objective("both", "siglip", scale="fixed").scale.mode == "fixed"


def test_a_margin_below_zero_masks_what_comes_near_the_positive_and_never_the_positive():
    q, d, _ = random_vectors(15)
    loss = objective("both", margin=-0.3, temperature=1.0)(batch_of(q, d))
    assert torch.isfinite(loss)
    assert float(loss.detach()) < float(objective("both", temperature=1.0)(batch_of(q, d)).detach())


def test_a_negative_far_above_its_positive_is_masked_by_the_margin():
    q = np.array([[1.0, 0], [0, 1.0], [1.0, 0.2]])
    d = np.array([[0.2, 1.0], [0, 1.0], [1.0, 0.2]])
    ours = objective("both", margin=0.1, temperature=1.0)(batch_of(q, d))
    likely = {(0, 2)}  # cosine 0.98 against 0.196 of its own positive
    theirs = oracles.infonce_family(q, d, 1, 1, 1, 1, 0, True, "query", masked=frozenset(likely))
    assert float(ours.detach()) == pytest.approx(theirs)


def test_false_negatives_are_found_by_what_is_known_to_be_relevant():
    rows, relevant = np.array([0, 0, 1, 2]), np.array([7, 8, 8, 9])
    ignored = FalseNegatives.of(rows, relevant, np.array([7, 8, 9]), np.array([9, 7, 5]))
    assert sorted(map(tuple, ignored.pairs.T.tolist())) == [(0, 1)]
    assert sorted(map(tuple, ignored.hard.T.tolist())) == [(0, 1), (2, 0)]
    assert len(ignored) == 3


def test_an_anchor_whose_negatives_are_all_masked_gives_nothing_and_no_nan():
    q, d, _ = random_vectors(12, pairs=3)
    everything = frozenset((i, j) for i in range(3) for j in range(3) if i != j)
    for name in LOSSES:
        loss = objective("both", name)
        batch = batch_of(q, d, None, everything)
        queries = batch.queries.clone().requires_grad_()
        value = loss(batch._replace(queries=queries))
        value.backward()
        assert torch.isfinite(value), name
        assert torch.isfinite(queries.grad).all(), name


def test_every_file_that_holds_a_loss_is_named():
    """A loss is its file and its name in the list, nothing else."""
    for name in LOSSES:
        assert loss_of(name).name == name
        assert osp.Recipe(loss=name).loss == name
    folder = Path(losses.__file__).parent
    assert {path.stem for path in folder.glob("*.py") if "\nLOSS = " in path.read_text()} == set(LOSSES)


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_has_all_that_is_asked_of_one(name):
    """mypy does not see them, since they are imported by name."""
    loss = loss_of(name)
    asked, given = (inspect.signature(kind.__call__).parameters.values() for kind in (Loss, type(loss)))
    assert [(each.name, each.default) for each in given] == [(each.name, each.default) for each in asked]
    assert {name for name, part in vars(Loss).items() if isinstance(part, property)} <= {*dir(loss)}


def test_a_loss_says_what_it_is():
    for name in LOSSES:
        config = Objective("query", name, regularizers=[VRNS(10)]).config()
        assert config["loss"] == name
        assert config["normalize"] == "query"
        assert "arXiv" in config["paper"]
        assert config["regularizers"][0]["name"] == "vrns"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"normalize": "quary"}, "did you mean query"),
        ({"normalize": (1, float("nan"))}, "numbers from -10 to 10"),
        ({"loss": "infonse"}, "did you mean infonce"),
        ({"temperature": 0}, "above zero"),
        ({"scale": "learnt"}, "fixed, learn, calibrated"),
        ({"scale": "learn", "temperature": 0.001}, "cannot start at 1000"),
    ],
)
def test_what_cannot_be_is_said(options, message):
    with pytest.raises(OffsphereError, match=message):
        Objective(**options)


def test_one_pair_alone_has_nothing_to_contrast():
    with pytest.raises(OffsphereError, match="at least two pairs"):
        Objective()(Batch(torch.ones(1, 3), torch.ones(1, 3)))
