"""How people see results: texts with control characters as pictures, and HTML for notebooks."""
