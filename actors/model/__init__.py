"""The model: its port, the adapter to the anthropic SDK, and the offline server that stands in for a provider."""
