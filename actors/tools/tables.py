"""Tables: read-only SQL over the CSV, JSON and SQLite files of a folder."""

from pathlib import Path

from actors.tools.table_process import process_of
from actors.tools.tool import Tool, tool

TIMEOUT_S = 60.0
"""Longer than other tools: reading many big files takes its time, and calls wait for one another."""


def build(folder: Path) -> list[Tool]:
    """`list_tables` and `query_tables` for one folder."""
    process = process_of(folder)

    @tool(timeout_s=TIMEOUT_S)
    async def list_tables() -> str:
        """List the tables there are: name, file to cite, number of rows, columns with their types, first row."""
        return await process.listing()

    @tool(timeout_s=TIMEOUT_S)
    async def query_tables(sql: str) -> str:
        """Query the tables with one SELECT in SQLite's SQL and get the rows as text.

        Args:
            sql: such as SELECT region, SUM(revenue_eur) FROM revenue_by_region GROUP BY region;
                call list_tables first for the names. Only reading is possible.
        """
        return await process.query(sql)

    return [list_tables, query_tables]
