"""Transformers that turn table columns or features into other features along a stream."""
