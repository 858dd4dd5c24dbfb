"""What a lexer takes, and how it becomes part of the rules of a grammar."""
