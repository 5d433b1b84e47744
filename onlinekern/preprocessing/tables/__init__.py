"""Tables as rows of numbers: `TableEncoder` and its parts."""
