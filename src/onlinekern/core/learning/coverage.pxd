# Thresholds that hold a share of the scores of a stream. May change at minor versions.
