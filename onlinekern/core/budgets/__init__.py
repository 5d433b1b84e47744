"""Budget policies: which support vector leaves, and what replaces it."""
