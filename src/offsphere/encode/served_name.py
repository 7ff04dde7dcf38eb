"""The name of a model behind an embedding API: where it is, what it is called there, and how it is asked."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Self
from urllib.parse import parse_qsl, urlsplit

from offsphere.base.errors import ParameterError
from offsphere.base.passwords import without_password

OPENAI = "openai:"
OPENAI_ADDRESS = "https://api.openai.com/v1"
OWN_KEY = "OFFSPHERE_EMBEDDING_KEY"
OPTIONS = ("dimensions", "query_type", "document_type")
MOST_DIMENSIONS = 65_536

# models whose API treats queries and documents apart, by a part of their name, and what its input_type is for each
TYPED: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "voyage": ("query", "document"),
        "embed-english": ("search_query", "search_document"),
        "embed-multilingual": ("search_query", "search_document"),
        "embed-v4": ("search_query", "search_document"),
        "nv-embed": ("query", "passage"),
        "embedqa": ("query", "passage"),
    }
)


@dataclass(frozen=True, slots=True)
class ServedName:
    """Which model to ask, and how.

    Attributes:
        name: As the user typed it.
        address: Of the API, such as ``http://localhost:8080/v1``.
        model: What the API calls the model.
        dimensions: To how many the API is to shorten vectors.
        query_type: The ``input_type`` of queries, where the API has one.
        document_type: The ``input_type`` of documents.
    """

    name: str
    address: str
    model: str
    dimensions: int | None = None
    query_type: str | None = None
    document_type: str | None = None

    @classmethod
    def of(cls, name: str) -> Self:
        """Read a name.

        Args:
            name: ``openai:MODEL`` or ``http://HOST/v1#MODEL``, perhaps followed by ``?dimensions=256`` or
                ``?query_type=query&document_type=document``.

        Returns:
            What it names; nobody is asked.

        Raises:
            ParameterError: There is no model in it, or an option that is not known.

        Example:
            >>> from offsphere.encode.served_name import ServedName
            >>> named = ServedName.of("http://localhost:8080/v1#bge-m3?dimensions=256")
            >>> named.address, named.model, named.dimensions
            ('http://localhost:8080/v1', 'bge-m3', 256)
        """
        if name.startswith(OPENAI):
            address, rest = OPENAI_ADDRESS, name.removeprefix(OPENAI)
        else:
            address, _, rest = name.partition("#")
            if "@" in urlsplit(address).netloc:
                raise ParameterError(
                    f"{without_password(address)}: give no password in an address, set {OWN_KEY} instead"
                )
        model, _, asked = rest.partition("?")
        if not model:
            raise ParameterError(f"{name}: say which model, as in http://HOST/v1#MODEL or openai:MODEL")
        options = dict(parse_qsl(asked, keep_blank_values=True))
        unknown = [option for option in options if option not in OPTIONS]
        if unknown:
            raise ParameterError(f"{name}: unknown option {unknown[0]!r}; there are {', '.join(OPTIONS)}")
        dimensions = options.pop("dimensions", None)
        if dimensions is not None and not (dimensions.isdigit() and 0 < int(dimensions) <= MOST_DIMENSIONS):
            raise ParameterError(f"{name}: dimensions = {dimensions!r} is no number of dimensions")
        return cls(name, address.rstrip("/"), model, int(dimensions) if dimensions is not None else None, **options)

    @property
    def keys(self) -> tuple[str, ...]:
        """The variables in which a key is looked for: OpenAI's own goes to nobody else."""
        return (OWN_KEY, "OPENAI_API_KEY") if self.address == OPENAI_ADDRESS else (OWN_KEY,)

    @property
    def lacks_key(self) -> bool:
        """Whether nobody would be answered: OpenAI asks for a key, and the environment has none."""
        return self.address == OPENAI_ADDRESS and not any(os.environ.get(name) for name in self.keys)

    @property
    def missing_types(self) -> tuple[str, str] | None:
        """The types of queries and documents that this model wants, where none was given."""
        if self.query_type is not None or self.document_type is not None:
            return None
        return next((types for part, types in TYPED.items() if part in self.model.lower()), None)


def is_served(name: str) -> bool:
    """Tell whether a name is one of a model behind an API."""
    return name.startswith((OPENAI, "http://", "https://"))
