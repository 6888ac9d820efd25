"""Benchmarks: our figures, each beside a thin JetStream round trip in the same run."""
