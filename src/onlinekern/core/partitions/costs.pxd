# Costs of the stages of a renewal. May change at minor versions.
