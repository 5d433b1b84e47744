"""What becomes of several models that are merged into one: `onlinekern.merge`.

The objects of the core say what they have learnt as arrays and numbers, of which they are restored
(pickle and files use the same). A rule for each kind of object makes the arrays of one object out
of those of several.
"""
