"""Tables of texts with their vectors: titles or first sentences ask for the texts, whose vectors lie beside them."""

from __future__ import annotations

from offsphere.data.embedded_table import EmbeddedTable
from offsphere.data.formats.format import Format, Source
from offsphere.data.formats.known_items import task_of_whole_texts
from offsphere.data.ranking_task import RankingTask


def load_embedded_table(source: Source) -> RankingTask:
    """Make a task of a table's texts, which stay whole, as they were embedded."""
    table = EmbeddedTable.of(source.path)
    assert table is not None  # it was recognised
    return task_of_whole_texts(source.path.resolve().stem, list(table.entries()), str(source.path))


FORMAT = Format(
    "a table of texts and their vectors (.parquet: text, embedding, perhaps id, title, title_vector)",
    lambda path: EmbeddedTable.of(path) is not None,
    load_embedded_table,
)
