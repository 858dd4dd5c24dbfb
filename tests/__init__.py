"""The tests, and what they share (`tests.support`)."""
