"""Merging of models of parts of a stream into one."""
