"""What fitted models are made of, a family a module: its fields, and what may be done with it.

`state.kinds` finds the modules by themselves. A new space is a new one.
"""
