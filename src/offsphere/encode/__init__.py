"""From items, texts or images, to vectors: encoders that keep the length, and a store on disk that survives a kill."""

from offsphere.data.store import Store, open_store
from offsphere.encode.embedding import embed
from offsphere.encode.sources import load_encoder

__all__ = ["Store", "embed", "load_encoder", "open_store"]
