"""The public learners, a family a file."""
