"""Encoders themselves: a loss, stages, recipes and dynamics for sentence-transformers' own trainer."""
