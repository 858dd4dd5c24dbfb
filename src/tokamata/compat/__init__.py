"""Functions of other libraries with their names and arguments, over tokamata's own; none is imported."""
