# What tables of a scale learn from samples, in Python. May change at minor versions.
