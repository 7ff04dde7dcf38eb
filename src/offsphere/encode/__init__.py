"""From text to vectors: encoders that keep the length, and a store on disk that survives a kill."""

from offsphere.encode.embedding import embed
from offsphere.encode.load import load_encoder
from offsphere.store import Store, open_store

__all__ = ["Store", "embed", "load_encoder", "open_store"]
