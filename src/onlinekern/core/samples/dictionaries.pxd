# Rows from dictionaries. May change at minor versions.
