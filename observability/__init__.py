"""The witness: tells what happened, in spans, logs and metrics. Knows no actors."""
