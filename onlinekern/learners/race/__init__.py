"""Learners whose model is a race of experts, and the reports on it."""
