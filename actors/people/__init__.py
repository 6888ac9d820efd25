"""People: what waits for a person, and the worker that a person is."""
