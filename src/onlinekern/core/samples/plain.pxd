# Samples that need no conversion. May change at minor versions.
