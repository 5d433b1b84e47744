"""Reading streams: files of any size in blocks, shuffled on disk, scaled, and made up."""
