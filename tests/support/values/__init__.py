"""Random compositions of constraints, with the values of their texts."""
