"""Graphs as tasks: average precision by scikit-learn, spectra by numpy, edges held out, and what can be wrong."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

import offsphere as osp
from offsphere.base.errors import OffsphereError

NODES = 60


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    """Three groups of nodes that link among themselves more often, with features that tell the groups a little."""
    folder = tmp_path_factory.mktemp("graph")
    rng = np.random.default_rng(1)
    groups = rng.integers(3, size=NODES)
    chance = np.where(groups[:, None] == groups[None, :], 0.3, 0.03)
    one, other = np.nonzero(np.triu(rng.random((NODES, NODES)) < chance, 1))
    (folder / "edges.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in zip(one, other, strict=True)))
    features = np.eye(3)[groups] + rng.normal(0, 1, (NODES, 3))
    np.savez(folder / "features.npz", features=features.astype(np.float32), labels=groups)
    return folder


def adjacency(task, part=None):
    known = part or task.known
    matrix = np.zeros((known.query_count, known.document_count))
    matrix[known.queries, known.documents] = 1
    return matrix


@pytest.mark.parametrize("directed", ["no", "yes"])
def test_held_out_and_known_edges_part_the_graph_and_no_node_loses_its_last(graph, directed):
    task = osp.load_task(f"{graph}?directed={directed}&percent=30")
    lines = [tuple(map(int, line.split())) for line in (graph / "edges.tsv").read_text().splitlines()]
    whole = np.zeros((NODES, NODES))
    whole[tuple(zip(*lines, strict=True))] = 1
    whole = whole if directed == "yes" else whole + whole.T
    known = adjacency(task)
    held = np.zeros_like(known)
    held[task.asked] = adjacency(task, task.judgments)
    assert (known + held == whole).all()
    assert (known.sum(axis=0)[whole.sum(axis=0) > 0] > 0).all()
    assert (known.sum(axis=1)[whole.sum(axis=1) > 0] > 0).all()
    assert held.sum() == round(0.3 * len(lines)) * (1 if directed == "yes" else 2)
    excluded = adjacency(task, task.excluded)
    assert (excluded == known[task.asked] + np.eye(NODES)[task.asked]).all()
    assert task.symmetric == (directed == "no")
    assert task.family.roles == ("two roles" if directed == "yes" else "one role")


def test_average_precision_is_that_of_scikit_learn(graph):
    task = osp.load_task(graph)
    vectors = osp.load_embedded(graph, model="propagate(2)")[1]
    table = osp.compare(task, vectors, ["dot"], metric=f"map@{NODES}")
    wanted, excluded = adjacency(task, task.judgments), adjacency(task, task.excluded) > 0
    for name in ("dot", "cosine"):
        rows = vectors.documents.astype(np.float64)
        if name == "cosine":
            rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        scores = rows[task.asked] @ rows.T
        each = [
            average_precision_score(want[~gone], score[~gone])
            for want, gone, score in zip(wanted, excluded, scores, strict=True)
        ]
        assert table[name].values == pytest.approx(each, abs=1e-9)
    pooled = osp.compare(task, vectors, ["dot"], metric=f"pooled-ap@{NODES}")
    scores = vectors.queries.astype(np.float64) @ vectors.documents.astype(np.float64).T
    assert pooled["dot"].value == pytest.approx(average_precision_score(wanted[~excluded], scores[~excluded]), abs=1e-6)


def test_features_are_propagated_over_known_edges_alone(graph):
    task, vectors = osp.load_embedded(graph, model="propagate(3)")
    with_loops = adjacency(task) + np.eye(NODES)
    root = np.diag(with_loops.sum(axis=1) ** -0.5)
    features = np.load(graph / "features.npz")["features"].astype(np.float64)
    expected = np.linalg.matrix_power(root @ with_loops @ root, 3) @ features
    assert np.allclose(vectors.documents, expected, atol=1e-5)
    assert (vectors.queries == vectors.documents[task.asked]).all()
    assert (osp.load_embedded(graph, model="features")[1].documents == features.astype(np.float32)).all()


def test_spectral_vectors_of_nodes_are_the_leading_positive_eigenvectors(graph):
    task, vectors = osp.load_embedded(graph, model="spectral(4)")
    links = adjacency(task)
    root = np.diag((links.sum(axis=1) + links.sum(axis=1).mean()) ** -0.5)  # Qin & Rohe 2013
    values, directions = np.linalg.eigh(root @ links @ root)
    best = np.argsort(-values)[:4]
    assert values[best].min() > 0
    expected = (directions[:, best] * values[best]) @ directions[:, best].T
    assert np.allclose(vectors.documents @ vectors.documents.T, expected, atol=1e-4)
    assert (vectors.queries == vectors.documents[task.asked]).all()


def test_a_directed_graph_has_a_vector_for_each_role(graph):
    task, vectors = osp.load_embedded(f"{graph}?directed=yes", model="spectral(4)")
    assert not np.allclose(vectors.queries, vectors.documents[task.asked])


def test_texts_of_nodes_are_embedded_once_where_both_ends_have_one_role(tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\na,b\nb,c\nc,a\na,d\nd,b\n")
    (tmp_path / "nodes.tsv").write_text("node\ttitle\n" + "".join(f"{name}\tword {name}\n" for name in "abcde"))
    task = osp.load_task(f"{tmp_path}?percent=20")
    vectors = osp.embed(task, "wordllama", tmp_path / "one")
    assert (vectors.queries == vectors.documents[task.asked]).all()
    assert [path.name for path in (tmp_path / "one").iterdir() if path.is_dir()] == ["documents"]
    assert task.warnings() == [
        "1 nodes have no edges: nobody asks for them, and only features or texts say what they are"
    ]
    directed = osp.load_task(f"{tmp_path}?percent=20&directed=yes")
    osp.embed(directed, "wordllama", tmp_path / "two")
    assert sorted(path.name for path in (tmp_path / "two").iterdir() if path.is_dir()) == ["documents", "queries"]


def test_loops_and_repeated_edges_are_left_out_and_counted(tmp_path):
    (tmp_path / "edges.tsv").write_text("a\tb\nb\ta\nb\tc\nc\ta\na\ta\n")
    task = osp.load_task(tmp_path / "edges.tsv?percent=40")
    assert task.warnings() == [
        "1 edges lead from a node to itself and are left out",
        "1 edges stand there more than once",
    ]


@pytest.mark.parametrize(
    ("edges", "settings", "message"),
    [
        ("a\tb\nb\tc\n", "", r"no edge can be held out so that both of its nodes keep another one"),
        ("a\ta\n", "", r"edges.tsv has no edge between two nodes"),
        ("a\tb\tc\n", "", r"edges.tsv begins with 3 columns: expected two nodes a line"),
        ("a\tb\nb\n", "", r"edges.tsv:2: 1 fields, the header has 2"),
        ("a\tb\n\tc\n", "", r"edges.tsv:2: an edge has an empty end"),
        ("a\tb\n", "?directed=maybe", r"directed=maybe: choose yes or no"),
        ("a\tb\n", "?percent=0", r"percent=0: give a whole number of at least 1"),
        ("a\tb\n", "?share=0", r"unknown setting 'share'"),
    ],
)
def test_what_is_wrong_with_a_graph_is_said_in_one_line(tmp_path, edges, settings, message):
    (tmp_path / "edges.tsv").write_text(edges)
    with pytest.raises(OffsphereError, match=message):
        osp.load_task(f"{tmp_path}{settings}")


def test_features_and_texts_must_be_those_of_the_nodes(graph, tmp_path):
    (tmp_path / "edges.tsv").write_text((graph / "edges.tsv").read_text())
    with pytest.raises(OffsphereError, match=r"has no features of nodes: add features.npz or features.npy"):
        osp.load_embedded(tmp_path, model="propagate(1)")
    np.save(tmp_path / "features.npy", np.ones((3, 2)))
    with pytest.raises(OffsphereError, match=r"has 60 nodes, and there are 3 features"):
        osp.load_embedded(tmp_path, model="propagate(1)")
    np.save(tmp_path / "features.npy", np.full((60, 2), np.nan))
    with pytest.raises(OffsphereError, match=r"features.npy: row 0 is not finite"):
        osp.load_embedded(tmp_path, model="features")
    (tmp_path / "nodes.tsv").write_text("node\ttext\n0\tzero\n")
    with pytest.raises(OffsphereError, match=r"edges.tsv:1: node '\d+' is not in .*nodes.tsv: add it"):
        osp.load_task(tmp_path)


def test_on_cora_neighbours_say_more_than_words(real_data):
    """Simple graph convolution beats raw words at finding citations (Wu et al. 2019 find so for classes)."""
    tables = {
        model: osp.compare(*osp.load_embedded(real_data / "cora", model=model), ["dot"])
        for model in ("features", "propagate(2)")
    }
    assert tables["propagate(2)"]["cosine"].value > tables["features"]["cosine"].value + 0.1


def test_the_first_edge_of_a_file_without_a_header_is_read_as_the_others_are(tmp_path):
    names = ["Ann, B.", "Bob", "Cid", "Dan", "Eve"]
    pairs = [(one, other) for one in names for other in names if one < other]
    (tmp_path / "edges.csv").write_text("".join(f'"{one}",{other}\n' for one, other in pairs))
    task = osp.load_task(tmp_path)
    assert sorted(task.document_ids) == names
