# Orders of categories, learnt from samples, in Python. May change at minor versions.
