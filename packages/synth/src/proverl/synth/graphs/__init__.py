"""Which tool leads to which: typed, inferred, proven or classified."""
