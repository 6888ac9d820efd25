"""The language: what is said on the wire, and nothing else. Imports the standard library and msgspec only."""
