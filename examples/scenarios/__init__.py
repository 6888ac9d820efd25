"""Scenarios: what a supervisor does when things do not go as planned, each one command on real processes."""
