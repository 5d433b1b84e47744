# Where a function changes, for trees that grow there. May change at minor versions.
