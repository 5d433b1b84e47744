"""Models of parts of a stream become one."""
