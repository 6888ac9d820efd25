"""The bus: its port, and what stands behind it (JetStream for real, memory for tests)."""
