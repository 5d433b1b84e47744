"""``onlinekern serve``: a model over HTTP."""
