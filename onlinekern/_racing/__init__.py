"""What StreamClassifier and StreamRegressor are made of: their experts, and the report on them."""
