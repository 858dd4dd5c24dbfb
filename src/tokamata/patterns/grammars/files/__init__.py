"""Front ends: files of Lark and of GBNF, read into rules, and errors in them."""
