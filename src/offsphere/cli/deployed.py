"""A collection in use, for commands that take ``--collection``: their source of vectors, and what they say of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from offsphere.base.errors import OffsphereError
from offsphere.cli.paragraphs import echo_items

if TYPE_CHECKING:
    from offsphere.comparison.table import Comparison
    from offsphere.data.ranking_task import RankingTask
    from offsphere.data.task import Task, TaskVectors
    from offsphere.data.task_vectors import RankingVectors
    from offsphere.encode.embedded_task import EmbeddedSource
    from offsphere.encode.runtime import Runtime
    from offsphere.engines.deployment import Deployment


class CollectionFields(NamedTuple):
    """What a user types of a collection."""

    target: str | None
    id_field: str | None = None
    vector_column: str | None = None


def source_of(
    data: str,
    model: str | None,
    vectors: Path | None,
    *,
    ignore_missing: bool,
    verify: bool,
    fields: CollectionFields,
    runtime: Runtime,
    query_model: str | None = None,
    ignore_broken: bool = False,
    reverse: bool = False,
) -> EmbeddedSource:
    """Where the vectors come from: files or a model; the documents' from a collection where one is named."""
    if fields.target is None:
        from offsphere.factors.task_source import task_source

        check_fields(fields)
        return task_source(
            data,
            model,
            vectors,
            ignore_missing=ignore_missing,
            verify=verify,
            query_model=query_model,
            ignore_broken=ignore_broken,
            reverse=reverse,
            runtime=runtime,
        )
    from offsphere.engines.collection_source import CollectionSource
    from offsphere.engines.registry import engine_of

    if query_model is not None or reverse:
        raise OffsphereError("a collection holds one model's documents: leave out --query-model and --reverse")
    engine_of(fields.target)  # what cannot be read is said before any file is read
    return CollectionSource(
        data,
        model,
        vectors,
        ignore_missing,
        verify,
        runtime=runtime,
        collection=fields.target,
        id_field=fields.id_field,
        vector_name=fields.vector_column,
    )


def check_fields(fields: CollectionFields) -> None:
    """Refuse names of fields where there is no collection that has some."""
    if fields.id_field is not None or fields.vector_column is not None:
        raise OffsphereError("--id-field and --vector-column name fields of a collection: say which with --collection")


def deployment_of(source: EmbeddedSource, task: Task, vectors: TaskVectors) -> Deployment | None:
    """What is known of the collection; nothing where vectors come from elsewhere."""
    from offsphere.engines.collection_source import CollectionSource

    if not isinstance(source, CollectionSource):
        return None
    return source.deployment(cast("RankingTask", task), cast("RankingVectors", vectors))


def echo_deployed(deployment: Deployment | None, table: Comparison | None = None) -> None:
    """Print what the collection does; with a comparison also what its setting costs."""
    if deployment is not None:
        from offsphere.auditing.findings.deployed_rules import deployed_findings

        echo_items("What you have", (finding.sentence for finding in deployed_findings(deployment, table)))


def deployed_values(deployment: Deployment | None, table: Comparison | None = None) -> dict[str, Any]:
    """The same for machines; empty where there is no collection."""
    if deployment is None:
        return {}
    from offsphere.auditing.findings.deployed_rules import deployed_findings

    findings = [finding.to_json() for finding in deployed_findings(deployment, table)]
    return {"deployed": deployment.to_json() | {"findings": findings}}
