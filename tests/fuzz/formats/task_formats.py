"""Data of others: queries, documents, judgments, pairs, links and lists."""

from __future__ import annotations

import csv
import gzip
import json
import re
import shutil
import subprocess
from collections import Counter

from tests.fuzz.subject import subject


@subject("BEIR folder")
class Beir:
    @staticmethod
    def write(folder):
        documents = [{"_id": f"d{n}", "title": f"T{n}", "text": f"some text number {n}"} for n in range(4)]
        (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in documents))
        (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "what é"}\n{"_id": "q2", "text": "who"}\n')
        (folder / "qrels").mkdir()
        (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td0\t0\nq2\td2\t1\n")

    @staticmethod
    def read(folder):
        from offsphere.data import load_task

        task = load_task(folder)
        query, document = task.sides
        grades = {}
        judged = task.judgments
        for row, column, grade in zip(judged.queries, judged.documents, judged.grades, strict=True):
            grades[task.query_ids[row], task.document_ids[column]] = float(grade)
        texts = dict(zip(document.ids, document.items, strict=True))
        asked = dict(zip(query.ids, query.items, strict=True))
        return texts, asked, {pair: grade for pair, grade in sorted(grades.items()) if grade > 0}

    @staticmethod
    def reference(folder):
        texts, asked = (_json_texts(folder / name) for name in ("corpus.jsonl", "queries.jsonl"))
        rows = [
            row.split() for row in (folder / "qrels" / "test.tsv").read_text("utf-8-sig").splitlines() if row.strip()
        ]
        first = 1 if rows[0][-1].lower() == "score" or not _is_number(rows[0][-1]) else 0
        grades = {(row[0], row[-2]): float(row[-1]) for row in rows[first:] if float(row[-1]) > 0}
        judged = {query for query, _ in grades}
        return texts, {name: text for name, text in asked.items() if name in judged}, dict(sorted(grades.items()))


def _json_texts(path):
    entries = [json.loads(line) for line in path.read_text("utf-8-sig").split("\n") if line.strip()]
    given = [[entry[key] for key in ("title", "text") if entry.get(key)] for entry in entries]
    return {
        str(entry.get("_id", entry.get("id"))): " ".join(parts) for entry, parts in zip(entries, given, strict=True)
    }


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


@subject("table of scored pairs")
class ScoredPairs:
    @staticmethod
    def write(folder):
        rows = "".join(f"a man {n},a woman ü {n},{n * 0.5}\n" for n in range(5))
        (folder / "pairs.csv").write_text(f'sentence1,sentence2,score\n{rows}"one, two",three,1.25\n')

    @staticmethod
    def read(folder):
        from offsphere.data import load_task

        task = load_task(folder / "pairs.csv")
        left, right = (side.items for side in task.sides)
        return list(left), list(right), [float(score) for score in task.gold]

    @staticmethod
    def reference(folder):
        with (folder / "pairs.csv").open(encoding="utf-8-sig", newline="") as stream:
            header, *rows = [row for row in csv.reader(stream, strict=True) if row]
        names = [name.strip().lower() for name in header]
        left, right, score = (names.index(name) for name in ("sentence1", "sentence2", "score"))
        return [row[left] for row in rows], [row[right] for row in rows], [float(row[score]) for row in rows]


def _grades(task):
    """What a ranking task says: texts by id, and the positive grades."""
    judged = task.judgments
    rows = zip(judged.queries, judged.documents, judged.grades, strict=True)
    grades = {(task.query_ids[q], task.document_ids[d]): float(grade) for q, d, grade in rows if grade > 0}
    return dict(sorted(grades.items()))


def _qrels(path):
    """Judgments as their format is described: three fields or four, by tabs where there are any, else by blanks."""
    grades = {}
    for number, line in enumerate(path.read_text("utf-8-sig").split("\n"), 1):
        if not line.strip():
            continue
        fields = [field.strip() for field in (line.split("\t") if "\t" in line else line.split())]
        query, *_, document, grade = fields
        if number == 1 and not _is_number(grade):
            continue
        if float(grade) > 0:
            grades[query, document] = float(grade)
    return dict(sorted(grades.items()))


@subject("TREC folder")
class Trec:
    @staticmethod
    def write(folder):
        topics = [f"<top>\n<num> Number: {n}\n<title> Topic: what is {n}\n</top>\n" for n in (301, 302)]
        (folder / "topics.test").write_text("".join(topics))
        (folder / "collection.tsv").write_text("".join(f"d{n}\tsome text é {n}\n" for n in range(4)))
        (folder / "qrels.test").write_text("301 0 d1 1\n301 0 d2 0\n302 0 d3 2\n")

    @staticmethod
    def read(folder):
        from offsphere.data import load_task

        task = load_task(folder)
        return dict(zip(task.document_ids, task.document_texts, strict=True)), _grades(task)

    @staticmethod
    def reference(folder):
        lines = [line for line in (folder / "collection.tsv").read_text("utf-8-sig").split("\n") if line.strip()]
        texts = {line.partition("\t")[0].strip(): line.partition("\t")[2].strip() for line in lines}
        return texts, _qrels(folder / "qrels.test")


@subject("qrels alone")
class QrelsAlone:
    @staticmethod
    def write(folder):
        (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td0\t0\nq2\td2\t1\n")

    @staticmethod
    def read(folder):
        from offsphere.data import load_task

        (folder / "documents.ids").write_text("".join(f"d{n}\n" for n in range(300)))
        task = load_task(folder)
        (folder / "documents.ids").unlink()
        return _grades(task)

    @staticmethod
    def reference(folder):
        return _qrels(folder / "qrels.tsv")


@subject("TREC run")
class TrecRun:
    @staticmethod
    def write(folder):
        (folder / "theirs.run").write_text("q1 Q0 d1 1 2.5 x\nq1 Q0 d0 2 1e-3 x\nq2 Q0 d2 1 -7 x\n")

    @staticmethod
    def read(folder):
        from offsphere.data.formats.run_files import read_run

        return sorted((found.query, found.document, found.score) for found in read_run(folder / "theirs.run"))

    @staticmethod
    def reference(folder):
        lines = (folder / "theirs.run").read_text("utf-8-sig").split("\n")
        by_tabs = [line.split("\t") if line.count("\t") == 5 else line.split() for line in lines if line.strip()]
        return sorted((fields[0].strip(), fields[2].strip(), float(fields[4])) for fields in by_tabs)


@subject("ranx run")
class RanxRun:
    @staticmethod
    def write(folder):
        (folder / "theirs.json").write_text(json.dumps({"q1": {"d1": 2.5, "d0": 1}, "q2": {"d2": -7.0}}))

    @staticmethod
    def read(folder):
        from offsphere.data.formats.run_files import read_run

        return sorted((found.query, found.document, found.score) for found in read_run(folder / "theirs.json"))

    @staticmethod
    def reference(folder):
        run = json.loads((folder / "theirs.json").read_text("utf-8-sig"))
        return sorted((query, name, float(score)) for query, found in run.items() for name, score in found.items())


def _text_pairs(task):
    positives = zip(*task.positives(), strict=True)
    return sorted((task.query_texts[q], task.document_texts[d]) for q, d in positives)


@subject("text pairs, JSON lines")
class TextPairsLines:
    @staticmethod
    def write(folder):
        rows = [{"anchor": f"what {n}", "positive": f"this é {n}", "negative": f"not {n}"} for n in range(4)]
        (folder / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    @staticmethod
    def read(folder):
        from offsphere.data import load_task

        return _text_pairs(load_task(folder / "pairs.jsonl"))

    @staticmethod
    def reference(folder):
        lines = [line for line in (folder / "pairs.jsonl").read_text("utf-8-sig").split("\n") if line.strip()]
        entries = [{name.lower(): value for name, value in json.loads(line).items()} for line in lines]
        return sorted({(entry["anchor"], entry["positive"]) for entry in entries})


@subject("text pairs, TSV")
class TextPairsTable:
    @staticmethod
    def write(folder):
        rows = "".join(f"what {n}\tthis é {n}\n" for n in range(4))
        (folder / "pairs.tsv").write_text(f"query\tanswer\n{rows}")

    @staticmethod
    def read(folder):
        from offsphere.data import load_task

        return _text_pairs(load_task(folder / "pairs.tsv"))

    @staticmethod
    def reference(folder):
        lines = [line for line in (folder / "pairs.tsv").read_text("utf-8-sig").split("\n") if line.strip()]
        names = [name.strip().lower() for name in lines[0].split("\t")]
        rows = [dict(zip(names, line.split("\t"), strict=True)) for line in lines[1:]]
        return sorted({(row["query"], row["answer"]) for row in rows})


@subject("labelled texts")
class LabelledTexts:
    @staticmethod
    def write(folder):
        rows = "".join(f"text é {row}\tlabel {row % 3}\n" for row in range(18))
        (folder / "train.tsv").write_text(rows)

    @staticmethod
    def read(folder):
        from offsphere.data import load_task

        task = load_task(f"{folder}?ways=2&shots=1&items=1&episodes=3")
        return list(task.shot_items), [task.classes[number] for number in task.shot_classes]

    @staticmethod
    def reference(folder):
        lines = [line for line in (folder / "train.tsv").read_text("utf-8-sig").split("\n") if line.strip()]
        rows = [line.split("\t") for line in lines]
        rows = rows[1:] if [field.strip().lower() for field in rows[0]] == ["text", "label"] else rows
        return [text for text, _ in rows], [label.strip() for _, label in rows]


class PackedCorpus:
    """A corpus in parts, each packed in its own way; the other reader unpacks them with Python's own gzip."""

    DOCUMENTS = [{"_id": f"d{row}", "title": f"T{row}", "text": f"some text é {row} " * 20} for row in range(6)]  # noqa: RUF012

    @classmethod
    def lines(cls, rows):
        return "".join(json.dumps(row) + "\n" for row in cls.DOCUMENTS[rows]).encode()

    @staticmethod
    def read(folder):
        from offsphere.data.formats.corpus_files import read_corpus

        listed = read_corpus(folder)
        return dict(zip(listed.ids, listed.items, strict=True))


@subject("corpus in parts, .gz")
class GzipCorpus(PackedCorpus):
    @staticmethod
    def write(folder):
        (folder / "corpus-1-of-2.jsonl").write_bytes(PackedCorpus.lines(slice(2)))
        (folder / "corpus-2-of-2.jsonl.gz").write_bytes(gzip.compress(PackedCorpus.lines(slice(2, 6)), mtime=0))

    @staticmethod
    def reference(folder):
        unpacked = gzip.decompress((folder / "corpus-2-of-2.jsonl.gz").read_bytes())
        return _texts_of((folder / "corpus-1-of-2.jsonl").read_bytes(), unpacked)


@subject("corpus, .zst", anything=shutil.which("zstd") is None)
class ZstdCorpus(PackedCorpus):
    @staticmethod
    def write(folder):
        import pyarrow as pa

        with pa.CompressedOutputStream(str(folder / "corpus.jsonl.zst"), "zstd") as stream:
            stream.write(PackedCorpus.lines(slice(6)))

    @staticmethod
    def reference(folder):
        unpacked = subprocess.run(
            ["zstd", "--decompress", "--stdout"],
            input=(folder / "corpus.jsonl.zst").read_bytes(),
            capture_output=True,
            check=True,
        )
        return _texts_of(unpacked.stdout)


@subject("corpus, parquet")
class ParquetCorpus(PackedCorpus):
    @staticmethod
    def write(folder):
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pa.Table.from_pylist(PackedCorpus.DOCUMENTS)
        pq.write_table(table, folder / "corpus.parquet", write_page_checksum=True, row_group_size=4)

    @staticmethod
    def reference(folder):
        import pyarrow.parquet as pq

        table = pq.read_table(folder / "corpus.parquet", page_checksum_verification=True)
        rows = [{name: value for name, value in row.items() if value is not None} for row in table.to_pylist()]
        return _texts_of("".join(json.dumps(row) + "\n" for row in rows).encode())


def _texts_of(*contents):
    """Documents by their ids, of JSON lines."""
    lines = [line for content in contents for line in content.decode("utf-8-sig").split("\n") if line.strip()]
    entries = [json.loads(line) for line in lines]
    return {
        str(entry.get("_id", entry.get("id"))): " ".join(filter(None, (entry.get("title"), entry.get("text"))))
        for entry in entries
    }


@subject("fields of queries")
class QueryLines:
    """Answers and groups, which stand in the lines of the queries."""

    @staticmethod
    def write(folder):
        rows = [
            {"_id": f"q{row}", "text": f"what {row}", "answers": [f"this é {row}", "that"], "kind": f"k{row % 2}"}
            for row in range(4)
        ]
        (folder / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    @staticmethod
    def read(folder):
        from offsphere.data.formats.query_fields import read_query_fields

        answers, groups = read_query_fields(folder / "queries.jsonl")
        return answers, {group.name: list(group.labels) for group in groups}

    @staticmethod
    def reference(folder):
        lines = [line for line in (folder / "queries.jsonl").read_text("utf-8-sig").split("\n") if line.strip()]
        entries = [json.loads(line) for line in lines]
        given = [entry.get("answers", entry.get("answer")) for entry in entries]
        answers = None
        if any(answer is not None for answer in given):
            answers = [[text for text in ([one] if isinstance(one, str) else one) if text.strip()] for one in given]
        known = ("_id", "id", "text", "title", "answers", "answer", "metadata")
        groups = {}
        for name in [name for name in (entries[0] if entries else {}) if name not in known]:
            values = [entry.get(name) for entry in entries]
            if all(type(value) in (str, int) for value in values) and 1 < len({*map(str, values)}) <= 50:
                groups[name] = [str(value) for value in values]
        return answers, groups


@subject("groups of queries")
class QueryGroups:
    @staticmethod
    def write(folder):
        (folder / "groups.tsv").write_text("".join(f"q{row}\tgroup é {row % 3}\n" for row in range(9)))

    @staticmethod
    def read(folder):
        from offsphere.geometry.query_groups import read_groups

        return read_groups(folder / "groups.tsv")

    @staticmethod
    def reference(folder):
        lines = [line for line in (folder / "groups.tsv").read_text("utf-8-sig").split("\n") if line.strip()]
        return dict([field.strip() for field in line.split("\t")] for line in lines)


@subject("folder of texts")
class TextFolder:
    """A text that asks, and what it asks for, are its file's words; the title of one that does not ask is left out."""

    @staticmethod
    def write(folder):
        for row in range(4):
            (folder / f"{row}.md").write_text(
                f"# Title é {row}\n\nIt says something of wings. And more of it follows here, in words enough "
                f"for a text, of which this is number {row}.\n"
            )

    @staticmethod
    def read(folder):
        from offsphere.data import load_task

        task = load_task(folder)
        asking = dict(zip(task.query_ids, task.query_texts, strict=True))
        texts = dict(zip(task.document_ids, task.document_texts, strict=True))
        return {name: (f"{asking.get(name, '')} {text}", name in asking) for name, text in texts.items()}

    @staticmethod
    def reference(folder):
        return {path.name: path.read_bytes().decode() for path in folder.iterdir()}

    @staticmethod
    def same(value, right):
        words = {name: Counter(re.findall(r"\w+", text)) for name, text in right.items()}
        kept = {name: Counter(re.findall(r"\w+", text)) for name, (text, _) in value.items()}
        return all(
            kept[name] == words[name] if asks else kept[name] <= words[name] for name, (_, asks) in value.items()
        )
