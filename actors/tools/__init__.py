"""Tools: what a model may call, and the ones of the default team."""
