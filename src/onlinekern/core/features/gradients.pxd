# Gradients of kernel least squares, in Python. May change at minor versions.
