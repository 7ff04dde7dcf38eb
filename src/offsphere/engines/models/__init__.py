"""Models that end in a scorer: what they emit is stored as it is."""
