"""Similarity one level down: texts as bags of token vectors, and what the lengths of tokens are worth."""
