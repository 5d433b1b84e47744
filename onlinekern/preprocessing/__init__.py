"""Transformers that turn columns and features into other features, in a stream."""
