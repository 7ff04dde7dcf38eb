"""Search engines: what each is to be told so that it ranks as a scorer does."""

from offsphere.engines.settings import Setting, engine_settings

__all__ = ["Setting", "engine_settings"]
