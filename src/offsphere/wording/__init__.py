"""What numbers mean in plain words: every sentence of a verdict is made here, from a claim and its numbers alone."""
