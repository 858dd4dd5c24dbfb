"""From the text of a pattern to an expression of the engine; one front end in each module."""
