"""Learners whose model is a race of experts, and what a race has to tell."""
