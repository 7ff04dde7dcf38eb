"""Learned factors of recommenders: closed forms, and what cosine means (or does not) on them."""
