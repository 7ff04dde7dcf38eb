"""Search engines, one a file: what to set in each so that it ranks as a scorer does, and vectors to it and back."""

from offsphere.engines.settings import Setting, engine_settings

__all__ = ["Setting", "engine_settings"]
