"""What turns columns and features into other features, in a stream."""
