"""Links of others: interactions, edges of a graph, and the texts and features of what they are between."""

from __future__ import annotations

import csv
from collections import Counter

import numpy as np

from tests.fuzz.subject import SUBJECTS, VECTORS, Subject, subject


@subject("sparse interactions")
class Interactions:
    @staticmethod
    def write(folder):
        from scipy import sparse

        sparse.save_npz(folder / "seen.npz", sparse.csr_array(np.maximum(VECTORS, 0)))

    @staticmethod
    def read(folder):
        from offsphere.factors.factor_files import read_interactions

        return read_interactions(folder / "seen.npz").toarray()

    @staticmethod
    def reference(folder):
        from scipy import sparse

        return sparse.load_npz(folder / "seen.npz").astype(np.float64).toarray()


@subject("interactions, TSV")
class InteractionTable:
    @staticmethod
    def write(folder):
        rows = "".join(f"u{user}\ti{(user + item) % 7}\t{item}\t{item}\n" for user in range(6) for item in range(4))
        (folder / "interactions.tsv").write_text(f"user\titem\trating\ttimestamp\n{rows}")

    @staticmethod
    def read(folder):
        from offsphere.data import load_task

        task = load_task(folder)
        numbers = [*task.known.documents, *task.judgments.documents]
        return sorted(Counter(task.document_ids[number] for number in numbers).items()), len(task.known.relevant)

    @staticmethod
    def reference(folder):
        """How many users have each item, and how many users there are."""
        rows = _tab_rows(folder / "interactions.tsv")
        names = [name.strip().lower() for name in rows[0]]
        known = [{kind, f"{kind}_id", f"{kind}id", f"{kind}-id"}.intersection(names) for kind in ("user", "item")]
        columns = [names.index(*found) for found in known] if all(known) else [0, 1]
        rows = rows[1:] if all(known) else rows
        pairs = {tuple(row[column].strip() for column in columns) for row in rows}
        return sorted(Counter(item for _, item in pairs).items()), len({user for user, _ in pairs})


def _tab_rows(path):
    """The lines of a table as their fields, blank ones left out."""
    return [line.split("\t") for line in path.read_text("utf-8-sig").split("\n") if line.strip()]


@subject("edges of a graph")
class Edges:
    @staticmethod
    def write(folder):
        rows = "".join(f"n{one}\tn{other}\n" for one in range(8) for other in range(one))
        (folder / "edges.tsv").write_text(rows)

    @staticmethod
    def read(folder):
        from offsphere.data import load_task

        task = load_task(folder)
        names, asked = task.document_ids, task.query_ids
        known = zip(task.known.queries, task.known.documents, strict=True)
        wanted = zip(task.judgments.queries, task.judgments.documents, strict=True)
        pairs = [(names[one], names[other]) for one, other in known]
        pairs += [(asked[one], names[other]) for one, other in wanted]
        return sorted({tuple(sorted(pair)) for pair in pairs})

    @staticmethod
    def reference(folder):
        rows = [tuple(field.strip() for field in row) for row in _tab_rows(folder / "edges.tsv")]
        heads = ({"source", "target"}, {"from", "to"}, {"node1", "node2"}, {"citing", "cited"})
        pairs = rows[1:] if {field.lower() for field in rows[0]} in heads else rows
        return sorted({tuple(sorted(pair)) for pair in pairs if pair[0] != pair[1]})


@subject("interactions, parquet")
class InteractionParquet:
    @staticmethod
    def write(folder):
        import pyarrow as pa
        import pyarrow.parquet as pq

        rows = [(f"u{user}", (user + item) % 7, item * 0.5, item) for user in range(6) for item in range(4)]
        columns = zip(*rows, strict=True)
        names = ("user_id", "item_id", "rating", "timestamp")
        table = pa.table(dict(zip(names, map(list, columns), strict=True)))
        pq.write_table(table, folder / "interactions.parquet", write_page_checksum=True)

    @staticmethod
    def read(folder):
        from offsphere.data.formats.interaction_table import read_interaction_table

        table = read_interaction_table(folder / "interactions.parquet")
        items = list(table.item_numbers)
        pairs = [(table.user_ids[user], items[item]) for user, item in zip(table.users, table.items, strict=True)]
        return pairs, table.ratings, table.times

    @staticmethod
    def reference(folder):
        import pyarrow.parquet as pq

        table = pq.read_table(folder / "interactions.parquet", page_checksum_verification=True)
        called = {name.lower(): name for name in table.column_names}

        def column(*names):
            return next((table[called[name]].to_pylist() for name in names if name in called), None)

        users = [str(user) for user in column("user", "user_id", "userid", "user-id")]
        items = [str(item) for item in column("item", "item_id", "itemid", "item-id")]
        first = {}
        for row, pair in enumerate(zip(users, items, strict=True)):
            first.setdefault(pair, row)
        ranks = {user: rank for rank, user in enumerate(dict.fromkeys(users))}
        kept = sorted(first.items(), key=lambda entry: (ranks[entry[0][0]], entry[1]))
        numbers = [
            np.array([float(values[row]) for _, row in kept])
            if values is not None and any(values[row] is not None for _, row in kept)
            else None
            for values in (column("rating", "rate", "stars", "weight"), column("timestamp", "time", "date"))
        ]
        return [pair for pair, _ in kept], *numbers


class Features:
    """Features of the nodes of a graph, in one of the files that they may be in."""

    def __init__(self, suffix):
        self.suffix = suffix

    def write(self, folder):
        if self.suffix == ".npz":
            np.savez_compressed(folder / "features.npz", features=VECTORS)
        else:
            np.save(folder / "features.npy", VECTORS)

    @staticmethod
    def read(folder):
        from offsphere.factors.node_features import find_features

        return find_features(folder)

    def reference(self, folder):
        loaded = np.load(folder / f"features{self.suffix}", allow_pickle=False)
        rows = (
            loaded if self.suffix == ".npy" else loaded["features" if "features" in loaded.files else loaded.files[0]]
        )
        with np.errstate(over="ignore"):
            return rows.astype(np.float32)


for _suffix in (".npz", ".npy"):
    _features = Features(_suffix)
    SUBJECTS[f"features of nodes, {_suffix}"] = Subject(_features.write, _features.read, _features.reference)


@subject("texts of items, CSV")
class ItemTexts:
    @staticmethod
    def write(folder):
        rows = "".join(f'i{row},A thing é {row},"what it is, and why"\n' for row in range(5))
        (folder / "items.csv").write_text(f"item_id,title,text\n{rows}")

    @staticmethod
    def read(folder):
        from offsphere.data.formats.item_texts import find_texts, read_item_texts

        listed = read_item_texts(find_texts(folder, "items"))
        return list(listed.ids), list(listed.items)

    @staticmethod
    def reference(folder):
        with (folder / "items.csv").open(encoding="utf-8-sig", newline="") as stream:
            header, *rows = [row for row in csv.reader(stream, strict=True) if row]
        names = [name.strip().lower() for name in header]
        wanted = ("id", "_id", "item", "item_id", "node", "node_id")
        known = next(names.index(name) for name in wanted if name in names)
        columns = [names.index(name) for name in ("title", "text") if name in names]
        ids = [row[known].strip() for row in rows]
        return ids, [" ".join(row[column] for column in columns if row[column]) for row in rows]
