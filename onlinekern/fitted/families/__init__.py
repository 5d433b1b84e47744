"""Families of fitted models, one in each module: their fields and the rules for them.

`state.kinds` finds the modules by itself. A new space is a new module.
"""
