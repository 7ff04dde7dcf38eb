"""Training on frozen vectors: what is learned, what is kept, what is said when something is wrong."""

from __future__ import annotations

from dataclasses import replace
from itertools import repeat

import numpy as np
import pytest
import torch

import offsphere as osp
from offsphere.base.errors import OffsphereError
from offsphere.data.judgments import Judgments
from offsphere.data.pair_task import PairTask
from offsphere.data.ranking_task import RankingTask
from offsphere.data.task_vectors import PairVectors, RankingVectors
from offsphere.learning.adapters import adapter_trainer
from offsphere.learning.adapters.adapter_recipe import Recipe
from offsphere.learning.adapters.adapter_setup import AdapterSetup
from offsphere.learning.adapters.adapter_trainer import AdapterTrainer
from offsphere.learning.data.mined_negatives import MinedNegatives
from offsphere.learning.data.pair_vectors import gather
from offsphere.learning.data.task_sources import VectorSource
from offsphere.learning.data.training_data import rows_apart
from offsphere.learning.data.training_pairs import TrainingPairs
from offsphere.scoring.adapter import Adapter
from tests.learning import oracles
from tests.learning.conftest import hidden

SHORT = {"batch": 64, "epochs": 8, "rate": 0.03}


def test_it_finds_a_hidden_map(hidden_map):
    adapter = osp.adapt(*hidden_map, batch=64, rate=0.03, new_documents=True)
    assert adapter.record.run.start < 0.1
    assert adapter.record.run.best > 0.8
    assert adapter.record.counts["held_out"] + adapter.record.counts["pairs"] == 240


@pytest.mark.parametrize("normalize", ["both", "none", "query", "document", "half", "learn", (1.0, 0.3)], ids=str)
def test_every_normalisation_learns_and_ships_the_similarity_it_was_trained_for(hidden_map, normalize):
    adapter = osp.adapt(*hidden_map, normalize=normalize, batch=64, epochs=40, rate=0.03)
    assert adapter.record.run.best > adapter.record.run.start + 0.2
    expected = Recipe(normalize=normalize).exponents
    if not expected.learned:
        assert adapter.similarity == expected.similarity
    else:
        assert adapter.similarity != expected.similarity


@pytest.mark.parametrize("loss", ["infonce", "clip", "simclr", "dcl", "dhel", "siglip"])
def test_every_loss_learns(hidden_map, loss):
    adapter = osp.adapt(*hidden_map, loss=loss, batch=64, epochs=30, rate=0.03)
    assert adapter.record.run.best > adapter.record.run.start + 0.1


def test_the_same_seed_gives_the_same_adapter_and_another_seed_another(hidden_map):
    first, again, another_seed = (osp.adapt(*hidden_map, seed=seed, **SHORT) for seed in (0, 0, 1))
    assert np.array_equal(first.query.matrix, again.query.matrix)
    assert not np.array_equal(first.query.matrix, another_seed.query.matrix)


def test_all_recipes_see_the_same_pairs_in_the_same_order(hidden_map):
    setup = AdapterSetup.of(hidden_map)
    seen = []

    class Watched(AdapterTrainer):
        def _step(self, chosen):
            seen[-1].append(chosen)
            return super()._step(chosen)

    for options in ({}, {"normalize": "none"}, {"hard_negatives": 0}, {"rank": 4, "magnitude": "added"}):
        seen.append([])
        recipe = Recipe(**SHORT, patience=100, **options)
        Watched(recipe, setup.pairs, setup.evaluate, setup.probe, seed=3).run()
    assert len(seen[0]) > 20
    for batches in seen[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(seen[0], batches, strict=True))


def test_classes_have_many_pairs_and_take_no_more_steps_than_one_waits_for(monkeypatch):
    monkeypatch.setattr(adapter_trainer, "MOST_PAIRS", 10_000)
    monkeypatch.setattr(adapter_trainer, "EVALUATE_EVERY", (25, 1_000))
    each = range(40)  # all of one class: 1,600 pairs
    judged = {f"q{query}": {f"d{document}": 1.0 for document in each} for query in each}
    task = RankingTask.from_judgments(judged, [f"d{document}" for document in each])
    sides = np.random.default_rng(0).standard_normal((2, 40, 4)).astype(np.float32)
    vectors = RankingVectors.of(task, *sides)
    setup = AdapterSetup.of((task, vectors))

    class Counting(AdapterTrainer):  # what a step does is not looked at
        def _batches(self):
            return repeat(each)

        def _step(self, chosen):
            return 0.0

    recipe = Recipe(batch=2, hard_negatives=0, dynamics_every=0, patience=None)
    fit = Counting(recipe, setup.pairs, lambda _: 0.0, setup.probe, seed=0).run()
    assert 10 * (len(setup.pairs) // 2) > 5_000  # ten passes would take more
    assert fit.run.steps == 5_000
    assert [step for step, _, _ in fit.run.history] == list(range(0, 5_001, 500))
    asked = Counting(replace(recipe, epochs=10), setup.pairs, lambda _: 0.0, setup.probe, seed=0).run()
    assert asked.run.steps == 10 * (len(setup.pairs) // 2) > 5_000  # who says how many passes gets them


def test_no_steps_are_the_original(hidden_map):
    adapter = osp.adapt(*hidden_map, epochs=0)
    assert np.array_equal(adapter.query.matrix, np.eye(16))
    assert adapter.record.run.best == adapter.record.run.start


def test_the_best_of_several_seeds_is_kept_and_all_are_told(hidden_map):
    adapter = osp.adapt(*hidden_map, seeds=3, **SHORT)
    runs = adapter.record.runs
    assert [run.seed for run in runs] == [0, 1, 2]
    assert adapter.record.run.best == max(run.best for run in runs)


def test_the_record_comes_back_from_disk_with_the_dynamics(hidden_map, tmp_path):
    adapter = osp.adapt(*hidden_map, normalize="learn", **SHORT)
    adapter.save(tmp_path)
    again = Adapter.load(tmp_path).record
    assert again.run.best == adapter.record.run.best
    assert again.recipe["normalize"] == "learn"
    assert [row["step"] for row in again.dynamics] == [row["step"] for row in adapter.record.dynamics]
    last = again.dynamics[-1]
    assert last["positive_mean"] > again.dynamics[0]["positive_mean"]
    assert {"query_anisotropy", "negative_variance", "cohen_d", "query_exponent", "scale"} <= set(last)


def test_the_dynamics_are_what_measure_says(hidden_map):
    """The probe's anisotropy, lengths and effect against the geometry of the adapted vectors themselves."""
    setup = AdapterSetup.of(hidden_map)
    trainer = AdapterTrainer(Recipe(**SHORT), setup.pairs, setup.evaluate, setup.probe, seed=0)
    trainer.run()
    row = setup.probe.measure(trainer.module, trainer.objective)
    adapter = trainer.module.adapter(trainer.objective)
    d = adapter.apply(setup.probe.documents.numpy(), "document").astype(np.float64)
    q = adapter.apply(setup.probe.queries.numpy(), "query").astype(np.float64)
    u, v = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (q, d))
    n = len(v)
    assert row["document_anisotropy"] == pytest.approx(((v @ v.T).sum() - n) / (n * (n - 1)), abs=1e-5)
    assert row["document_length"] == pytest.approx(np.linalg.norm(d, axis=1).mean(), rel=1e-5)
    cosines = u @ v.T
    assert row["positive_mean"] == pytest.approx(np.diag(cosines).mean(), abs=1e-5)
    apart = cosines[~np.eye(n, dtype=bool)]
    assert row["negative_variance"] == pytest.approx(apart.var(), abs=1e-5)
    assert row["alignment"] == pytest.approx(oracles.alignment(q, d), abs=1e-4)
    assert row["query_uniformity"] == pytest.approx(oracles.uniformity(q), abs=1e-4)
    assert row["query_anisotropy"] == pytest.approx(((u @ u.T).sum() - n) / (n * (n - 1)), abs=1e-5)
    others = adapter.apply(setup.probe.others.numpy(), "document").astype(np.float64)
    wanted_lengths, other_lengths = (np.linalg.norm(rows, axis=1) for rows in (d, others))
    pooled = np.sqrt(
        sum(values.var(ddof=1) * (len(values) - 1) for values in (wanted_lengths, other_lengths))
        / (len(wanted_lengths) + len(other_lengths) - 2)
    )
    assert row["cohen_d"] == pytest.approx((wanted_lengths.mean() - other_lengths.mean()) / pooled, abs=1e-4)


def test_documents_that_any_query_wants_are_none_of_the_others(hidden_map):
    task, vectors = hidden_map
    wanted = vectors.documents[task.judgments.relevant_to_any]
    others = AdapterSetup.of(hidden_map).probe.others.numpy()
    assert not (others[:, None] == wanted[None]).all(axis=2).any()


def test_what_a_query_must_not_get_back_is_no_negative_either():
    task, vectors = hidden()
    near = np.argsort(-(vectors.queries @ vectors.documents.T), axis=1)[:, :3]
    rows = np.repeat(np.arange(240), 3)
    excluded = Judgments.of(rows, near.ravel(), np.ones(len(rows)), 240, 400)
    pairs = TrainingPairs.of(VectorSource(replace(task, excluded=excluded), vectors))
    mined = MinedNegatives.by(osp.parse_scorer("dot"), pairs, np.random.default_rng(0)).negatives
    assert not any(set(mined[row]) & set(near[row]) for row in range(240))
    assert pairs.distinct == len(np.unique(vectors.queries, axis=0))


def test_a_positive_that_is_its_own_negative_is_masked_and_counted():
    task, vectors = hidden()
    same = RankingTask.from_judgments({name: {"d0": 1.0} for name in task.query_ids}, task.document_ids)
    adapter = osp.adapt(same, RankingVectors.of(same, vectors.queries, vectors.documents), hard_negatives=0, **SHORT)
    assert adapter.record.counts["negatives_masked"] == adapter.record.run.steps * 64 * 63
    assert np.array_equal(adapter.query.matrix, np.eye(16))  # without a negative there is nothing to learn


def test_a_loss_that_is_no_number_stops_at_the_last_good_state(hidden_map):
    adapter = osp.adapt(*hidden_map, normalize="none", rate=1e30, scale="fixed", batch=64)
    assert "lower the rate" in adapter.record.run.stopped
    assert any("not a finite number at step" in note for note in adapter.record.notes)
    assert np.isfinite(adapter.query.matrix).all()
    assert adapter.record.run.best >= adapter.record.run.start


def test_a_batch_larger_than_the_data_is_all_of_it(hidden_map):
    adapter = osp.adapt(*hidden_map, batch=10_000, epochs=60, rate=0.03)
    assert any("all 204 are one batch" in note for note in adapter.record.notes)
    assert adapter.record.run.best > adapter.record.run.start


def test_other_pairs_are_learned_from_too_and_balanced(hidden_map):
    task, vectors = hidden_map
    larger = hidden(queries=2_000, seed=0)
    pairs = TrainingPairs.of(VectorSource(*hidden_map), also=[VectorSource(*larger)])
    repeated = int((pairs.source == 0).sum())
    assert repeated == 240 * 8  # 2,000 others, 240 of its own
    assert len(pairs) == repeated + 2_000
    q, d = gather(pairs, np.array([0, len(pairs) - 1]))
    assert np.array_equal(q[0], vectors.queries[task.judgments.queries[0]])
    assert np.array_equal(d[1], larger[1].documents[larger[0].judgments.documents[-1]])


def test_another_corpus_with_the_same_ids_is_another_corpus():
    first, (task, vectors) = hidden(), hidden(seed=5)
    pairs = TrainingPairs.of(VectorSource(*first), also=[VectorSource(replace(task, name="another"), vectors)])
    assert not np.isin(pairs.sources[0].document_keys, pairs.sources[1].document_keys).any()


def test_a_document_that_two_tasks_of_a_corpus_name_is_the_same():
    task, vectors = hidden()
    # encoded differently, the same ids
    encoded_again = VectorSource(task, replace(vectors, documents=vectors.documents * 2))
    pairs = TrainingPairs.of(VectorSource(task, vectors), also=[encoded_again])
    assert np.array_equal(pairs.sources[0].document_keys, pairs.sources[1].document_keys)


def pair_task(count=200, seed=0):
    rng = np.random.default_rng(seed)
    left = rng.standard_normal((count, 12)).astype(np.float32)
    gold = rng.uniform(0, 5, count)
    right = (left * (gold / 5)[:, None] + rng.standard_normal((count, 12)) * 0.8).astype(np.float32)
    task = PairTask("pairs", gold)
    return task, PairVectors.of(task, left, right)


def test_pairs_are_learned_from_where_people_find_them_alike():
    task, vectors = pair_task()
    adapter = osp.adapt(task, vectors, batch=16, epochs=20, hard_negatives=0)
    assert adapter.record.metric == "spearman"
    assert adapter.symmetric
    assert not adapter.record.notes
    learned = task.gold[rows_apart(task, 0.15, 0)[0]]
    alike = learned >= task.gold.min() + 0.8 * np.ptp(task.gold)
    assert adapter.record.counts["pairs"] == alike.sum()


def test_one_sided_normalisation_of_pairs_is_warned_of():
    adapter = osp.adapt(*pair_task(), sides="tied", normalize="query", batch=16, epochs=2, hard_negatives=0)
    assert any("depends on their order" in note for note in adapter.record.notes)
    for options in ({"normalize": "learn"}, {"normalize": "none", "normalize_input": "query"}, {"sides": "untied"}):
        recipe = Recipe(**{"sides": "tied", "batch": 16, "epochs": 3, "hard_negatives": 0, "rate": 0.01, **options})
        adapter = osp.adapt(*pair_task(), recipe=recipe)
        assert any("depends on their order" in note for note in adapter.record.notes) == (not adapter.symmetric)
        assert not adapter.symmetric or adapter.record.run.best_step == 0


def test_progress_shows_the_held_out_value(hidden_map):
    shown = []
    osp.adapt(*hidden_map, progress=lambda done, total, note: shown.append((done, total, note)), **SHORT)
    assert shown[-1][0] == shown[-1][1]
    assert shown[-1][2].startswith("held-out 0.")


def test_what_cannot_be_learned_is_said(hidden_map):
    task, vectors = hidden_map
    few = np.arange(3)
    with pytest.raises(OffsphereError, match="at least 8"):
        osp.adapt(task.only(few), replace(vectors, queries=vectors.queries[few]))
    with pytest.raises(OffsphereError, match="no pair to learn from"):
        osp.adapt(task, replace(vectors, queries=np.zeros_like(vectors.queries)), held_out=hidden_map)
    with pytest.raises(OffsphereError, match="one model for all"):
        osp.adapt(*hidden_map, also=[hidden(dimension=8)])
    with pytest.raises(OffsphereError, match="at least one"):
        osp.adapt(*hidden_map, seeds=0)
    with pytest.raises(OffsphereError, match="at least 0"):
        osp.adapt(*hidden_map, seed=-1)
    with pytest.raises(OffsphereError, match="did you mean temperature"):
        osp.adapt(*hidden_map, temprature=1)
    with pytest.raises(OffsphereError, match="does not fit"):
        osp.adapt(*hidden_map, metric="spearman")
    with pytest.raises(OffsphereError, match="no documents that could be new"):
        osp.adapt(*pair_task(), new_documents=True)


def test_an_option_overrides_the_recipe(hidden_map):
    adapter = osp.adapt(*hidden_map, normalize="query", recipe=Recipe(rank=3, batch=64, epochs=1))
    assert adapter.similarity == osp.Polar(1, 0)
    assert adapter.record.recipe["rank"] == 3


@pytest.mark.parametrize("step", [25, 50, 60, 75])
def test_numbers_that_break_are_noticed_before_anything_is_searched(hidden_map, step):
    setup = AdapterSetup.of(hidden_map)

    class Breaking(AdapterTrainer):
        count = 0

        def _step(self, chosen):
            value = super()._step(chosen)
            self.count += 1
            if self.count == step:
                with torch.no_grad():
                    next(iter(self.module.parameters())).fill_(float("nan"))
            return value

    fit = Breaking(Recipe(batch=64, patience=100), setup.pairs, setup.evaluate, setup.probe, seed=0).run()
    assert fit.run.broke
    assert np.isfinite(fit.adapter.query.matrix).all()


def test_a_first_value_that_is_no_number_does_not_stop_the_others(hidden_map):
    setup = AdapterSetup.of(hidden_map)
    values = iter([float("nan"), 0.3, 0.2, *[0.1] * 100])
    fit = AdapterTrainer(Recipe(batch=64, epochs=50), setup.pairs, lambda _: next(values), setup.probe, seed=0).run()
    assert fit.run.best == 0.3


def test_vectors_of_another_part_are_refused(hidden_map):
    task, vectors = hidden_map
    for call in (osp.adapt, osp.compare):
        with pytest.raises(OffsphereError, match="vectors of 240 queries, task has 100"):
            call(task.only(np.arange(100)), vectors)


def test_a_side_is_named_and_vectors_are_rows(hidden_map):
    adapter = osp.adapt(*hidden_map, **SHORT)
    with pytest.raises(OffsphereError, match="'query' or 'document'"):
        adapter.apply(hidden_map[1].queries, "queries")
    for call in (adapter.apply, adapter.scorer.transform, adapter.scorer.lower().queries, osp.Scorer().lower().queries):
        with pytest.raises(OffsphereError, match=r"write x\[None\]"):
            call(hidden_map[1].queries[0])


def test_comparing_an_adapter_on_what_it_learned_from_is_warned_of(hidden_map):
    adapter = osp.adapt(*hidden_map, **SHORT)
    table = osp.compare(*hidden_map, [adapter.scorer])
    assert any("240 of these 240" in note for note in table.notes)


def test_what_one_judges_by_is_not_learned_from(hidden_map):
    task, vectors = hidden_map
    rows = np.arange(60)
    judged = task.only(rows), replace(vectors, queries=vectors.queries[rows])
    setup = AdapterSetup.of(hidden_map, judged=[judged])
    assert setup.data.judged_too > 40
    learned = setup.pairs.queries
    assert not np.isin(learned, rows).any()
    assert any("were not learned from" in note for note in setup.adapt(Recipe(**SHORT), [0]).record.notes)


def test_positives_without_length_are_left_out_and_counted(hidden_map):
    task, vectors = hidden_map
    queries = vectors.queries.copy()
    queries[:5] = 0
    adapter = osp.adapt(task, replace(vectors, queries=queries), held_out=hidden(seed=1), **SHORT)
    assert adapter.record.counts["without_direction"] == 5
    assert any("5 positives" in note for note in adapter.record.notes)


def test_vrns_lowers_the_variance_of_negatives_in_training(hidden_map):
    end = {}
    for weight in (0.0, 30.0):
        adapter = osp.adapt(*hidden_map, vrns=weight, batch=8, epochs=10, rate=0.03, hard_negatives=0, patience=100)
        end[weight] = adapter.record.dynamics[-1]["negative_variance"]
    assert end[30.0] < 0.9 * end[0.0]


def test_the_adapter_keeps_its_gradients_out_of_the_way(hidden_map):
    """Nothing that is handed out holds on to torch."""
    adapter = osp.adapt(*hidden_map, **SHORT)
    assert not any(isinstance(array, torch.Tensor) for array in adapter.arrays().values())


@pytest.mark.slow
def test_scifact_reaches_what_a_prototype_did(embedded):
    """The static model's cosine adapter: at least .72 on the test claims, which decide nothing; MiniLM has .645."""
    adapter = osp.adapt(*embedded("scifact", "train"))
    table = osp.compare(*embedded("scifact"), [adapter.scorer])
    row = table[adapter.scorer.name]
    assert row.value >= 0.72
    assert row.better
    assert table["cosine"].value == pytest.approx(0.5134, abs=1e-4)
