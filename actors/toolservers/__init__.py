"""Tool servers: programs that speak the Model Context Protocol, kept running, and their tools lent to a worker."""
