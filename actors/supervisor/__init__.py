"""The supervisor: takes requests, has them planned, hands out tasks, and writes one answer."""
