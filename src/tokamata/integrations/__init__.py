"""One thin file per host.  Nothing is imported from here until it is used."""
