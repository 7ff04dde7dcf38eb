"""Learning on frozen vectors: a small map for each side."""
