"""Tools of the contract team: clauses as they stand, the rules they break, the risk, and wording that would do."""

import re
from pathlib import Path
from typing import NamedTuple

from actors.tools.folder import files
from actors.tools.matching import mentioned, nearest
from actors.tools.records import Record, read_records
from actors.tools.tool import Tool, tool
from protocol.errors import ToolError

MOST_CLAUSES = 6

_CLAUSE = re.compile(r"^(\d+\.\d+) (.+)$", re.MULTILINE)
_TOPIC = re.compile(r"^## \d+\. (.+)$", re.MULTILINE)
_VALUES = ("contract", "file", "kind", "counterparty", "annual_value_eur", "term_months")
_RULES = ("id", "title", "severity", "applies_to", "topic", "kind", "value", "unit")
_CLASSES = ((10, "red"), (4, "amber"), (0, "green"))


class Clause(NamedTuple):
    """One numbered clause of a contract, under its topic."""

    contract: str
    source: str
    number: str
    topic: str
    text: str


class Finding(NamedTuple):
    """A rule held against a contract; `why` quotes what decided."""

    rule: Record
    broken: bool
    why: str


def clauses(folder: Path) -> list[Tool]:
    """`find_clauses` over the contracts of a folder."""

    @tool
    def find_clauses(about: str) -> str:
        """Find the clauses of the contracts on a subject and quote them word for word, with number and contract.

        Args:
            about: the subject, and the contract if only one is meant, such as liability in the Halcyon agreement
        """
        chosen = _chosen(folder, about)
        among = [one for contract in chosen for one in _clauses(folder, contract)]
        found = nearest(_without(about, chosen), among, lambda one: f"{one.topic} {one.topic} {one.text}", MOST_CLAUSES)
        if not found:
            topics = ", ".join(dict.fromkeys(one.topic for one in among))
            return f"No clause speaks of {about[:200]!r}. The topics are: {topics}."
        return "\n".join(
            f"{one.contract}, clause {one.number} ({one.topic}): {one.text} [{one.source}]" for one in found
        )

    return [find_clauses]


def rules(folder: Path) -> list[Tool]:
    """`check_rules` over the contracts and the rules of a folder."""

    @tool
    def check_rules(contract: str) -> str:
        """Check contracts against the compliance rules: one line per rule, broken or kept, with the clause.

        Args:
            contract: the name of the contract, such as Orrery cloud subscription; all of them if none is named
        """
        lines: list[str] = []
        for one in _chosen(folder, contract):
            found = _findings(folder, one)
            broken = [finding for finding in found if finding.broken]
            lines.append(f"{one['contract']}: {len(broken)} of {len(found)} rules are broken [rules.json]")
            lines += [_line(finding) for finding in sorted(found, key=lambda finding: not finding.broken)]
        return "\n".join(lines)

    return [check_rules]


def risk(folder: Path) -> list[Tool]:
    """`score_risk` over the contracts of a folder."""

    @tool
    def score_risk(contract: str) -> str:
        """Calculate the risk of contracts: points of the broken rules, risk class, total value and value above the cap.

        Args:
            contract: the name of the contract, such as Halcyon supply agreement; all of them if none is named
        """
        points = {
            row["severity"]: row.number("points")
            for row in read_records(folder, "risk_points.csv", ("severity", "points"))
        }
        return "\n".join(line for one in _chosen(folder, contract) for line in _risk(folder, one, points))

    return [score_risk]


def wording(folder: Path) -> list[Tool]:
    """`find_wording` over the approved wording of a folder."""

    @tool
    def find_wording(topic_or_rule: str) -> str:
        """Find the wording that we ask for and the wording that we still accept, for clauses that break a rule.

        Args:
            topic_or_rule: topics or numbers of rules, such as liability and payment, or R2 and R3
        """
        known = read_records(folder, "wording.csv", ("rule", "topic", "we_ask_for", "we_accept"))
        numbers = {number.upper() for number in re.findall(r"\br\d+\b", topic_or_rule, re.IGNORECASE)}
        found = [row for row in known if row["rule"] in numbers] or nearest(
            topic_or_rule, known, lambda row: f"{row['topic']} {row['we_ask_for']}", MOST_CLAUSES
        )
        if not found:
            return (
                f"There is no wording on {topic_or_rule[:200]!r}. Topics: {', '.join(row['topic'] for row in known)}."
            )
        return "\n".join(map(_wording_line, found))

    return [find_wording]


def _wording_line(row: Record) -> str:
    asked = f"we ask for: {row['we_ask_for']} We accept: {row['we_accept']}"
    return f"{row['topic']} ({row['rule']}), {asked} [{row.source}]"


def _contracts(folder: Path) -> list[Record]:
    return read_records(folder, "contract_values.csv", _VALUES)


def _chosen(folder: Path, text: str) -> list[Record]:
    known = _contracts(folder)
    named = mentioned(text, [one["contract"] for one in known])
    return [one for one in known if not named or one["contract"] in named]


def _without(text: str, contracts: list[Record]) -> str:
    """The text without the names of the contracts, which say nothing on the subject."""
    own = {word.lower() for contract in contracts for word in contract["contract"].split()}
    return " ".join(word for word in text.split() if word.lower().strip(",.?") not in own)


def _clauses(folder: Path, contract: Record) -> list[Clause]:
    found = next((file for file in files(folder, (".md",)) if file.name == contract["file"]), None)
    if found is None:
        raise ToolError(f"{contract['file']} of {contract['contract']!r} is not in the data folder: add it")
    text = found.text()
    topics = [(match.start(), match[1]) for match in _TOPIC.finditer(text)]
    return [
        Clause(contract["contract"], found.name, match[1], _topic_at(topics, match.start()), match[2])
        for match in _CLAUSE.finditer(text)
    ]


def _topic_at(topics: list[tuple[int, str]], place: int) -> str:
    return next((topic for start, topic in reversed(topics) if start < place), "")


def _findings(folder: Path, contract: Record) -> list[Finding]:
    known = _clauses(folder, contract)
    held = [
        rule
        for rule in read_records(folder, "rules.json", _RULES)
        if contract["kind"] in rule["applies_to"].split("; ")
    ]
    return [_held(rule, [one for one in known if rule["topic"] in ("", one.topic.lower())]) for rule in held]


def _held(rule: Record, known: list[Clause]) -> Finding:
    if rule["kind"] in ("requires", "forbids"):
        hit = next((one for one in known if rule["value"] in one.text.lower()), None)
        broken = (hit is None) == (rule["kind"] == "requires")
        return Finding(rule, broken, _quoted(hit) if hit else f"no clause says {rule['value']!r} [{rule.source}]")
    figures = [(float(number), one) for one in known for number in re.findall(rf"(\d+) {rule['unit']}\b", one.text)]
    if not figures:
        return Finding(rule, True, f"no clause states {rule['topic']} in {rule['unit']} [{rule.source}]")
    # Several figures in one topic: the worst for the rule decides.
    most = rule["kind"] == "at_most"
    value, clause = (max if most else min)(figures, key=lambda one: one[0])
    limit = rule.number("value")
    return Finding(rule, value > limit if most else value < limit, _quoted(clause))


def _quoted(clause: Clause) -> str:
    return f"clause {clause.number}: {clause.text} [{clause.source}]"


def _line(finding: Finding) -> str:
    rule = finding.rule
    state = f"{rule['id']} broken ({rule['severity']})" if finding.broken else f"{rule['id']} kept"
    return f"{state}, {rule['title']}; {finding.why}"


def _risk(folder: Path, contract: Record, points: dict[str, float]) -> list[str]:
    broken = [finding.rule for finding in _findings(folder, contract) if finding.broken]
    total = sum(points.get(rule["severity"], 0) for rule in broken)
    value = contract.number("annual_value_eur") * contract.number("term_months") / 12
    told = ", ".join(f"{rule['id']} {rule['severity']}" for rule in broken) or "none"
    name = contract["contract"]
    kind = next(kind for least, kind in _CLASSES if total >= least)
    lines = [
        f"{name}: {total:g} risk points, class {kind} (broken rules: {told}) [rules.json, risk_points.csv]",
        f"{name}: total value {value:,.0f} euros over {contract['term_months']} months [contract_values.csv]",
    ]
    cap = next((one for one in _clauses(folder, contract) if one.topic == "Liability" and "euros" in one.text), None)
    if cap and (amount := re.search(r"([\d,]+) euros", cap.text)):
        capped = float(amount[1].replace(",", ""))
        lines.append(
            f"{name}: {value - capped:,.0f} euros of it lie above the cap of {capped:,.0f} euros [{cap.source}]"
        )
    return lines
