"""A run, purely: its state is a fold over its messages, and what to do next is a function of that state."""
