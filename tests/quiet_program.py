"""A program of a user that configures no logs: it asks, and waits for the answer."""

import asyncio
import sys

from actors import Client, HandoffError


async def main() -> None:
    try:
        async with Client() as client:
            run = await client.ask("Count the letters", check_served=False)
            await run.answer()
    except HandoffError:
        sys.exit(3)


asyncio.run(main())
