"""Programs that make tables, wheels and the site."""
