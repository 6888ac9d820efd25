"""The model server: a local stand-in for the provider's Messages API, answered by a script or by offline rules."""
