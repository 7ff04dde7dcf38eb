"""A model in a folder is known by all of its files that can change a vector, not by its weights alone.

Which files those are depends on who loads them: pooling and prompts are JSON, a vocabulary may be a text. So every file
counts but those that nobody reads to encode: what is missed here would be vectors of an older model, kept in silence.
"""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path

from offsphere.base.digests import digest_of_named_files

WORDS = frozenset({".md", ".html", ".pdf", ".log", ".csv", ".tsv", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp"})
CODE = frozenset({".py", ".pyc", ".pyi"})  # of the package around a model; code of a model itself is never run
OTHER_RUNTIMES = frozenset({".onnx", ".onnx_data", ".xml", ".h5", ".msgpack", ".ot", ".tflite"})
UNREAD = WORDS | CODE | OTHER_RUNTIMES
TRAINING = ("checkpoint", "__pycache__")  # how the names of folders begin that a training or Python leaves


def digest_of_model(folder: Path, *, also: Set[str] = frozenset()) -> str:
    """Digest everything in a model's folder that can change the vectors it gives.

    Args:
        folder: The folder of the model.
        also: How the names of files of other runtimes end that are read as well.

    Returns:
        A short digest of the contents and names of its files.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as name:
        ...     config, notes = Path(name) / "config.json", Path(name) / "README.md"
        ...     _ = config.write_text("mean"), notes.write_text("a model")
        ...     before = digest_of_model(Path(name))
        ...     _ = notes.write_text("a good model")
        ...     after_notes = digest_of_model(Path(name))
        ...     _ = config.write_text("cls")
        ...     before == after_notes, before == digest_of_model(Path(name))
        (True, False)
    """
    return digest_of_named_files(
        folder, (path for path in folder.rglob("*") if path.is_file() and _counts(path, folder, UNREAD - also))
    )


def _counts(path: Path, folder: Path, unread: Set[str]) -> bool:
    """Whether a file may be read by whoever encodes."""
    parts = path.relative_to(folder).parts
    hidden = any(part.startswith(".") for part in parts)
    left_over = any(part.startswith(TRAINING) for part in parts[:-1])
    return not (hidden or left_over or path.suffix.lower() in unread)
