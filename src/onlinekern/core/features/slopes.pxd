# Gradients of functions of explicit features, in Python. May change at minor versions.
