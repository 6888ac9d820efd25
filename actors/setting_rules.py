"""Rules about settings: their variables, which numbers may be 0, and which count in a file that is not trusted."""

from typing import Literal

ENVIRONMENT = {
    "NATS_URL": "nats_url",
    "NATS_CREDS": "nats_creds",
    "ANTHROPIC_API_KEY": "anthropic_api_key",
    "ANTHROPIC_AUTH_TOKEN": "anthropic_api_key",
    "ANTHROPIC_BASE_URL": "anthropic_base_url",
}
"""Variables that other programs know too; every other setting is read from HANDOFF_<NAME>."""

TRUST = "HANDOFF_TRUST"
"""The one variable of this form that is no setting: it trusts the configuration file, so the file cannot set it."""

GIB = 1024**3
DAY_S = 86_400.0
Effort = Literal["", "low", "medium", "high", "xhigh", "max"]
LOG_LEVELS = ("debug", "info", "warning", "error", "critical")
BUDGETS = {"budget_tokens", "budget_steps", "budget_usd"}
SWITCHES = {"sync_always", "fetch_pages", "trace_content"}
MAY_BE_ZERO = (
    {"max_tokens", "context_tokens", "offline_delay_s", "port", "depth", "model_retries", "metrics_port"}
    | SWITCHES
    | BUDGETS
)
HARMLESS = {
    "attempts",
    "breaker_cool_s",
    "breaker_failures",
    "budget_steps",
    "budget_tokens",
    "budget_usd",
    "concurrency",
    "confirm_s",
    "context_tokens",
    "deadline_s",
    "deliveries",
    "depth",
    "effort_condenser",
    "effort_judge",
    "effort_planner",
    "effort_refiner",
    "effort_report",
    "effort_synthesizer",
    "effort_worker",
    "grace_s",
    "log_level",
    "max_tokens",
    "max_turns",
    "model_retries",
    "model_patience_s",
    "model_timeout_s",
    "offline_delay_s",
    "plan_tries",
    "planner_tasks",
    "poll_s",
    "reading",
    "request_tasks",
    "review_s",
    "revisions",
    "runs",
    "stuck_s",
    "tool_output",
}
"""Settings that count even in a configuration file that is not trusted: limits, which name no address, path or code."""
