"""Exported files: other readers get the vectors from them, and they appear together or not at all."""

from __future__ import annotations

import shutil
import subprocess
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from offsphere.base import files
from offsphere.base.errors import DataError, OffsphereError
from offsphere.data.vector_files import read_vectors
from offsphere.engines.files.exchange import export_store, import_vectors
from tests.engines.conftest import IDS, ROWS, store_of

SUFFIXES = [".npy", ".npz", ".parquet", ".safetensors", ".faiss"]
WITH_IDS = [".npy", ".safetensors", ".faiss"]


def other_reader(path):
    """Vectors and, where the format has them, ids, read by somebody else's package."""
    if path.suffix == ".npy":
        return np.load(path), None
    if path.suffix == ".npz":
        with np.load(path) as archive:
            return archive["vectors"], archive["ids"].tolist()
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        table = pq.read_table(path, page_checksum_verification=True)
        kind = table.schema.field("vectors").type.value_type.to_pandas_dtype()
        return np.array(table["vectors"].to_pylist(), kind), table["id"].to_pylist()
    if path.suffix == ".safetensors":
        from safetensors.numpy import load_file

        return load_file(path)["vectors"], None
    faiss = pytest.importorskip("faiss")
    index = faiss.read_index(str(path))
    return index.reconstruct_n(0, index.ntotal), None


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_others_read_what_was_exported(tmp_path, suffix, dtype):
    rows = np.tile(ROWS, (30, 1)).astype(dtype)  # more than one block
    ids = [f"é {n}" for n in range(len(rows))]
    path = tmp_path / f"v{suffix}"
    export_store(store_of(tmp_path / "made", rows, ids), str(path))
    vectors, names = other_reader(path)
    assert vectors.dtype == (np.float32 if suffix == ".faiss" else rows.dtype)
    assert (vectors == rows).all()
    assert (names or path.with_suffix(".ids").read_text("utf-8").splitlines()) == ids


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_export_has_the_same_bytes_each_time(tmp_path, store, suffix):
    for folder in ("a", "b"):
        export_store(store, str(tmp_path / folder / f"v{suffix}"))
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert names == sorted(path.name for path in (tmp_path / "b").iterdir())
    assert all((tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes() for name in names)


def test_pages_of_parquet_carry_checksums(tmp_path, store):
    import pyarrow.parquet as pq

    path = tmp_path / "v.parquet"
    export_store(store, str(path))
    content = bytearray(path.read_bytes())
    at = content.find(ROWS[150].tobytes()[:8])
    assert at > 0
    content[at] ^= 1
    path.write_bytes(content)
    with pytest.raises(OSError, match="CRC"):
        pq.read_table(path, page_checksum_verification=True)
    with pytest.raises(DataError, match=r"v.parquet is truncated or not a parquet file"):
        read_vectors(path)


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="sha256sum is the oracle")
@pytest.mark.parametrize("suffix", WITH_IDS)
def test_sha256sum_checks_an_export(tmp_path, store, suffix):
    export_store(store, str(tmp_path / f"v{suffix}"))
    said = subprocess.run(
        ["sha256sum", "-c", f"v{suffix}.sha256"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert said.stdout == f"v{suffix}: OK\nv.ids: OK\n"


@pytest.mark.parametrize("suffix", WITH_IDS)
@pytest.mark.parametrize("damaged", ["vectors", "ids"])
def test_a_flipped_bit_is_noticed(tmp_path, store, suffix, damaged):
    path = tmp_path / f"v{suffix}"
    export_store(store, str(path))
    file = path if damaged == "vectors" else path.with_suffix(".ids")
    content = bytearray(file.read_bytes())
    content[-2] ^= 1
    file.write_bytes(content)
    with pytest.raises(DataError, match=f"{file.name} is not the file of which v{suffix}.sha256 has the checksum"):
        import_vectors(str(path), tmp_path / "again")


@pytest.mark.parametrize("suffix", WITH_IDS)
@pytest.mark.parametrize("renamed", [0, 1, 2, 3])
def test_a_kill_between_the_files_never_pairs_new_vectors_with_old_ids(tmp_path, store, suffix, renamed, monkeypatch):
    path = tmp_path / f"v{suffix}"
    export_store(store, str(path))
    other = store_of(tmp_path / "other", ROWS[::-1], [f"other {n}" for n in range(len(ROWS))])
    count = 0

    class Killed(BaseException):
        pass

    replace = Path.replace

    def killed_after(self, target):
        nonlocal count
        if self.name.endswith(".partial"):
            if count == renamed:
                raise Killed
            count += 1
        return replace(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(files.Path, "replace", killed_after)
        try:
            export_store(other, str(path))
        except Killed:
            assert renamed < 3
        else:
            assert renamed == 3
    whole = {0: (ROWS, IDS), 3: (ROWS[::-1], other.ids)}
    if renamed in whole:
        again = import_vectors(str(path), tmp_path / "again")
        assert (np.asarray(again.vectors) == whole[renamed][0]).all()
        assert again.ids == whole[renamed][1]
    else:
        with pytest.raises(DataError, match="it is damaged, or was not written to its end: write it again"):
            import_vectors(str(path), tmp_path / "again")
    export_store(other, str(path))
    assert import_vectors(str(path), tmp_path / "last").ids == other.ids


def test_ids_that_another_export_overwrote_are_noticed(tmp_path, store):
    export_store(store, str(tmp_path / "v.npy"))
    other = store_of(tmp_path / "other", ROWS[::-1], [f"other {n}" for n in range(len(ROWS))])
    export_store(other, str(tmp_path / "v.safetensors"))  # its ids stand in v.ids, too
    with pytest.raises(DataError, match=r"v.ids is not the file of which v.npy.sha256"):
        read_vectors(tmp_path / "v.npy")


def test_files_of_users_need_no_checksums(tmp_path):
    np.save(tmp_path / "v.npy", ROWS)
    (tmp_path / "v.ids").write_text("".join(f"mine {n}\n" for n in range(len(ROWS))))
    assert import_vectors(str(tmp_path / "v.npy"), tmp_path / "again").ids[7] == "mine 7"


@pytest.mark.parametrize("name", ["a\nb", " a", "a ", "a\r", "\ufeffa", "\u2003"])
@pytest.mark.parametrize("suffix", WITH_IDS)
def test_an_id_that_does_not_fit_into_a_line_is_refused(tmp_path, name, suffix):
    store = store_of(tmp_path / "made", ROWS[:2], [name, "b"])
    cure = "take an engine that has a field for ids" if suffix == ".faiss" else "export to .parquet"
    with pytest.raises(OffsphereError, match=f"in row 0 does not fit into a line: give it another, or {cure}"):
        export_store(store, str(tmp_path / f"v{suffix}"))
    assert [path.name for path in tmp_path.iterdir()] == ["made"]
    export_store(store, str(tmp_path / "v.parquet"))
    assert import_vectors(str(tmp_path / "v.parquet"), tmp_path / "again").ids == [name, "b"]


def test_an_archive_refuses_ids_that_it_would_change_or_that_are_too_long(tmp_path):
    with pytest.raises(OffsphereError, match=r"the id in row 1 ends with a zero byte: export to .parquet"):
        export_store(store_of(tmp_path / "zero", ROWS[:2], ["a", "b\0"]), str(tmp_path / "v.npz"))
    long = store_of(tmp_path / "long", ROWS, ["x" * 3_000_000, *IDS[1:]])
    with pytest.raises(OffsphereError, match="an id has 3,000,000 characters"):
        export_store(long, str(tmp_path / "v.npz"))
    assert not (tmp_path / "v.npz").exists()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_export_holds_no_copy_of_the_vectors(tmp_path, suffix):
    rows = np.zeros((60_000, 128), np.float32)
    rows[:, 0] = np.arange(len(rows))
    store = store_of(tmp_path / "made", rows)
    export_store(store, str(tmp_path / f"first{suffix}"))  # imports what it needs
    tracemalloc.start()
    export_store(store, str(tmp_path / f"v{suffix}"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < rows.nbytes / 2


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_export_onto_a_device_or_a_folder_is_refused_and_through_a_symlink_goes_behind_it(tmp_path, store, suffix):
    target = tmp_path / f"v{suffix}"
    target.symlink_to("/dev/null")
    with pytest.raises(OffsphereError, match="it is a device or pipe, no regular file: choose another name"):
        export_store(store, str(target))
    assert target.is_symlink()
    target.unlink()
    target.mkdir()
    with pytest.raises(OffsphereError, match=r"is a folder(: choose another name; nothing was changed|, not a file)"):
        export_store(store, str(target))
    target.rmdir()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["made"]
    (tmp_path / "far").mkdir()
    target.symlink_to(tmp_path / "far" / "behind")
    export_store(store, str(target))
    assert target.is_symlink()
    assert (tmp_path / "far" / "behind").is_file()
    assert import_vectors(str(target), tmp_path / "again").ids == IDS
