"""An editable prompt on a terminal, by prompt_toolkit."""

from contextlib import AbstractContextManager

from prompt_toolkit import PromptSession
from prompt_toolkit.patch_stdout import patch_stdout


class PromptLines:
    """Reads lines with editing and history. Ctrl-C and Ctrl-D at the prompt end the input."""

    def __init__(self) -> None:
        self._session: PromptSession[str] = PromptSession(interrupt_exception=EOFError)

    async def line(self, prompt: str = "") -> str:
        """The next line; a pasted text comes whole, with its line ends."""
        # The command handles SIGINT by itself.
        return await self._session.prompt_async(prompt, handle_sigint=False)


def writing_above_prompt() -> AbstractContextManager[None]:
    """Write to standard output and standard error above the prompt, which is drawn again below.

    Raw, because tables hold colours; control characters of others are removed before they are written.
    """
    return patch_stdout(raw=True)
