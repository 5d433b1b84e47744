# Random partitions of the space of samples. May change at minor versions.
