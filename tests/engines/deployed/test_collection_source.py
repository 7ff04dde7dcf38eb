"""Audits of what is deployed: a collection is read where it lies, matched by id, asked, and its setting is judged."""

from __future__ import annotations

import json

import numpy as np
import pytest

import offsphere as osp
from offsphere.auditing.findings.deployed_rules import deployed_findings
from offsphere.base.errors import DataError, OffsphereError, VectorError
from offsphere.comparison.choice import difference_of
from offsphere.engines.files.exchange import import_vectors
from offsphere.engines.metric import Metric
from offsphere.engines.registry import engine_of
from tests.cli.running import run_here
from tests.engines.engine_laws import files_under

faiss = pytest.importorskip("faiss")
pytest.importorskip("usearch")
pytest.importorskip("hnswlib")

RNG = np.random.default_rng(0)
COUNT, ASKED, WIDTH = 400, 120, 8
DOCUMENTS = (RNG.normal(size=(COUNT, WIDTH)) * np.exp(RNG.normal(0, 0.6, (COUNT, 1)))).astype(np.float32)
QUERIES = (DOCUMENTS[:ASKED] + RNG.normal(0, 0.2, (ASKED, WIDTH))).astype(np.float32)
RELEVANT = np.argsort(-(QUERIES @ DOCUMENTS.T), axis=1)[:, :3]  # what is near and long: the dot product is right
IDS = [f"d{row}" for row in range(COUNT)]
UNITS = DOCUMENTS / np.linalg.norm(DOCUMENTS, axis=1, keepdims=True)


def texts_to_queries(texts):
    """A model that knows the queries by number, and refuses to embed a document."""
    assert not any(text.startswith("document") for text in texts)
    return QUERIES[[int(text.split()[-1]) if text[-1].isdigit() else 0 for text in texts]]


@pytest.fixture
def judged(tmp_path):
    """Judgments and query vectors; nothing but the collection knows the documents."""
    folder = tmp_path / "judged"
    folder.mkdir()
    lines = [f"q{query}\td{document}\t1\n" for query, row in enumerate(RELEVANT) for document in row]
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(lines))
    np.savez(folder / "queries.npz", vectors=QUERIES, ids=np.array([f"q{row}" for row in range(ASKED)]))
    return folder


def stored(tmp_path, scorer="dot", engine="faiss", rows=DOCUMENTS, ids=IDS, **options):
    target = f"{engine}:{tmp_path}/documents.{engine}"
    osp.export(scorer, rows, target, ids=ids, **options)
    return target


def looked_at(folder, target, **options):
    source = osp.CollectionSource(str(folder), collection=target, **options)
    task, vectors = source.load()
    return task, vectors, source.deployment(task, vectors)


def ndcg(ranked):
    """The mean ndcg@10 of rankings, by the formula."""
    discounts = 1 / np.log2(np.arange(2, 12))
    gains = np.array([np.isin(row[:10], relevant) @ discounts for row, relevant in zip(ranked, RELEVANT, strict=True)])
    return gains.mean() / discounts[:3].sum()


BY_DOT = ndcg(np.argsort(-(QUERIES @ DOCUMENTS.T), axis=1, kind="stable"))
BY_COSINE = ndcg(np.argsort(-(QUERIES @ UNITS.T), axis=1, kind="stable"))
BY_DISTANCE = ndcg(np.argsort(((QUERIES[:, None] - DOCUMENTS) ** 2).sum(axis=2), axis=1, kind="stable"))

EMBED_AGAIN = (
    "What they are worth cannot be told from it: to know it, embed the documents again and keep their lengths."
)
CASES = {
    "dot": ("faiss", "dot", "is set to inner product: its vectors still have their lengths", "Keep its setting", None),
    "euclidean": (
        "faiss",
        "euclidean",
        "is set to euclidean: its vectors still have their lengths",
        "The vectors can stay as they are: set IndexFlatIP",
        BY_DOT - BY_DISTANCE,
    ),
    "cosine, lengths kept": (
        "usearch",
        "cosine",
        "is set to cosine: its vectors still have their lengths",
        'The vectors can stay as they are: set Index(ndim=d, metric="ip")',
        BY_DOT - BY_COSINE,
    ),
    "cosine, lengths lost": (
        "hnswlib",
        "cosine",
        "is set to cosine: its lengths are gone, hnswlib normalised the vectors when it stored them. " + EMBED_AGAIN,
        "Keep its setting: it ranks by cosine",
        None,
    ),
    "unit lengths": (
        "faiss",
        "cosine",
        "is set to inner product: its lengths are gone, all vectors have the length 1 and had it before they came "
        "there. " + EMBED_AGAIN,
        "Keep its setting: by inner product these vectors rank as by cosine",
        None,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_an_audit_says_what_the_setting_is_whether_lengths_are_there_and_what_it_costs(judged, tmp_path, case):
    engine, scorer, lengths, advice, cost = CASES[case]
    task, vectors, deployment = looked_at(judged, stored(tmp_path, scorer, engine))
    assert list(task.document_ids) == IDS
    audit = osp.audit(task, vectors, deployment=deployment, cache=False)
    first, second, *_ = (finding.sentence for finding in audit.advice.about("deployed"))
    assert lengths in first
    assert advice in second
    costs = [finding for finding in audit.advice.about("deployed") if finding.claim == "setting costs"]
    assert len(costs) == (cost is not None)
    if cost is not None:
        assert costs[0].numbers["gain"] == pytest.approx(cost, abs=1e-9)
        assert f"{cost:+.4f}" in second


PLACES = {
    "faiss": ("faiss", "faiss:{}/x.faiss"),
    "usearch": ("usearch", "usearch:{}/x.usearch"),
    "hnswlib": ("hnswlib", "hnswlib:{}/x.hnsw"),
    "qdrant": ("qdrant_client", "qdrant:{}/q:docs"),
    "qdrant-edge": ("qdrant_edge", "qdrant-edge:{}/edge"),
    "chroma": ("chromadb", "chroma:{}/c:docs"),
    "milvus": ("milvus_lite", "milvus:{}/m.db:docs"),
    "lancedb": ("lancedb", "lancedb:{}/l:docs"),
    "duckdb": ("duckdb", "duckdb:{}/x.duckdb:docs"),
    "sqlite": ("sqlite_vec", "sqlite:{}/x.sqlite:docs"),
    "postgres": ("psycopg", "postgres:{}:docs"),
}
BY_METRIC = {"inner product": ("dot", BY_DOT), "cosine": ("cosine", BY_COSINE), "euclidean": ("euclidean", BY_DISTANCE)}
NORMALISING = {"hnswlib", "qdrant-edge"}  # for cosine; FAISS has no cosine, and Qdrant's folder keeps what it was given
SET_TO = [(prefix, str(metric)) for prefix in PLACES for metric in engine_of(f"{prefix}:x:y")[0].metrics]


@pytest.mark.filterwarnings("ignore")  # of the packages
@pytest.mark.parametrize(("prefix", "metric"), SET_TO)
def test_of_every_engine_the_metric_the_lengths_the_cost_and_the_answers_are_told(
    judged, tmp_path, request, prefix, metric
):
    package, form = PLACES[prefix]
    pytest.importorskip(package)
    folder = tmp_path / "engine"
    folder.mkdir()
    target = form.format(request.getfixturevalue("postgres_address") if prefix == "postgres" else folder)
    scorer, value = BY_METRIC[metric]
    osp.export(scorer, DOCUMENTS, target, ids=IDS, replace=True)
    before = files_under(folder)
    task, vectors, deployment = looked_at(judged, target)
    after = files_under(folder)
    assert {name for name in before | after if before.get(name) != after.get(name)} <= {"q/.lock"}
    assert set(task.document_ids) == set(IDS)
    engine = engine_of(target)[0]
    assert (str(deployment.metric), deployment.engine.name, deployment.rows) == (metric, engine.name, COUNT)
    rows = DOCUMENTS[[IDS.index(name) for name in task.document_ids]]
    lost = metric == "cosine" and prefix in NORMALISING
    assert deployment.lengths == ("lost in the engine" if lost else "kept")
    expected = rows / np.linalg.norm(rows, axis=1, keepdims=True) if lost else rows
    assert np.allclose(vectors.documents, expected, atol=1e-5)
    assert deployment.answers.recall > 0.9
    table = osp.compare(task, vectors, ["dot"], deployed=deployment.scorer.name)
    findings = deployed_findings(deployment, table)
    told = " ".join(finding.sentence for finding in findings)
    assert f"is set to {metric}: " in told
    assert (f"its lengths are gone, {engine.name} normalised the vectors" in told) == lost
    costs = [finding.numbers for finding in findings if finding.claim == "setting costs"]
    if lost or scorer == "dot":
        assert not costs
        assert "Keep its setting" in told
        return
    (cost,) = costs
    assert cost["gain"] == pytest.approx(BY_DOT - value, abs=1e-9)
    setting = engine.metrics.get(Metric.INNER_PRODUCT)
    assert cost["cure"] == ("metric" if setting is not None else "vectors")
    assert setting is None or f"The vectors can stay as they are: set {setting.setting}." in told


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the packages
@pytest.mark.parametrize("prefix", [prefix for prefix in PLACES if prefix not in ("faiss", "hnswlib", "postgres")])
def test_the_command_audits_a_collection_of_every_engine(judged, tmp_path, prefix):
    package, form = PLACES[prefix]
    pytest.importorskip(package)
    target = form.format(tmp_path)
    osp.export("cosine", DOCUMENTS, target, ids=IDS)
    values = json.loads(run_here("audit", judged, "--json", "--collection", target).stdout)
    assert values["deployment"]["metric"] == "cosine"
    assert values["deployment"]["answers"]["recall"] > 0.9
    kept = prefix not in NORMALISING
    assert any("Its setting costs quality" in sentence for sentence in values["advice"]["verdict"]) == kept


def test_the_collections_own_metric_is_a_planned_comparison(judged, tmp_path):
    task, vectors, deployment = looked_at(judged, stored(tmp_path, "euclidean"))
    asked = osp.compare(task, vectors, deployed=deployment.scorer.name)
    alone = osp.compare(task, vectors)
    assert asked["euclidean"].planned
    assert not alone["euclidean"].planned
    assert asked["euclidean"].p == asked["euclidean"].p_alone
    named = osp.compare(task, vectors, ["polar(1, 0.5)"], deployed="euclidean")
    assert named["euclidean"].value == pytest.approx(BY_DISTANCE)


def test_the_difference_of_two_rows_is_that_of_scipy(judged, tmp_path):
    from scipy.stats import bootstrap, permutation_test

    task, vectors, _ = looked_at(judged, stored(tmp_path, "euclidean"))
    table = osp.compare(task, vectors, ["dot", "norm-mix(0.5)"])
    first, second = table["dot"], table["norm-mix(0.5)"]
    apart = difference_of(first, second, 0)
    paired = first.values - second.values
    theirs = bootstrap((paired,), np.mean, method="percentile", rng=np.random.default_rng(1)).confidence_interval
    spread = paired.std() / np.sqrt(len(paired))
    assert apart.difference == pytest.approx(paired.mean())
    assert np.allclose((apart.low, apart.high), theirs, atol=0.2 * spread)
    signs = permutation_test((paired,), np.mean, permutation_type="samples", n_resamples=5_000, rng=2)
    assert apart.p == pytest.approx(signs.pvalue, abs=0.02)


MADE = (
    "holds what an export made of the vectors for whiten(0.5) + dot: its lengths are not the model's, it is to be asked"
)


@pytest.mark.parametrize(
    ("prefix", "noted"), [("faiss", False), ("lancedb", True), ("duckdb", True), ("postgres", True)]
)
def test_vectors_that_an_export_changed_are_not_taken_for_the_models(
    judged, tmp_path, monkeypatch, request, prefix, noted
):
    """Once: raw queries were compared with them without a word, and a setting was judged by that."""
    package, form = PLACES[prefix]
    pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    target = form.format(request.getfixturevalue("postgres_address") if prefix == "postgres" else tmp_path)
    np.savez(tmp_path / "documents.npz", vectors=DOCUMENTS, ids=np.array(IDS))
    run_here("export", "whiten(0.5) + dot", "--vectors", "documents.npz", "--to", target, "--replace")
    if prefix == "faiss":
        verdict = json.loads(run_here("audit", judged, "--collection", target, "--json").stdout)["advice"]["verdict"]
    else:
        compared = run_here("compare", judged, "--scorer", "dot", "--collection", target, "--json").stdout
        verdict = [finding["sentence"] for finding in json.loads(compared)["deployed"]["findings"]]
    assert sum(MADE in sentence for sentence in verdict) == 1
    assert not any("Its setting" in sentence or "is set to" in sentence for sentence in verdict)
    assert any("returns all of the exact ten best" in sentence for sentence in verdict)
    assert MADE in " ".join(run_here("measure", target, "--section", "lengths").stdout.split())
    records = list((tmp_path / "export").glob("*/verification.json"))
    (record,) = records
    *_, deployment = looked_at(judged, target)
    assert deployment.made_for == "whiten(0.5) + dot"
    record.write_text(record.read_text().replace('"rows": 400', '"rows": 399'))  # of what stood there before
    *_, deployment = looked_at(judged, target)
    assert deployment.made_for == ("" if noted else None)
    told = deployed_findings(deployment)[0].sentence
    assert ("holds what an export made of the vectors: its lengths" in told) == noted
    record.unlink()
    run_here("export", "dot", "--vectors", "documents.npz", "--to", target, "--replace")
    *_, deployment = looked_at(judged, target)
    assert (deployment.made_for, str(deployment.metric)) == (None, "inner product")
    assert "is set to inner product" in deployed_findings(deployment)[0].sentence


def test_vectors_to_which_an_export_added_a_coordinate_are_refused_with_the_reason(judged, tmp_path):
    pytest.importorskip("duckdb")
    target = f"duckdb:{tmp_path}/x.duckdb:docs"
    osp.export("norm-mix(0.9)", DOCUMENTS, target, ids=IDS)
    with pytest.raises(
        VectorError, match=r"holds what an export made of the vectors, in 9 dimensions.* queries have 8"
    ):
        looked_at(judged, target)


def test_the_record_of_an_export_is_found_however_its_file_is_written(judged, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez(tmp_path / "documents.npz", vectors=DOCUMENTS, ids=np.array(IDS))
    run_here("export", "cosine", "--vectors", "documents.npz", "--to", "faiss:docs.faiss")  # which has no cosine
    for name in ("faiss:docs.faiss", f"faiss:{tmp_path}/docs.faiss", "docs.faiss"):
        *_, deployment = looked_at(judged, name)
        assert deployment.made_for == "cosine"
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "docs.faiss").write_bytes((tmp_path / "docs.faiss").read_bytes())
    (tmp_path / "other" / "docs.ids").write_bytes((tmp_path / "docs.ids").read_bytes())
    *_, deployment = looked_at(judged, "faiss:other/docs.faiss")
    assert deployment.made_for is None
    (tmp_path / "export" / "faiss-docs" / "verification.json").write_text("{ damaged")
    *_, deployment = looked_at(judged, "docs.faiss")
    assert deployment.made_for is None


def test_a_metric_that_we_do_not_have_is_not_judged(judged, tmp_path):
    index = faiss.IndexFlat(WIDTH, faiss.METRIC_L1)
    index.add(DOCUMENTS)
    faiss.write_index(index, str(tmp_path / "l1.faiss"))
    (tmp_path / "l1.ids").write_text("\n".join(IDS))
    task, vectors, deployment = looked_at(judged, f"faiss:{tmp_path}/l1.faiss")
    assert (deployment.metric, deployment.scorer, deployment.answers) == (None, None, None)
    told = deployed_findings(deployment, osp.compare(task, vectors, ["dot"]))
    assert [finding.claim for finding in told] == ["index keeps lengths"]
    assert "has no metric that can be judged" in told[0].sentence


@pytest.mark.parametrize("lists", [2, 40])
def test_what_an_approximate_index_returns_is_measured_as_faiss_itself_answers(judged, tmp_path, lists):
    index = faiss.IndexIVFFlat(faiss.IndexFlatIP(WIDTH), WIDTH, lists, faiss.METRIC_INNER_PRODUCT)
    index.train(DOCUMENTS)
    index.add(DOCUMENTS)
    faiss.write_index(index, str(tmp_path / "ivf.faiss"))
    (tmp_path / "ivf.ids").write_text("\n".join(IDS))
    source = osp.CollectionSource(str(judged), collection=f"faiss:{tmp_path}/ivf.faiss")
    task, vectors = source.load()
    seen = source.deployment(task, vectors).answers
    exact = np.argsort(-(QUERIES @ DOCUMENTS.T), axis=1)[:, :10]
    answers = index.search(QUERIES, 10)[1]
    recalls = np.array([np.isin(mine, theirs).mean() for mine, theirs in zip(exact, answers, strict=True)])
    tried = np.sort(np.random.default_rng(0).permutation(ASKED)[:100])  # as many as it asks
    assert seen.recall == pytest.approx(recalls[tried].mean(), abs=1e-9)
    sentence = deployed_findings(source.deployment(task, vectors))[1].sentence
    assert f"returns {np.floor(1000 * seen.recall) / 10:.1f} % of the exact ten best" in sentence
    assert ("more candidates" in sentence) == (seen.recall < 0.95)


def test_an_index_is_asked_for_as_many_documents_as_the_metric_looks_at(judged, tmp_path, postgres_address):
    """Once: for ten, of which pgvector's graph finds all; of a hundred it gives 40 rows, whatever the LIMIT."""
    target = f"postgres:{postgres_address}:docs"
    osp.export("dot", DOCUMENTS, target, ids=IDS, index="graph", replace=True)
    source = osp.CollectionSource(str(judged), collection=target)
    task, vectors = source.load()
    assert source.deployment(task, vectors).answers.k == 10
    seen = source.deployment(task, vectors, "recall@100").answers
    assert (seen.k, seen.short, seen.fewest, seen.queries) == (100, 100, 40, 100)
    assert 0.3 < seen.recall <= 0.4
    told = " ".join(run_here("compare", judged, "--collection", target, "--metric", "recall@100").stdout.split())
    assert " % of the exact 100 best by its own metric, asked with 100 queries and no settings of your own; " in told
    assert "; 100 of them got fewer than 100, the fewest 40: let it look at more candidates" in told
    values = json.loads(run_here("audit", judged, "--collection", target, "--metric", "recall@100", "--json").stdout)
    assert values["deployment"]["answers"]["fewest"] == 40


def test_an_index_that_gives_nobody_so_many_documents_says_so(judged, tmp_path):
    pytest.importorskip("sqlite_vec")
    others = RNG.normal(size=(4_200, WIDTH)).astype(np.float32)
    target = f"sqlite:{tmp_path}/x.sqlite:docs"
    ids = [*IDS, *(f"other{row}" for row in range(len(others)))]
    osp.export("euclidean", np.concatenate([DOCUMENTS, others]), target, ids=ids)
    (judged / "documents.ids").write_text("\n".join(IDS))
    source = osp.CollectionSource(str(judged), collection=target)
    task, vectors = source.load()
    for metric, refused in (("recall@4096", False), ("recall@4097", True)):
        seen = source.deployment(task, vectors, metric)
        assert (seen.answers is None) == refused
        told = [finding.sentence for finding in deployed_findings(seen) if "to a query that sets" in finding.sentence]
        assert len(told) == refused
    assert told[0].startswith("Your index does not give 4,097 documents to a query that sets nothing else: ")
    assert "4096" in told[0]


def lost(tmp_path, engine="hnswlib"):
    """A collection that has lost its lengths: in the engine, or before."""
    return stored(tmp_path, "cosine", engine) if engine == "hnswlib" else stored(tmp_path, rows=UNITS)


@pytest.mark.parametrize("engine", ["hnswlib", "faiss"])
def test_what_lost_lengths_are_worth_is_told_by_vectors_that_have_them(judged, tmp_path, engine):
    """Your index is set to cosine; the dot product of these vectors is worth so much, but its lengths are gone."""
    target = lost(tmp_path, engine)
    shuffled = np.random.default_rng(3).permutation(COUNT)
    np.savez(judged / "documents.npz", vectors=DOCUMENTS[shuffled], ids=np.array(IDS)[shuffled])
    task, vectors, deployment = looked_at(judged, target)
    rows = [IDS.index(name) for name in task.document_ids]
    assert np.allclose(vectors.documents, UNITS[rows], atol=1e-6)  # what is compared is what the index holds
    worth = deployment.at_hand
    assert worth.gain == pytest.approx(BY_DOT - BY_COSINE, abs=1e-9)
    assert worth.low < worth.gain < worth.high
    assert worth.helps
    findings = deployed_findings(deployment, osp.compare(task, vectors, ["dot"]))
    told = findings[0].sentence
    assert f"By the vectors in {judged}, which still have them, the dot product is worth {worth.gain:+.4f} [" in told
    assert told.endswith(") more than cosine: store these, which offsphere export dot does.")
    assert EMBED_AGAIN not in told
    assert not any("Keep its setting" in finding.sentence for finding in findings)
    told = " ".join(run_here("compare", judged, "--collection", target, "--metric", "mrr@10").stdout.split())
    assert "of mrr@10 (very sure, p" in told


@pytest.mark.parametrize(
    "beside",
    [
        pytest.param(UNITS * 3, id="of one length too"),
        pytest.param(RNG.normal(size=DOCUMENTS.shape).astype(np.float32), id="of another model"),
        pytest.param(DOCUMENTS[:, :5], id="of another width"),
    ],
)
def test_vectors_that_cannot_tell_what_lengths_are_worth_are_left_aside(judged, tmp_path, beside):
    target = lost(tmp_path)
    np.savez(judged / "documents.npz", vectors=beside, ids=np.array(IDS))
    *_, deployment = looked_at(judged, target)
    assert deployment.at_hand is None
    assert EMBED_AGAIN in deployed_findings(deployment)[0].sentence


def test_documents_that_are_missing_are_refused_or_left_out_and_counted(judged, tmp_path):
    rows = np.arange(60, COUNT)
    target = stored(tmp_path, rows=DOCUMENTS[rows], ids=[IDS[row] for row in rows])
    (judged / "documents.ids").write_text("\n".join(IDS))  # the task lists them all
    with pytest.raises(VectorError, match=r"no vector for document 'd0' \(60 are missing\): .*--ignore-missing"):
        looked_at(judged, target)
    task, vectors, deployment = looked_at(judged, target, ignore_missing=True)
    assert (deployment.documents, deployment.missing, deployment.unknown) == (COUNT, 60, 0)
    assert (vectors.documents == DOCUMENTS[60:]).all()
    assert task.ignored == (RELEVANT < 60).sum()
    assert task.units + task.left_out == ASKED
    assert task.units == (RELEVANT >= 60).any(axis=1).sum()
    told = deployed_findings(deployment)[-1].sentence
    assert told == "Your index and the task differ: 60 of the task's 400 documents are not in it; they were left out."


def test_ids_that_are_other_names_altogether_are_told_with_what_stands_there(judged, tmp_path):
    (judged / "documents.ids").write_text("\n".join(IDS))  # the task lists them all
    target = stored(tmp_path, ids=[f"notes/{name}.txt" for name in IDS])
    told = r"no id of the task's 400 document ids: there is 'notes/d0\.txt', and in the data 'd0': .*--id-field"
    with pytest.raises(VectorError, match=told):
        looked_at(judged, target)


def test_vectors_of_unknown_documents_are_left_out_and_counted(judged, tmp_path):
    extra = np.concatenate([100 * DOCUMENTS[:7], DOCUMENTS[::-1]])
    target = stored(tmp_path, rows=extra, ids=[*(f"new{row}" for row in range(7)), *IDS[::-1]])
    (judged / "documents.ids").write_text("\n".join(IDS))
    task, vectors, deployment = looked_at(judged, target)
    assert (vectors.documents == DOCUMENTS).all()
    assert (deployment.missing, deployment.unknown, deployment.rows) == (0, 7, COUNT + 7)
    assert osp.compare(task, vectors, ["dot"])["dot"].value == pytest.approx(BY_DOT)
    assert deployment.answers.recall == 1.0  # it is asked as it is
    assert "7 of its 407 vectors belong to no document" in deployed_findings(deployment)[-1].sentence


def test_a_collection_without_ids_has_the_documents_in_the_tasks_order(judged, tmp_path):
    index = faiss.IndexFlatIP(WIDTH)
    index.add(DOCUMENTS)
    faiss.write_index(index, str(tmp_path / "plain.faiss"))
    (judged / "documents.ids").write_text("\n".join(IDS))
    _, vectors, deployment = looked_at(judged, f"faiss:{tmp_path}/plain.faiss")
    assert (vectors.documents == DOCUMENTS).all()
    assert deployment.answers.recall == 1.0
    (judged / "documents.ids").write_text("\n".join([*IDS, "more"]))
    with pytest.raises(VectorError, match=r"has 400 vectors and no ids, the task has 401 document ids: .*--id-field"):
        looked_at(judged, f"faiss:{tmp_path}/plain.faiss")


def test_a_model_embeds_the_queries_alone(tmp_path):
    folder = tmp_path / "beir"
    (folder / "qrels").mkdir(parents=True)
    documents = [json.dumps({"_id": name, "title": "", "text": f"document {name}"}) for name in IDS]
    queries = [json.dumps({"_id": f"q{row}", "text": f"query {row}"}) for row in range(ASKED)]
    lines = [f"q{query}\td{document}\t1\n" for query, row in enumerate(RELEVANT) for document in row]
    (folder / "corpus.jsonl").write_text("\n".join(documents))
    (folder / "queries.jsonl").write_text("\n".join(queries))
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(lines))
    target = stored(tmp_path)
    model = f"callable:{__name__}:texts_to_queries"
    source = osp.CollectionSource(str(folder), model, tmp_path / "vectors", collection=target)
    task, vectors = source.load()
    assert (vectors.queries == QUERIES).all()
    assert [path.name for path in (tmp_path / "vectors").iterdir() if path.is_dir()] == ["queries"]
    assert source.made_by(task)["model"] == model
    assert osp.compare(task, vectors, ["dot"])["dot"].value == pytest.approx(BY_DOT)


@pytest.mark.parametrize(("engine", "scorer"), [("faiss", "dot"), ("usearch", "cosine"), ("hnswlib", "cosine")])
def test_reading_never_writes(judged, tmp_path, engine, scorer):
    target = stored(tmp_path, scorer, engine)
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.rglob("*") if path.is_file()}
    looked_at(judged, target)
    after = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.rglob("*") if path.is_file()}
    assert before == after


def test_what_cannot_be_audited_is_one_line(judged, tmp_path):
    target = stored(tmp_path)
    (tmp_path / "pairs.csv").write_text("score,sentence1,sentence2\n1,a,b\n2,c,d\n3,e,f\n")
    with pytest.raises(DataError, match="has pairs, and a collection has documents"):
        looked_at(tmp_path / "pairs.csv", target)
    with pytest.raises(DataError, match=r"faiss:.*/none.faiss does not exist: give a FAISS collection as faiss:FILE"):
        looked_at(judged, f"faiss:{tmp_path}/none.faiss")
    with pytest.raises(VectorError, match="query vectors have 8 dimensions, document vectors 3"):
        looked_at(judged, stored(tmp_path / "narrow", rows=DOCUMENTS[:, :3]))
    with pytest.raises(OffsphereError, match="has no fields: leave --vector-column 'embedding' out"):
        looked_at(judged, target, vector_name="embedding")


def test_a_normalised_collection_is_imported_and_its_store_knows(tmp_path):
    target = stored(tmp_path, "cosine", "hnswlib")
    result = run_here("data", "import", target, tmp_path / "store")
    assert "their lengths are gone" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    store = osp.open_store(tmp_path / "store")
    assert store.manifest.normalization_kept
    assert list(store.ids) == IDS
    assert np.allclose(store.vectors, UNITS, atol=1e-6)
    kept = import_vectors(stored(tmp_path, "dot", "usearch"), tmp_path / "kept")
    assert not kept.manifest.normalization_kept
    assert (np.asarray(kept.vectors) == DOCUMENTS).all()


def test_every_command_says_what_is_deployed(judged, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    target = stored(tmp_path, "euclidean")
    there, cost = "Your index (FAISS, flat, 400 vectors) is set to euclidean", "Its setting costs quality"

    def told(*arguments):
        return " ".join(run_here(*arguments, "--collection", target).stdout.split())

    page = tmp_path / "audit.html"
    audit = told("audit", judged, "--out", page)
    assert there in audit
    assert cost in audit
    assert "In FAISS:" in audit  # the settings of the engine that is in use
    assert cost in page.read_text()
    assert told("audit", judged, "--format", "md", "--out", tmp_path / "audit.md")
    assert cost in (tmp_path / "audit.md").read_text()
    values = json.loads(run_here("audit", judged, "--json", "--collection", target).stdout)
    assert values["deployment"]["metric"] == "euclidean"
    assert any(cost in sentence for sentence in values["advice"]["verdict"])
    compared = told("compare", judged, "--scorer", "dot")
    assert there in compared
    assert cost in compared
    values = json.loads(run_here("compare", judged, "--scorer", "dot", "--json", "--collection", target).stdout)
    assert [finding["claim"] for finding in values["deployed"]["findings"]][:2] == [
        "index keeps lengths",
        "setting costs",
    ]
    measured = told("measure", judged, "--section", "lengths")
    assert there in measured
    assert "document: lengths vary by" in measured
    alone = " ".join(run_here("measure", target, "--section", "lengths").stdout.split())
    assert there in alone
    assert "vector: lengths vary by" in alone
    assert alone == told("measure", "--section", "lengths")
    values = json.loads(run_here("measure", target, "--section", "lengths", "--json").stdout)
    assert values["deployed"]["rows"] == COUNT


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "DATA", "--id-field", "docid"], "name fields of a collection: say which with --collection"),
        (["audit", "DATA", "--collection", "elastic:x:y"], "unknown engine 'elastic'"),
        (["compare", "DATA", "--collection", "faiss:none.faiss"], "faiss:none.faiss does not exist"),
        (["measure"], "measure what\\?"),
        (["measure", "faiss:none.faiss", "--model", "wordllama"], "faiss:none.faiss does not exist"),
    ],
)
def test_mistakes_are_said_in_one_line(judged, arguments, message):
    with pytest.raises(OffsphereError, match=message):
        run_here(*(str(judged) if argument == "DATA" else argument for argument in arguments))


def test_an_index_that_is_set_to_what_loses_is_not_told_to_keep_cosine(embedded):
    """Once: "Keep cosine", of an index that was set to inner product and lost a third by it."""
    task, vectors = embedded("cranfield")
    table = osp.compare(task, vectors, ["dot"], deployed="dot")
    assert table.conclusion.startswith(
        "Stop using the dot product that your index is set to (which reaches 63 % of cosine's"
    )
    assert osp.compare(task, vectors, ["dot"]).conclusion.startswith("Keep cosine: ")
    assert osp.compare(task, vectors, ["dot"], deployed="euclidean").conclusion[:5] in ("Take ", "Stop ")
