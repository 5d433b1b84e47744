# Distances of all pairs of a few samples. May change at minor versions.
