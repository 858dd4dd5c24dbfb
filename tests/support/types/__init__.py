"""Python types, with texts of their values."""
