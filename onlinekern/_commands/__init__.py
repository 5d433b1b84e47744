"""The commands that train a model and predict with it, file to file."""
