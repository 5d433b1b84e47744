# What the parts of a renewal take. May change at minor versions.
