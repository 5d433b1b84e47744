"""The public learners; each file has one family."""
