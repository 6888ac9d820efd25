"""The checks of the stand-in: one module for each subject, each a pure function from a request to its faults."""
