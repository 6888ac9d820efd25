"""Names: every span name, attribute and metric, in one place.

They follow OpenTelemetry's conventions for GenAI and messaging; what those don't know begins with `handoff.`.
"""

# who
SERVICE = "service.name"
INSTANCE = "service.instance.id"
CLIENT_SERVICE = "handoff-client"
SUPERVISOR_SERVICE = "handoff-supervisor"
WORKERS_SERVICE = "handoff-worker"
SCOPE = "handoff"

# GenAI
OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
WORKFLOW = "gen_ai.workflow.name"
AGENT = "gen_ai.agent.name"
CONVERSATION = "gen_ai.conversation.id"
REQUEST_MODEL = "gen_ai.request.model"
RESPONSE_MODEL = "gen_ai.response.model"
STOP_REASON = "anthropic.message.stop_reason"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
CACHE_READ_TOKENS = "gen_ai.usage.cache_read.input_tokens"
CACHE_WRITE_TOKENS = "gen_ai.usage.cache_write.input_tokens"
TOKEN_TYPE = "gen_ai.token.type"  # noqa: S105  a name
TOOL = "gen_ai.tool.name"
TOOL_TYPE = "gen_ai.tool.type"
TOOL_CALL = "gen_ai.tool.call.id"
TOOL_ARGUMENTS = "gen_ai.tool.call.arguments"
TOOL_RESULT = "gen_ai.tool.call.result"
ERROR = "error.type"

# messaging
SYSTEM = "messaging.system"
MESSAGING_OPERATION = "messaging.operation.name"
MESSAGING_TYPE = "messaging.operation.type"
DESTINATION = "messaging.destination.name"
TEMPLATE = "messaging.destination.template"
GROUP = "messaging.consumer.group.name"
NATS = "nats"

# ours
RUN = "handoff.run"
TEAM = "handoff.team"
TASK = "handoff.task"
ATTEMPT = "handoff.attempt"
EXECUTION = "handoff.execution"
STATUS = "handoff.status"
OUTCOME = "handoff.outcome"
OPEN = "handoff.open"
REASON = "handoff.reason"
BY = "handoff.by"
INTENT = "handoff.intent"
OUTPUT = "handoff.output"
REQUEST = "handoff.request"
ANSWER = "handoff.answer"
EPOCHS = "handoff.epochs"
REVISION = "handoff.plan.revision"
TASKS = "handoff.plan.tasks"
DEPENDS_ON = "handoff.depends_on"
MODEL_CALLS = "handoff.model_calls"
TOOL_CALLS = "handoff.tool_calls"
USD = "handoff.usd"
CONFIDENCE = "handoff.confidence"
GAPS = "handoff.gaps"
QUEUE_WAIT_S = "handoff.queue_wait_s"
ARGUMENT_BYTES = "handoff.tool.argument_bytes"
RESULT_BYTES = "handoff.tool.result_bytes"
RESULTS_READ = "handoff.results_read"
CUT = "handoff.cut"
LINK = "handoff.link"

# links: why one span names another
REDELIVERY = "redelivery"
FAN_IN = "fan_in"
AGAIN = "previous_attempt"
CAUSE = "caused_by"
ASKED_BY = "asked_by"

# moments
EXCEPTION = "exception"
EXCEPTION_TYPE = "exception.type"
EXCEPTION_MESSAGE = "exception.message"

# outcomes that no result tells
LOST = "lost"
GIVEN_BACK = "given_back"
ABANDONED = "abandoned"
GOING_ON = "open"


def worker_service(worker: str) -> str:
    """The service that a kind of worker is."""
    return f"handoff-worker-{worker}"


def request(team: str) -> str:
    """The span of a client's request."""
    return f"send request {team}"


def moment(kind: str) -> str:
    """Something that happened to a run, by the tag of its event."""
    return f"{SCOPE}.{kind}"


def workflow(team: str) -> str:
    """The span of a whole run."""
    return f"invoke_workflow {team}"


def dispatch(worker: str) -> str:
    """The span of a handoff."""
    return f"send task {worker}"


def execution(worker: str) -> str:
    """The span of a worker at work."""
    return f"invoke_agent {worker}"


def chat(model: str) -> str:
    """The span of one call to a model."""
    return f"chat {model}" if model else "chat"


def tool(name: str) -> str:
    """The span of one call of a tool."""
    return f"execute_tool {name}"


# metrics: (name, unit, what it says)
RUNS = ("handoff.runs", "{run}", "Runs that ended, by status.")
RUN_DURATION = ("handoff.run.duration", "s", "From the request to its answer.")
RUN_WAIT = ("handoff.run.queue_wait", "s", "From the request until a supervisor took it.")
TASK_DURATION = ("handoff.task.duration", "s", "How long a worker took, by outcome.")
TASK_WAIT = ("handoff.task.queue_wait", "s", "From a handoff until a worker took it.")
RETRIES = ("handoff.retries", "{attempt}", "Attempts after the first, by how they came about.")
REPLANS = ("handoff.replans", "{plan}", "New plans, and tries that failed.")
LOST_EXECUTIONS = ("handoff.executions.lost", "{execution}", "Executions that ended without a result.")
TOKENS = ("handoff.tokens", "{token}", "Tokens, by who spent them.")
COST = ("handoff.cost", "{usd}", "US dollars, by who spent them; unknown prices are not counted.")
REDELIVERIES = ("handoff.redeliveries", "{delivery}", "Deliveries after the first of the same message.")
DEAD_LETTERS = ("handoff.dead_letters", "{message}", "Messages that were refused.")
BREAKERS = ("handoff.breaker.state", "{state}", "0 closed, 1 half open, 2 open.")
WORKERS_ALIVE = ("handoff.workers", "{worker}", "Instances that are alive.")
MODEL_DURATION = ("gen_ai.client.operation.duration", "s", "How long a model took to answer.")
MODEL_TOKENS = ("gen_ai.client.token.usage", "{token}", "Tokens of one call to a model.")

COUNTERS = (RUNS, RETRIES, REPLANS, LOST_EXECUTIONS, TOKENS, COST, REDELIVERIES, DEAD_LETTERS)
HISTOGRAMS = (RUN_DURATION, RUN_WAIT, TASK_DURATION, TASK_WAIT, MODEL_DURATION, MODEL_TOKENS)
GAUGES = (BREAKERS, WORKERS_ALIVE)

WORKER = "worker"
WHO = "who"
KIND = "kind"
QUEUE = "queue"
STREAM = "stream"
