"""Pages of a run: one HTML file that a browser opens without a server or a network."""
