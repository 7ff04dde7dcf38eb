"""The same work over shards of a corpus: the state that each leaves, its files, and how states become the result.

A state is what is left of some shards once their vectors are out of sight: moments, top lists, counts. It does not
grow with the documents, two of them merge into the state of both, in any order, and the state of all shards is
what one run over the whole corpus would have had.
"""
