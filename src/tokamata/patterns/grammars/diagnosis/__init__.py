"""Questions about a grammar: is it deterministic, and why do its rules or its lexer leave no texts?"""
