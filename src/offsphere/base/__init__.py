"""The ground floor: errors, files that appear whole, the cache, digests, tables. It knows nothing of vectors."""
