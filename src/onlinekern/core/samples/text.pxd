# LIBSVM text as arrays. May change at minor versions.
