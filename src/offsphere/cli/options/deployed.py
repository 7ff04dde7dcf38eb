"""A collection in use, for commands that take ``--collection``: their source of vectors, and what they say of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from offsphere.base.errors import OffsphereError
from offsphere.cli.options import shared_options as options
from offsphere.cli.tables.paragraphs import echo_items

if TYPE_CHECKING:
    from offsphere.comparison.table import Comparison
    from offsphere.encode.embedded_task import EmbeddedSource
    from offsphere.engines.deployed.deployment import Deployment


@dataclass(frozen=True, slots=True)
class CollectionOptions:
    """A collection that has the documents' vectors, and what its fields are called."""

    collection: Annotated[
        str | None,
        typer.Option(
            help=f"Take the documents' vectors from your search engine, which is only read. {options.TARGET_HELP}"
        ),
    ] = None
    id_field: options.IdField = None
    vector_column: options.VectorColumnName = None

    def source(
        self, data: str, vectors: Path | None, models: options.ModelOptions, reading: options.VerifiedReading
    ) -> EmbeddedSource:
        """Where the vectors come from: files or a model; the documents' from the collection where one is named."""
        if self.collection is None:
            if self.id_field is not None or self.vector_column is not None:
                raise OffsphereError(
                    "--id-field and --vector-column name fields of a collection: say which with --collection"
                )
            return models.source(data, vectors, reading)
        from offsphere.engines.deployed.collection_source import CollectionSource

        return CollectionSource(
            data,
            models.model,
            vectors,
            ignore_missing=reading.ignore_missing,
            verify=not reading.no_verify,
            query_model=models.query_model,
            reverse=reading.reverse,
            runtime=models.running.runtime,
            collection=self.collection,
            id_field=self.id_field,
            vector_name=self.vector_column,
        )


def echo_deployed(deployment: Deployment | None, table: Comparison | None = None) -> None:
    """Print what the collection does; with a comparison also what its setting costs."""
    if deployment is not None:
        from offsphere.auditing.findings.deployed_rules import deployed_findings

        echo_items("What you have", (finding.sentence for finding in deployed_findings(deployment, table)))


def deployed_values(deployment: Deployment | None, table: Comparison | None = None) -> dict[str, Any]:
    """What the collection is and what is told of it, as plain values; empty where there is no collection."""
    if deployment is None:
        return {}
    from offsphere.auditing.findings.deployed_rules import deployed_findings

    findings = [finding.to_json() for finding in deployed_findings(deployment, table)]
    return {"deployed": deployment.to_json() | {"findings": findings}}
