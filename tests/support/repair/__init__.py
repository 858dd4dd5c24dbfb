"""Cases of repairs that other libraries have."""
