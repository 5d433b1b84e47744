"""The encoder of tables as rows of numbers, `TableEncoder`, and its parts."""
