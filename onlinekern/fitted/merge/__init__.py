"""Merging models that have each learnt a part of a stream into one model."""
