"""Tables as rows of numbers: `TableEncoder`, and what it consists of."""
