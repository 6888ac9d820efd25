"""The offline model: a local server that speaks the Messages API and answers by rules, so that no key is needed."""

NAME = "offline-rules-1"
"""The name of the model in every answer."""

NOTE = "(offline model: answered by rules, not by a language model)"
"""The last line of every text it writes."""
