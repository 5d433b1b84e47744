"""The race of `onlinekern compare`: methods, test-then-train runs, search, tables."""
