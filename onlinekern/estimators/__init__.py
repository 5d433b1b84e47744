"""What all estimators share: the contract, tasks, validation, the bases of the families."""
