"""Vectors as arrays of rows: blocks of them, their lengths, moments and contents. It knows nothing of scores."""
