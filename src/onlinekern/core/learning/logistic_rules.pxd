# Rules of second order for the logistic loss. May change at minor versions.
