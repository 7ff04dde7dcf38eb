"""How a sentence-transformers model is run: by which library, in which numbers, in how many processes, and where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from types import MappingProxyType

from offsphere.base.errors import MissingExtraError, OffsphereError, ParameterError, UnknownNameError
from offsphere.encode.devices import named_device

BACKENDS = ("torch", "onnx", "openvino")
MODEL_DTYPES = ("float32", "float16", "bfloat16")
MOST_PROCESSES = 256
READ_BY: Mapping[str, frozenset[str]] = MappingProxyType(  # files that a backend reads and torch does not
    {"torch": frozenset(), "onnx": frozenset({".onnx", ".onnx_data"}), "openvino": frozenset({".xml"})}
)


@dataclass(frozen=True, slots=True)
class Runtime:
    """How a model of sentence-transformers is run. The usual way is torch, in the numbers it was saved in, here.

    Vectors by another backend or in other numbers are almost the same, and not the same: they are kept as those of
    another model. How many processes there are and on which device changes no vector beyond rounding, and is not
    remembered.

    Args:
        backend: ``"torch"``, ``"onnx"`` or ``"openvino"``: who computes.
        dtype: ``"float32"``, ``"float16"`` or ``"bfloat16"``: the numbers that torch computes in; as the model was
            saved where it is not said.
        processes: How many processes share the items, each with the model; one after another on the graphics cards.
        device: Where torch computes: ``"cpu"``, ``"cuda"``, ``"cuda:1"``, ``"mps"``; what torch finds where it is not
            said. Models that torch does not run take no notice.

    Raises:
        UnknownNameError: There is no such backend, or no such kind of numbers.
        ParameterError: Fewer than one process, something that a backend has no option for, or a device that torch does
            not know.
        MissingExtraError: A device is named and torch is not installed.

    Example:
        >>> from offsphere.encode.runtime import Runtime
        >>> Runtime(backend="openvino").named("all-MiniLM-L6-v2")
        'all-MiniLM-L6-v2 (openvino)'
        >>> Runtime(dtype="bfloat16", processes=4).named("all-MiniLM-L6-v2")
        'all-MiniLM-L6-v2 (bfloat16)'
    """

    backend: str = "torch"
    dtype: str | None = None
    processes: int = 1
    device: str | None = None

    def __post_init__(self) -> None:
        """Refuse what there is not, and what does not go together."""
        if self.backend not in BACKENDS:
            raise UnknownNameError("backend", self.backend, list(BACKENDS))
        if self.dtype is not None and self.dtype not in MODEL_DTYPES:
            raise UnknownNameError("model dtype", self.dtype, list(MODEL_DTYPES))
        if not isinstance(self.processes, int) or not 1 <= self.processes <= MOST_PROCESSES:
            raise ParameterError(f"processes = {self.processes!r}: between 1 and {MOST_PROCESSES} encode together")
        if self.backend != "torch" and self.dtype is not None:
            raise ParameterError(
                f"the backend {self.backend} computes in the numbers of its own file: leave out the dtype {self.dtype}"
            )
        if self.backend != "torch" and self.device is not None:
            raise ParameterError(f"the backend {self.backend} is not run by torch: leave out the device {self.device}")
        if self.device is not None:
            named_device(self.device)
        if self.backend != "torch" and self.processes > 1:
            raise ParameterError(
                f"the backend {self.backend} shares the work out among threads itself: leave out the processes"
            )

    @property
    def is_usual(self) -> bool:
        """Whether nothing special is asked for, but for the device."""
        return replace(self, device=None) == USUAL

    def named(self, model: str) -> str:
        """Name a model as it is run, so that its vectors are never taken for those of another backend or dtype.

        Args:
            model: What the user calls it.

        Returns:
            The same name where torch computes in the model's own numbers.
        """
        other = [self.backend] * (self.backend != "torch") + ([self.dtype] if self.dtype is not None else [])
        return f"{model} ({', '.join(other)})" if other else model

    def check_fits(self, model: str) -> None:
        """Refuse a model that sentence-transformers does not run, where anything special is asked for.

        Args:
            model: What the user calls it.

        Raises:
            ParameterError: A backend, a dtype or processes were asked for.
        """
        if not self.is_usual:
            raise ParameterError(
                f"{model} is not run by sentence-transformers: leave out the backend, the model dtype and the processes"
            )

    def check_installed(self) -> None:
        """Refuse a backend whose packages are not there, before a model is looked for.

        Raises:
            MissingExtraError: OpenVINO's packages are missing.
            OffsphereError: ONNX's are.
        """
        if self.backend == "openvino" and not _can_import("optimum.intel"):
            raise MissingExtraError("optimum-intel", "openvino")
        if self.backend == "onnx" and not _can_import("optimum.onnxruntime"):
            raise OffsphereError(
                "the backend onnx needs a release of optimum-onnx that takes transformers 5: pip install "
                "'sentence-transformers[onnx]', or take the backend openvino"
            )

    def devices(self) -> Sequence[str]:
        """Where each process computes: on the device that was named, else on the graphics cards or the processor."""
        import torch

        cards = torch.cuda.device_count()
        if self.device not in (None, "cuda"):
            return [str(self.device)] * self.processes
        return [f"cuda:{number % cards}" if cards else "cpu" for number in range(self.processes)]


USUAL = Runtime()


def _can_import(module: str) -> bool:
    """Whether a module of a package that may be missing is there, without importing more than its parents."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False
