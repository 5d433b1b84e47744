# The numbers of labels. May change at minor versions.
