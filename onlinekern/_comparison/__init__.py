"""What `onlinekern compare` does: methods, test-then-train runs, parameter search, tables."""
