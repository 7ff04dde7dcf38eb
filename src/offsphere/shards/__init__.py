"""The same work over shards of a corpus: the state that each leaves, its files, and how states become the result."""
