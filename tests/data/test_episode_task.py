"""Few-shot episodes against scikit-learn's nearest centroid, votes of neighbours against its nearest neighbours."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import pairwise_distances_argmin
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

import offsphere as osp
from offsphere.base.errors import DataError, OffsphereError
from offsphere.data.episode_task import draw_episodes
from offsphere.data.items import ItemList
from offsphere.data.neighbour_task import neighbour_task


def pool(count, classes, prefix, seed):
    """Items of some classes, and vectors whose lengths differ."""
    rng = np.random.default_rng(seed)
    labels = [f"class {number}" for number in rng.integers(classes, size=count)]
    centres = np.random.default_rng(7).normal(size=(classes, 12))
    rows = centres[[int(label.split()[1]) for label in labels]] + rng.normal(0, 1.2, (count, 12))
    rows *= rng.lognormal(0, 0.4, (count, 1))
    ids = ItemList([f"{prefix}{row}" for row in range(count)], [f"text {row}" for row in range(count)])
    return (ids, labels), rows.astype(np.float32)


@pytest.fixture(scope="module")
def drawn():
    (queries, query_rows), (shots, shot_rows) = pool(300, 8, "q", 0), pool(400, 8, "s", 1)
    task = draw_episodes("drawn", queries, shots, ways=4, count=3, items=6, episodes=30, seed=5)
    return task, task.vectors(query_rows, shot_rows)


def test_accuracy_of_each_episode_is_that_of_the_nearest_centroid(drawn):
    task, vectors = drawn
    table = osp.compare(task, vectors, ["euclidean", "dot"])
    assert (table.metric, table.task["episodes"]) == ("success@1", 30)
    queries, shots = (rows.astype(np.float64) for rows in vectors.sides)
    for name in ("euclidean", "cosine"):
        accuracies = []
        for asked, chosen in zip(task.asked, task.shots, strict=True):
            labels = task.shot_classes[chosen[:, 0]]
            means = NearestCentroid().fit(shots[chosen.ravel()], np.repeat(labels, 3))
            told = means.predict(queries[asked])
            if name == "cosine":
                told = means.classes_[pairwise_distances_argmin(queries[asked], means.centroids_, metric="cosine")]
            accuracies.append((told == task.query_classes[asked]).mean())
        assert table[name].values == pytest.approx(accuracies, abs=1e-12)


def test_the_interval_is_over_episodes(drawn):
    task, vectors = drawn
    row = osp.compare(task, vectors, ["dot"])["cosine"]
    assert len(row.values) == task.units
    error = row.values.std(ddof=1) / np.sqrt(task.units)
    assert row.high - row.low == pytest.approx(2 * 1.96 * error, rel=0.15)


def test_every_episode_has_its_ways_shots_and_items_and_no_item_is_a_shot_of_it(drawn):
    task, _ = drawn
    assert task.shots.shape == (30, 4, 3)
    for asked, chosen in zip(task.asked, task.shots, strict=True):
        classes = task.shot_classes[chosen]
        assert (classes == classes[:, :1]).all()
        assert len({*classes[:, 0].tolist()}) == 4
        assert sorted(np.bincount(task.query_classes[asked]))[-4:] == [6, 6, 6, 6]
        assert len({*chosen.ravel().tolist()}) == 12
    one, _ = pool(200, 3, "x", 2)
    shared = draw_episodes("one pool", one, one, ways=3, count=2, items=4, episodes=20)
    for asked, chosen in zip(shared.asked, shared.shots, strict=True):
        assert not {*asked.tolist()} & {*chosen.ravel().tolist()}


def test_episodes_are_compared_measured_and_audited(drawn, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    from offsphere.report import to_html

    audit = osp.audit(*drawn)
    assert audit.table.task["family"] == "few-shot classification"
    page = to_html(audit)
    assert "30 episodes, 4-way 3-shot, of 8 classes" in page


def test_one_does_not_learn_from_episodes(drawn):
    task, vectors = drawn
    with pytest.raises(DataError, match="episodes are drawn to judge by, not to learn from"):
        osp.adapt(task, vectors)
    with pytest.raises(OffsphereError, match=r"metric knn@10 does not fit drawn: use success@1 \(accuracy\)"):
        osp.compare(task, vectors, metric="knn@10")


@pytest.mark.parametrize("voters", [1, 5])
@pytest.mark.parametrize("scorer", ["cosine", "euclidean"])
def test_neighbours_vote_as_those_of_scikit_learn(voters, scorer):
    (queries, query_rows), (documents, document_rows) = pool(150, 6, "q", 3), pool(250, 6, "d", 4)
    task = neighbour_task("votes", queries, documents, voters)
    table = osp.compare(task, task.vectors(query_rows, document_rows), ["euclidean"])
    classifier = KNeighborsClassifier(voters, metric=scorer, algorithm="brute").fit(document_rows, documents[1])
    shares = np.sort(classifier.predict_proba(query_rows), axis=1)
    clear = shares[:, -1] > shares[:, -2]  # who wins a tie is a convention
    right = classifier.predict(query_rows) == np.array(queries[1])
    assert clear.mean() > 0.7
    assert (table[scorer].values[clear] == right[clear]).all()


def test_a_tie_goes_to_the_class_that_is_nearer():
    documents = ItemList(["a1", "b1", "b2", "a2"]), ["a", "b", "b", "a"]
    task = neighbour_task("tie", (ItemList(["q"]), ["a"]), documents, 4)
    rows = np.array([[4.0], [3.0], [2.0], [1.0]], np.float32)
    vectors = task.vectors(np.ones((1, 1), np.float32), rows)
    values = [osp.compare(task, vectors, ["dot"], metric=f"knn@{depth}")["dot"].value for depth in (1, 2, 3, 4)]
    assert values == [1, 1, 0, 1]


def write(folder, rows, name):
    (folder / name).write_text("".join(f"{text}\t{label}\n" for text, label in rows))


def test_labelled_texts_are_read_from_train_and_test(tmp_path):
    write(tmp_path, [(f"Train {row}", f"c{row % 4}") for row in range(40)], "train.tsv")
    write(tmp_path, [(f"Test {row}", f"c{row % 4}") for row in range(24)], "test.tsv")
    task = osp.load_task(f"{tmp_path}?ways=4&shots=2&items=3&episodes=7&seed=1")
    assert (task.units, task.ways, task.split) == (7, 4, "test")
    assert (task.query_items[0], task.shot_items[0]) == ("Test 0", "Train 0")
    assert osp.load_task(f"{tmp_path}?ways=all&items=2").ways == 4
    same = osp.load_task(f"{tmp_path}?items=2&ways=4", "train")
    assert same.query_items == same.shot_items
    votes = osp.load_task(f"{tmp_path}?knn=3")
    assert (votes.usual_metric, votes.units, votes.judgments.relevant.tolist()[0]) == ("knn@3", 24, 10)
    itself = osp.load_task(f"{tmp_path}?knn=3", "train")
    assert itself.judgments.relevant.max() == 9  # nobody votes for itself
    (tmp_path / "one.csv").write_text('text,label\n"a, b",x\nc,x\nd,y\ne,y\n')
    assert osp.load_task(tmp_path / "one.csv?shots=1&items=1&ways=2").query_items == ["a, b", "c", "d", "e"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("?ways=5", r"has 3 classes in both parts: too few for 5-way episodes"),
        ("?ways=3&shots=9", r"class 'rare' has 2 items, an episode needs 9 \(9 shots, 15 to sort\): ask for fewer"),
        ("?ways=3&shots=1&items=40", r"class 'c0' has 30 items, an episode needs 40"),
        ("?shots=0", "shots=0: give a whole number of at least 1"),
        ("?knn=5&shots=1", "knn=5 takes all labelled items: leave out shots"),
        ("?kn=5", "unknown setting 'kn': did you mean knn"),
    ],
)
def test_what_is_wrong_with_labelled_texts_is_said(tmp_path, settings, message):
    common = [(f"t{row}", f"c{row % 2}") for row in range(60)]
    write(tmp_path, [*common, ("u", "rare"), ("v", "rare")], "train.tsv")
    write(tmp_path, [*common, *[(f"w{row}", "rare") for row in range(40)]], "test.tsv")
    with pytest.raises(OffsphereError, match=message):
        osp.load_task(f"{tmp_path}{settings}")


def test_episodes_are_not_asked_the_other_way_round(tmp_path):
    rows = [f"{word} {number},{word}" for word in ("red", "blue") for number in range(4)]
    (tmp_path / "test.csv").write_text("text,label\n" + "\n".join(rows))
    with pytest.raises(DataError, match="has episodes, no documents that could ask for queries: leave out --reverse"):
        osp.load_task(f"{tmp_path / 'test.csv'}?shots=1&ways=2&items=1", reverse=True)


def test_a_text_without_a_label_is_named(tmp_path):
    write(tmp_path, [("a", "x"), ("b", "x"), ("c", " "), ("d", "x"), ("e", "x")], "train.tsv")
    with pytest.raises(DataError, match=r"train.tsv:3: there is no label: expected a text, a tab and a label"):
        osp.load_task(tmp_path)


def test_more_shots_make_better_prototypes_on_real_intents(real_data, tmp_path):
    """As Snell et al. 2017 find; with static vectors on the 77 intents of banking77."""
    one, five = (osp.load_task(f"{real_data / 'banking77'}?episodes=60&shots={shots}") for shots in (1, 5))
    vectors = osp.embed(one, "wordllama", tmp_path)
    values = [osp.compare(task, task.vectors(*vectors.sides), ["dot"])["cosine"].value for task in (one, five)]
    assert values[1] > values[0] + 0.05
