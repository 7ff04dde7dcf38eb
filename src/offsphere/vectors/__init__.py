"""Vectors as arrays of rows: blocks of them, their lengths, moments and contents. This room knows no scores."""
