"""Files of text pairs."""

from __future__ import annotations

from offsphere.data import load_task


def test_text_pairs_are_a_ranking(tmp_path):
    """The same text is the same query or document; negatives are judged; columns have several names."""
    rows = [
        '{"query": "q1", "answer": "a", "negative": "b"}',
        '{"query": "q1", "answer": "c", "negatives": ["a", "d"]}',
        '{"query": "q2", "answer": "a"}',
    ]
    (tmp_path / "train.jsonl").write_text("\n".join(rows))
    task = load_task(tmp_path, "train")
    assert task.query_texts == ["q1", "q2"]
    assert task.document_texts == ["a", "b", "c", "d"]
    grades = {
        (task.query_texts[q], task.document_texts[d]): grade
        for q, d, grade in zip(task.judgments.queries, task.judgments.documents, task.judgments.grades, strict=True)
    }
    assert grades == {("q1", "a"): 1, ("q1", "b"): 0, ("q1", "c"): 1, ("q1", "d"): 0, ("q2", "a"): 1}
