"""Random partitions of the space of samples: trees, how they grow, and from which samples."""
