"""The parts of `onlinekern compare`: methods, test-then-train runs, parameter search, tables."""
