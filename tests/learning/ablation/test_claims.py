"""Claims are judged by what was claimed, the right way round, and only by runs that are large enough."""

from __future__ import annotations

from dataclasses import replace
from math import nan
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import ttest_rel, variation

import offsphere as osp
from offsphere.learning.ablation import claim_verdicts
from offsphere.learning.ablation.assemble import RunEvidence
from offsphere.learning.ablation.claim_verdicts import Subject, verdict
from offsphere.learning.ablation.claims import BEFORE, CLAIMS, DUAL, ITSELF, LeastRun, RunSize
from offsphere.learning.ablation.foretold import by_ratio, by_variation
from offsphere.learning.ablation.probe_ends import ProbeEnds, difference_over_seeds
from offsphere.learning.ablation.variants import Variant
from offsphere.learning.adapters.adapter_recipe import Recipe
from offsphere.learning.adapters.adapter_setup import AdapterSetup
from offsphere.learning.adapters.adapter_trainer import AdapterTrainer
from offsphere.learning.data.task_sources import VectorSource
from offsphere.learning.data.training_data import divide
from offsphere.statistics.difference import Difference
from tests.learning.conftest import hidden

LARGE = RunSize(steps=500, seeds=3, pairs=5_000, batch=32)


def findings_of(names, tasks, evidence, **where):
    """Variants of a grid, known by their names."""
    subjects = [name if isinstance(name, Subject) else Subject(name, name) for name in names]
    return claim_verdicts.claim_findings(subjects, tasks, evidence, **where)


class Given:
    """Evidence that is what a test says."""

    def __init__(self, by_metric, by_probe=None, values=None, size=LARGE):
        self.by_metric, self.by_probe, self.values, self.run_size = by_metric, by_probe or {}, values or {}, size
        self.asked = []

    def difference(self, variant, baseline, task):
        self.asked.append((variant, baseline, task))
        return self.by_metric

    def probed(self, variant, baseline, quantity):
        return self.by_probe.get(quantity)

    def probe_value(self, variant, quantity):
        return self.values.get((variant, quantity), nan)

    def size(self, variant, baseline):
        return self.run_size


SURE = Difference(-0.1, -0.15, -0.05, 0.0001)


@pytest.mark.parametrize(
    ("kind", "difference", "p", "answer"),
    [
        ("above", 0.1, 0.01, "holds"),
        ("above", -0.1, 0.01, "does not hold"),
        ("above", 0.1, 0.5, "not decided"),
        ("not above", -0.3, 0.01, "holds"),
        ("not above", 0.3, 0.01, "does not hold"),
        ("below", -0.3, 0.01, "holds"),
        ("below", 0.3, 0.01, "does not hold"),
        ("other", -0.3, 0.01, "holds"),
        ("other", 0.3, 0.2, "not decided"),
    ],
)
def test_a_claim_is_judged_the_right_way_round(kind, difference, p, answer):
    assert verdict(kind, difference, p) == answer


def test_claims_are_corrected_together_and_only_those_that_fit_are_tested():
    names = ["cosine", "dot", "query", "learn", "document"]
    evidence = Given(Difference(0.1, 0.05, 0.15, 0.02))
    findings = findings_of(names, ["home", "away"], evidence, pairs=False)
    assert ("query", "cosine", 1) in evidence.asked  # out of the domain
    assert len(findings) == len(evidence.asked) == 5
    assert all(claim.verdict == "not decided" for claim in findings)  # 0.02 times 5
    assert {claim.verdict for claim in findings_of(["cosine", "query"], ["home"], evidence, pairs=False)} == {"holds"}
    assert all("symmetric" in claim.claim for claim in findings_of(["cosine", "dot"], ["home"], evidence, pairs=True))


@pytest.mark.parametrize(
    ("small", "reason"),
    [
        ({"steps": 99}, "(99 steps: too few to judge claims by, it takes 100)"),
        ({"pairs": 99}, "(99 pairs to learn from, it takes 100)"),
    ],
)
def test_claims_are_not_judged_by_runs_that_are_too_small(small, reason):
    (judged,) = findings_of(["cosine", "query"], ["home"], Given(SURE), pairs=False)
    assert judged.verdict == "does not hold"
    (short,) = findings_of(["cosine", "query"], ["home"], Given(SURE, size=LARGE._replace(**small)), pairs=False)
    assert short.verdict == "not judged"
    assert short.evidence.endswith(f"-0.1000 [-0.1500, -0.0500], p = 0.0001 {reason}")


def test_what_is_not_judged_dilutes_nobody():
    """Three claims on VRNS; the one that is made of small batches falls out, and 0.02 is corrected for two."""
    probes = dict.fromkeys(("negative_variance", "alignment"), Difference(-0.01, -0.02, -0.001, 0.02))
    evidence = Given(SURE, probes, size=LARGE._replace(batch=256))
    findings = {
        claim.claim: claim for claim in findings_of(["cosine", "cosine + vrns"], ["home"], evidence, pairs=False)
    }
    assert findings["VRNS lowers the variance of negatives"].verdict == "holds"
    assert "p = 0.04" in findings["VRNS lowers the variance of negatives"].evidence
    accuracy = findings["VRNS helps at small batches"]
    assert accuracy.verdict == "not judged"
    assert accuracy.evidence.endswith("(it is made of batches of 64 or fewer, not of 256)")


def test_every_claim_about_a_probe_takes_three_seeds():
    of_probes = [claim for claim in CLAIMS if claim.quantity]
    assert len(of_probes) == 10
    for claim in of_probes:
        assert claim.least.why_not(LARGE) == ""
        assert claim.least.why_not(LARGE._replace(seeds=2)) == "2 seeds, it takes 3"
    assert LeastRun(seeds=3).why_not(LARGE._replace(seeds=1)) == "1 seed, it takes 3"


@pytest.mark.parametrize(("value", "answer"), [(0.004, "holds"), (0.5, "not decided"), (1e-9, "not decided")])
def test_negatives_are_held_against_the_bounds_for_their_batch(value, answer):
    low = (5_000 - 32) / (31 * 4_999**2)
    evidence = Given(SURE, values={("cosine", "negative_variance"): value})
    (finding,) = findings_of(["cosine"], ["home"], evidence, pairs=False)
    assert finding.verdict == answer
    assert f"bounds {low:.2g} to {5_000 * low:.2g}" in finding.evidence
    assert "batches of 32 out of 5,000" in finding.claim


@pytest.mark.parametrize(
    ("ratio", "favoured"),
    [(4.0, "document"), (9.0, "document"), (0.5, "query"), (2.0, "query"), (3.0, None), (12, None)],
)
def test_the_ratio_of_query_variations_is_judged_by_the_ranking_it_foretells(ratio, favoured):
    claim = by_ratio(ratio).claim
    assert (claim.variant if claim else None) == favoured
    values = {("document", "query_variation"): ratio * 0.1, ("dot", "query_variation"): 0.1}
    findings = findings_of(["document", "dot", "query"], ["home"], Given(SURE, values=values), pairs=False)
    (about,) = [finding for finding in findings if "ratio of query variations" in finding.claim]
    assert about.verdict == ("does not hold" if favoured else "not judged")


@pytest.mark.parametrize(("variation", "kind"), [(0.3, "above"), (0.02, "not above"), (0.07, None)])
def test_the_variation_of_document_lengths_is_judged_by_the_ranking_it_foretells(variation, kind):
    claim = by_variation(variation).claim
    assert (claim.kind if claim else None) == kind
    values = {("query", "document_variation"): variation}
    findings = findings_of(["cosine", "query"], ["home"], Given(SURE, values=values), pairs=False)
    (about,) = [finding for finding in findings if "document lengths vary" in finding.claim]
    assert about.verdict == {"above": "does not hold", "not above": "holds", None: "not judged"}[kind]


def test_other_claims_are_made_of_other_starts():
    names = ["cosine", "dot"]
    texts = {
        start: " ".join(
            finding.claim for finding in findings_of(names, ["home"], Given(SURE), pairs=False, start=start)
        )
        for start in ("trained", "normalised", "scratch")
    }
    assert "plain dot product is above" in texts["trained"]
    assert "behind a normalisation loses" in texts["normalised"]
    assert "plain dot product is above" not in texts["normalised"]
    assert texts["scratch"].startswith("from scratch cosine is above the dot product")


def crossed(name, role, batch):
    return Subject(f"{name} + batch {batch}", role, f"batch {batch}")


def test_what_is_crossed_is_judged_setting_by_setting():
    """Two weights of VRNS and none, at two batches: each weight against none at its own batch, and no other pair."""
    subjects = [
        crossed(f"vrns {weight}", "cosine + vrns" if weight else "cosine", batch)
        for weight in (0, 10, 30)
        for batch in (16, 256)
    ]
    probes = {"negative_variance": Difference(-0.01, -0.02, -0.001, 0.0001)}
    evidence = Given(SURE, probes)
    evidence.size = lambda variant, _: LARGE._replace(batch=int(variant.rpartition(" ")[2]))
    findings = findings_of(subjects, ["home"], evidence, pairs=False)
    assert set(evidence.asked) == {
        (f"vrns {weight} + batch {batch}", f"vrns 0 + batch {batch}", 0) for weight in (10, 30) for batch in (16, 256)
    }
    helps = {finding.claim: finding for finding in findings if finding.claim.startswith("VRNS helps")}
    assert helps["VRNS helps at small batches, at batch 16"].verdict == "does not hold"
    assert helps["VRNS helps at small batches, at batch 256"].verdict == "not judged"
    (scatter,) = [finding for finding in findings if finding.claim.startswith("smaller batches scatter")]
    assert scatter.evidence.startswith("vrns 0 + batch 16 less vrns 0 + batch 256 in negative variance")


def test_a_model_trained_for_dot_is_held_against_cosine_of_its_own_vectors():
    held_out, by_cosine = np.array([0.9, 0.92, 0.91]), np.array([0.3, 0.35, 0.28])
    rows = [[{"step": 0, "x": 1.0}, {"step": 200, "x": 1.0}]] * 3
    run = SimpleNamespace(ends=ProbeEnds.of(rows), dynamics=rows[0], held_out=held_out, by_cosine=by_cosine)
    evidence = RunEvidence([Variant("dot", Recipe(batch=32), [(0.05, 0.01)])], [run], None, 5_000)
    assert evidence.probed("dot", ITSELF, DUAL).p == pytest.approx(ttest_rel(by_cosine, held_out).pvalue)
    (finding,) = findings_of(["dot"], ["home"], evidence, pairs=False)
    assert finding.verdict == "holds"


def test_differences_over_seeds_are_those_of_a_paired_t_test():
    rng = np.random.default_rng(0)
    first, second = rng.normal(0.3, 1, 5), rng.normal(0, 1, 5)
    result = difference_over_seeds(first, second)
    theirs = ttest_rel(first, second)
    assert result.p == pytest.approx(theirs.pvalue)
    assert (result.low, result.high) == pytest.approx(tuple(theirs.confidence_interval(0.95)))
    alike = difference_over_seeds(first[:1], second[:1])
    assert alike.difference == pytest.approx(first[0] - second[0])
    assert np.isnan(alike.p)


def test_ends_are_the_first_and_the_last_row_that_is_of_no_layer():
    rows = [{"step": 0, "x": 1.0, "layer": None}, {"step": 9, "x": 3.0, "layer": None}, {"layer": 0, "y": 7.0}]
    ends = ProbeEnds.of([rows, [{**row, "x": 5.0} for row in rows[:2]]])
    assert ends.at_start("x").tolist() == [1, 5]
    assert ends.at_end("x").tolist() == [3, 5]
    assert len(ends.at_end("y")) == 0
    assert len(ProbeEnds.of([[]]).at_end("x")) == 0


def test_a_variant_is_held_against_itself_before_training():
    """Anisotropy of tokens falls from 0.9 by about a half with each of three seeds: paired, by scipy."""
    ends = [0.38, 0.42, 0.41]
    rows = [[{"step": 0, "token_anisotropy": 0.9}, {"step": 200, "token_anisotropy": end}] for end in ends]
    run = SimpleNamespace(ends=ProbeEnds.of(rows), dynamics=rows[0], held_out=np.zeros(3))
    evidence = RunEvidence([Variant("cosine", Recipe(batch=32), [(0.05, 0.01)])], [run], None, 5_000)
    result = evidence.probed("cosine", BEFORE, "token_anisotropy")
    assert result.p == pytest.approx(ttest_rel(ends, [0.9] * 3).pvalue)
    assert evidence.size("cosine", "cosine") == RunSize(200, 3, 5_000, 32)
    (finding,) = findings_of(["cosine"], ["home"], evidence, pairs=False)
    assert (finding.claim, finding.verdict) == ("contrast lowers the anisotropy of tokens", "holds")
    assert finding.evidence.startswith(
        "cosine less before training in token anisotropy of the probe, over seeds: -0.49"
    )


PLAIN = Recipe(batch=8, epochs=8, hard_negatives=0, temperature=0.05, rate=0.01)
SWITCHES = {
    "cosine": {},
    "document": {"normalize": "document"},
    "dot": {"normalize": "none"},
    "query": {"normalize": "query"},
    "cosine + vrns": {"vrns": 30.0},
}


@pytest.fixture(scope="module")
def ablated():
    variants = [Variant(name, replace(PLAIN, **switch), [(0.05, 0.01)]) for name, switch in SWITCHES.items()]
    return osp.ablate(hidden(seed=0), variants=variants, seeds=3)


@pytest.mark.slow
def test_vrns_is_judged_by_the_variance_of_negatives(ablated):
    findings = {finding.claim: finding for finding in ablated.findings}
    assert findings["VRNS lowers the variance of negatives"].verdict == "holds"
    assert findings["VRNS lowers the variance of negatives"].quantity == "negative_variance"
    assert findings["VRNS does not part the positives"].verdict in ("holds", "does not hold", "not decided")
    assert findings["VRNS helps at small batches"].verdict != "not judged"
    assert sum("between bounds" in finding.claim for finding in ablated.findings) == 2
    assert not any(finding.quantity.startswith("token") for finding in ablated.findings)
    told = [finding for finding in ablated.findings if finding.quantity not in ("cohen_d", "by_cosine")]
    assert BEFORE not in " ".join(finding.evidence for finding in told)  # an adapter has no tokens


def test_the_ratio_of_query_variations_is_that_of_the_probes(ablated):
    """Trained again by hand, and measured by scipy on the probe's adapted queries."""
    (about,) = [finding for finding in ablated.findings if "ratio of query variations" in finding.claim]
    train, test = (part.embedded for part in divide(VectorSource(*hidden(seed=0)), 0)[:2])
    setup = AdapterSetup.of(train, judged=[test])
    means = {}
    for name in ("document", "dot"):
        spreads = []
        for seed in range(3):
            trainer = AdapterTrainer(
                replace(PLAIN, **SWITCHES[name]), setup.pairs, setup.evaluate, setup.probe, seed=seed
            )
            trainer.run()
            mapped = trainer.module.adapter(trainer.objective).apply(setup.probe.queries.numpy(), "query")
            spreads.append(variation(np.linalg.norm(mapped, axis=1)))
        means[name] = np.mean(spreads)
    assert f"{means['document'] / means['dot']:.2g}" in f"{about.claim} {about.evidence}".replace(",", "").split()


def test_findings_come_back_from_disk(ablated, tmp_path):
    ablated.save(tmp_path)
    assert osp.Ablation.load(tmp_path).findings == ablated.findings
