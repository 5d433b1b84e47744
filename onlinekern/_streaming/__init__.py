"""Streams: files of any size in blocks, shuffled on disk, scaled; artificial streams."""
