"""A reader answers questions from what scorers found: what a better ranking is worth to whoever reads it."""
