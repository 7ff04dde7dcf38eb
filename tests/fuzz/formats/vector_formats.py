"""Files of vectors, and of the ids beside them."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from tests.fuzz.subject import IDS, VECTORS, subject


def read_vector_file(path: Path) -> Any:
    """Our reader of vector files."""
    from offsphere.data.vector_files import read_vectors

    file = read_vectors(path)
    return np.asarray(file.vectors), file.ids


@subject("npy")
class Npy:
    @staticmethod
    def write(folder):
        np.save(folder / "v.npy", VECTORS)

    @staticmethod
    def read(folder):
        return read_vector_file(folder / "v.npy")

    @staticmethod
    def reference(folder):
        return np.load(folder / "v.npy", allow_pickle=False), None


@subject("npz")
class Npz:
    @staticmethod
    def write(folder):
        np.savez_compressed(folder / "v.npz", vectors=VECTORS, ids=np.array(IDS))

    @staticmethod
    def read(folder):
        return read_vector_file(folder / "v.npz")

    @staticmethod
    def reference(folder):
        with np.load(folder / "v.npz", allow_pickle=False) as archive:
            names = [name for name in ("id", "_id", "ids") if name in archive.files]
            tables = [name for name in archive.files if name not in ("id", "_id", "ids")]
            ids = [str(name) for name in archive[names[0]]] if names else None
            return archive["vectors" if "vectors" in tables else tables[0]], ids


@subject("parquet")
class Parquet:
    @staticmethod
    def write(folder):
        import pyarrow as pa
        import pyarrow.parquet as pq

        lists = pa.FixedSizeListArray.from_arrays(pa.array(VECTORS.ravel()), 5)
        pq.write_table(pa.table({"id": IDS, "vectors": lists}), folder / "v.parquet", write_page_checksum=True)

    @staticmethod
    def read(folder):
        return read_vector_file(folder / "v.parquet")

    @staticmethod
    def reference(folder):
        import pyarrow.parquet as pq

        table = pq.read_table(folder / "v.parquet", page_checksum_verification=True)
        lists = [name for name in table.column_names if "list" in str(table.schema.field(name).type)]
        ids = next((table[name].to_pylist() for name in ("id", "_id", "ids") if name in table.column_names), None)
        kind = table.schema.field(lists[0]).type.value_type.to_pandas_dtype()
        return np.array(table[lists[0]].to_pylist(), kind), ids


@subject("table of texts and vectors")
class TextsAndVectors:
    @staticmethod
    def write(folder):
        import pyarrow as pa
        import pyarrow.parquet as pq

        texts = [f"A text of number {row}. It goes on." for row in range(len(IDS))]
        columns = {"id": IDS, "text": texts, "embedding": [row.tolist() for row in VECTORS]}
        pq.write_table(pa.table(columns), folder / "v.parquet", write_page_checksum=True)

    @staticmethod
    def read(folder):
        from offsphere.base.errors import DataError
        from offsphere.data.embedded_table import EmbeddedTable

        table = EmbeddedTable.of(folder / "v.parquet")
        if table is None:
            raise DataError("no such table")
        file = table.vectors("document")
        return [entry["text"] for _, entry in table.entries()], np.asarray(file.vectors), list(file.ids)

    @staticmethod
    def reference(folder):
        import pyarrow.parquet as pq

        from offsphere.data.embedded_table import TEXTS

        table = pq.read_table(folder / "v.parquet", page_checksum_verification=True)
        text = next(name for name in TEXTS if name in table.column_names)
        vectors, ids = Parquet.reference(folder)
        return table[text].to_pylist(), vectors, ids or [str(row) for row in range(len(vectors))]


@subject("safetensors")
class Safetensors:
    @staticmethod
    def write(folder):
        from safetensors.numpy import save_file

        save_file({"vectors": VECTORS}, folder / "v.safetensors")

    @staticmethod
    def read(folder):
        return read_vector_file(folder / "v.safetensors")

    @staticmethod
    def reference(folder):
        from safetensors.numpy import load_file

        tensors = load_file(folder / "v.safetensors")
        return tensors.get("vectors", next(iter(tensors.values()))), None


@subject("table of vectors, a column a dimension")
class VectorColumns:
    @staticmethod
    def write(folder):
        rows = "".join(f"{name},{','.join(map(repr, row))}\n" for name, row in zip(IDS, VECTORS.tolist(), strict=True))
        (folder / "v.csv").write_text(f"id,a,b,c,d,e\n{rows}")

    @staticmethod
    def read(folder):
        return read_vector_file(folder / "v.csv")

    @staticmethod
    def reference(folder):
        with (folder / "v.csv").open(encoding="utf-8-sig", newline="") as stream:
            header, *rows = [row for row in csv.reader(stream, strict=True) if row]
        names = [name.strip().lower() for name in header]
        known = next((names.index(name) for name in ("id", "_id", "ids") if name in names), None)
        numbers = [[float(field) for column, field in enumerate(row) if column != known] for row in rows]
        ids = [row[known].strip() for row in rows] if known is not None else None
        with np.errstate(over="ignore"):
            return np.array(numbers, np.float64).astype(np.float32), ids


@subject("table of vectors, a column of lists")
class VectorLists:
    @staticmethod
    def write(folder):
        rows = "".join(f"{name}\t{row}\n" for name, row in zip(IDS, VECTORS.tolist(), strict=True))
        (folder / "v.tsv").write_text(f"id\tembedding\n{rows}")

    @staticmethod
    def read(folder):
        return read_vector_file(folder / "v.tsv")

    @staticmethod
    def reference(folder):
        header, *lines = [line for line in (folder / "v.tsv").read_text("utf-8-sig").split("\n") if line.strip()]
        names = [name.strip().lower() for name in header.split("\t")]
        rows = [line.rstrip("\r").split("\t") for line in lines]
        known = next((names.index(name) for name in ("id", "_id", "ids") if name in names), None)
        lists = next(
            column for column, field in enumerate(rows[0]) if column != known and field.strip().startswith("[")
        )
        numbers = [[float(part) for part in row[lists].strip()[1:-1].split(",")] for row in rows]
        ids = [row[known].strip() for row in rows] if known is not None else None
        with np.errstate(over="ignore"):
            return np.array(numbers, np.float64).astype(np.float32), ids


@subject("ids beside vectors")
class Ids:
    @staticmethod
    def write(folder):
        (folder / "v.ids").write_text("".join(f"{name}\n" for name in IDS))

    @staticmethod
    def read(folder):
        np.save(folder / "v.npy", VECTORS)
        ids = read_vector_file(folder / "v.npy")[1]
        (folder / "v.npy").unlink()
        return ids

    @staticmethod
    def reference(folder):
        lines = (folder / "v.ids").read_text("utf-8-sig").split("\n")
        return [line.strip() for line in lines if line.strip()]


@subject("parts of vectors")
class Parts:
    @staticmethod
    def write(folder):
        (folder / "parts").mkdir()
        np.save(folder / "parts" / "1-of-2.npy", VECTORS[:5])
        np.save(folder / "parts" / "2-of-2.npy", VECTORS[5:])

    @staticmethod
    def read(folder):
        return read_vector_file(folder / "parts")

    @staticmethod
    def reference(folder):
        parts = [np.load(path, allow_pickle=False) for path in sorted((folder / "parts").iterdir())]
        return np.concatenate(parts), None
