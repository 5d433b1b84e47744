# Functions for the merging of models, all of them for Python. May change at minor versions.
