"""Trials: what an engine, or a collection in it, really does with vectors."""
