"""Tables and pages that tell of a run."""
