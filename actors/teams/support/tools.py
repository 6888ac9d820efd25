"""Tools of the support team: errors and known issues, tickets with their service level, and paging who is on call."""

import re
from pathlib import Path
from typing import Annotated

from actors.tools.given import CallKey, FromSetting
from actors.tools.matching import mentioned, nearest, words
from actors.tools.messages import Message, send
from actors.tools.records import Record, read_records
from actors.tools.tool import Tool, tool
from protocol.errors import ToolError

MOST_FOUND = 4
LONGEST_PAGE = 1_000

_CODE = re.compile(r"\bE-?\d{3}\b", re.IGNORECASE)
_TICKET = re.compile(r"\bS-?\d{4}\b", re.IGNORECASE)
_ISSUES = ("id", "code", "area", "title", "affected", "fixed_in", "status", "workaround")
_TICKETS = ("ticket", "opened", "customer", "area", "code", "priority", "status", "subject")


def errors(folder: Path) -> list[Tool]:
    """`look_up_issue` over the known issues and tickets of a folder."""

    @tool
    def look_up_issue(problem: str) -> str:
        """Look up an error code or a problem among the known issues: cause, affected versions, fix, workaround.

        Args:
            problem: the error code or what the customer sees, such as E-207 or photos are missing on Android
        """
        known = read_records(folder, "known_issues.json", _ISSUES)
        codes = _spelled(_CODE, problem)
        found = [row for row in known if row["code"] in codes] or nearest(
            problem, known, lambda row: f"{row['title']} {row['area']}", MOST_FOUND
        )
        if not found:
            return f"No known issue speaks of {problem[:200]!r}. The areas are: {_areas(known)}."
        tickets = _tickets(folder)
        return "\n".join(line for row in found for line in _issue(row, tickets))

    return [look_up_issue]


def levels(folder: Path) -> list[Tool]:
    """`service_level` and `find_on_call` over the tickets and the rota of a folder."""

    @tool
    def service_level(ticket: str) -> str:
        """Find the service level of tickets: priority, plan, minutes to the first answer, and whether to page someone.

        Args:
            ticket: a ticket number, a customer or an error code, such as S-2048, Dunmore Clinic or E-502
        """
        known = _tickets(folder)
        return "\n".join(_level(folder, row) for row in _chosen(known, ticket))

    @tool
    def find_on_call(area: str) -> str:
        """Find who is on call in the latest week of the rota: person, phone and backup of an area.

        Args:
            area: accounts, sync client or mobile app, or a problem that names one; all of them if none is named
        """
        return "\n".join(
            f"{row['person']} is on call for {row['area']} in the week of {row['week']}, phone {row['phone']},"
            f" backup {row['backup']} [{row.source}]"
            for row in _rota(folder, area)
        )

    return [service_level, find_on_call]


def paging(folder: Path) -> list[Tool]:
    """`page_person`, which reaches a person once and only after a person has agreed."""

    @tool(effect=True, confirm=True)
    def page_person(
        person: str,
        message: str,
        key: CallKey,
        outlet: Annotated[tuple[Path, str], FromSetting("outlet")] = (Path("outbox"), ""),
    ) -> str:
        """Page a person at once, by phone; somebody has to agree first, and a page goes out only one time.

        Args:
            person: the name of the person or the area they are on call for, such as Piet Bakker or accounts
            message: what is wrong, who is affected and since when, in at most 1,000 characters
        """
        on_call = _rota(folder, "")
        named = [row for row in on_call if _is_name(person, row["person"]) or _is_name(person, row["area"])]
        if len(named) != 1:
            known = ", ".join(f"{row['person']} ({row['area']})" for row in on_call)
            raise ToolError(f"say whom to page by name or area alone, one of: {known}")
        if not message.strip() or len(message) > LONGEST_PAGE:
            raise ToolError(f"the message must have 1 to {LONGEST_PAGE:,} characters")
        row = named[0]
        subject = f"Page for {row['area']}"
        sent = send(Message(key=key, to=f"{row['person']} {row['phone']}", subject=subject, text=message), *outlet)
        return f"{row['person']} was paged with the message: {message.strip()} ({sent})"

    return [page_person]


def _is_name(text: str, name: str) -> bool:
    """Whether a text is a name or a part of it and says nothing else: who is woken up must not be a guess."""
    said = set(words(text))
    return bool(said) and said <= set(words(name))


def _spelled(pattern: re.Pattern[str], text: str) -> set[str]:
    """The codes of a text as the tables spell them: capital letter, dash, digits."""
    return {f"{code[0].upper()}-{code.lstrip('ESes-')}" for code in pattern.findall(text)}


def _tickets(folder: Path) -> list[Record]:
    return read_records(folder, "tickets.csv", _TICKETS)


def _areas(rows: list[Record]) -> str:
    return ", ".join(dict.fromkeys(row["area"] for row in rows))


def _issue(issue: Record, tickets: list[Record]) -> list[str]:
    own = [row for row in tickets if issue["code"] and row["code"] == issue["code"]]
    told = f"{issue['id']} ({issue['code'] or issue['area']}), {issue['title']}; affected: {issue['affected']}"
    fix = f"fixed in {issue['fixed_in']}" if issue["fixed_in"] else "no fix yet"
    lines = [f"{told}; {issue['status']}, {fix}; workaround: {issue['workaround']} [{issue.source}]"]
    if own:
        customers = ", ".join(dict.fromkeys(row["customer"] for row in own))
        many = "1 ticket has" if len(own) == 1 else f"{len(own)} tickets have"
        lines.append(f"{many} {issue['code']}, from {customers} [{own[0].source}]")
    return lines


def _chosen(known: list[Record], text: str) -> list[Record]:
    numbers, codes = _spelled(_TICKET, text), _spelled(_CODE, text)
    customers = mentioned(text, [row["customer"] for row in known])
    found = [row for row in known if row["ticket"] in numbers] or [
        row for row in known if row["code"] in codes or row["customer"] in customers
    ]
    # Where nothing is named, what is open and urgent is what a person would look at.
    return found or [row for row in known if row["status"] == "open" and row["priority"] in ("P1", "P2")]


def _level(folder: Path, ticket: Record) -> str:
    plans = {row["customer"]: row["plan"] for row in read_records(folder, "customers.csv", ("customer", "plan"))}
    plan = plans.get(ticket["customer"], "no plan")
    told = f"{ticket['ticket']} of {ticket['customer']} ({plan}), {ticket['priority']}, {ticket['status']}"
    told = f"{told}: {ticket['subject']}, opened {ticket['opened']}"
    for row in read_records(folder, "service_levels.csv", ("plan", "priority", "first_answer_minutes", "page")):
        if (row["plan"], row["priority"]) == (plan, ticket["priority"]):
            page = "page the person on call" if row["page"] == "yes" else "no page"
            return f"{told}; first answer within {row['first_answer_minutes']} minutes, {page} [{row.source}]"
    return f"{told}; no service level is set for it [{ticket.source}]"


def _rota(folder: Path, area: str) -> list[Record]:
    rows = read_records(folder, "on_call.csv", ("week", "area", "person", "phone", "backup"))
    latest = [row for row in rows if row["week"] == max(row["week"] for row in rows)]
    named = mentioned(area, [row["area"] for row in latest])
    return [row for row in latest if not named or row["area"] in named]
