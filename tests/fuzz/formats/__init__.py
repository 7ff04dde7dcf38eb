"""Everything that offsphere reads or saves, one module a kind: how an example is written, and how it is read."""
