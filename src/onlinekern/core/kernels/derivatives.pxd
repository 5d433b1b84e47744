# Gradients of kernel expansions, in Python. May change at minor versions.
