# Rows of numbers of categories, made of one-hot ones. May change at minor versions.
