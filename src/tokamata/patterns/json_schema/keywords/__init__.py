"""What each keyword says, as nodes: one file for each kind of value that keywords are about.

Every handler takes the reader, the schema, the keyword's value, and the operands of the schema so far, to
which it adds.  It checks the shape of the value, and raises :class:`..faults.Fault` where that is
wrong.  Keywords that mean something only together are read where the first of them (in the order of the
table) stands.
"""
