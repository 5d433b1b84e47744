"""The parts that all estimators share: contract, tasks, validation, bases of the families."""
