"""Run a notebook and write its outputs into it: plain Python cells, in one namespace, without a server.

python scripts/run_notebook.py docs/tutorial.ipynb
"""

from __future__ import annotations

import ast
import io
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any


def outputs_of(notebook: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """Run every code cell, in order, and give what each prints and shows.

    Args:
        notebook: The JSON of a notebook.

    Returns:
        The outputs of each code cell, as a notebook holds them.
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return [_run("".join(cell["source"]), names, number) for number, cell in enumerate(cells, 1)]


def _run(source: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """Run one cell; its last expression is shown, as in a notebook."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with redirect_stdout(printed):
        exec(compile(tree, f"<cell {number}>", "exec"), names)  # noqa: S102  # our own notebook
        if last is not None:
            value = eval(compile(ast.Expression(last.value), f"<cell {number}>", "eval"), names)  # noqa: S307
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": _lines(printed.getvalue())})
    if value is not None:
        outputs.append(
            {"output_type": "execute_result", "execution_count": number, "metadata": {}, "data": _data(value)}
        )
    return outputs


def _data(value: Any) -> dict[str, Any]:
    """What a notebook keeps of a value: its text, and a chart or HTML where it has such."""
    data: dict[str, Any] = {"text/plain": _lines(repr(value))}
    if hasattr(value, "_repr_mimebundle_"):  # a chart
        data |= {kind: part for kind, part in value._repr_mimebundle_().items() if kind != "text/plain"}
    elif hasattr(value, "_repr_html_") and (markup := value._repr_html_()) is not None:
        data["text/html"] = _lines(markup)
    return data


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def main() -> None:
    """Run the notebook that is named, and write it."""
    path = Path(sys.argv[1])
    notebook = json.loads(path.read_text("utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, (cell, outputs) in enumerate(zip(cells, outputs_of(notebook), strict=True), 1):
        cell["outputs"], cell["execution_count"] = outputs, number
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
