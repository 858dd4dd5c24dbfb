"""Small models, and models that do what a test wants."""
