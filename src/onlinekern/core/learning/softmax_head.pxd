# The head of a softmax. May change at minor versions.
