"""Learning with each side's normalisation under control: losses, regularisers, adapters, encoders. Needs torch."""

from __future__ import annotations

from importlib import import_module

_HOME = {"ContrastiveLoss": "encoders.contrastive", "Dynamics": "encoders.dynamics", "prepare": "encoders.prepare"}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'offsphere.learn' has no attribute {name!r}")
    return getattr(import_module(f"offsphere.learn.{_HOME[name]}"), name)
