# Steps of a renewal, in Python. May change at minor versions.
