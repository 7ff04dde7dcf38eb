"""What docs/promises.md promises of the whole command, watched from outside: the network, code in data, determinism."""
