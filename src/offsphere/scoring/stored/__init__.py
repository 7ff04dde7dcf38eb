"""Vectors as they are stored: fewer bits a number, fewer numbers a vector, and scorers that search what is left."""
