"""Artificial streams."""
