"""Roles of a supervisor: what it asks a model, one module and one prompt file for each role."""
