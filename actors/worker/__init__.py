"""Workers: what one is, and the process that lets it work."""
