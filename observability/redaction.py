"""Redaction: secrets are blanked out of whatever is told about a run.

Logs, spans, faults and dead letters pass through here; what a client or a model said is passed on as it is.
"""

import re
from collections.abc import Iterable
from urllib.parse import quote

from observability.secret_formats import BARE_SECRET, SIGNED_URL

BLANK = "[redacted]"
SHORTEST = 6
"""A configured secret shorter than this would blank out ordinary words."""

SECRET_NAMES = (
    *("key", "token", "password", "passwd", "pwd", "passphrase", "secret"),
    *("authorization", "credential", "credentials", "cookie", "webhook_url"),
)

_QUOTE = r"\\{0,4}[\"']"
_IS = rf"(?:{_QUOTE})?\s*[:=]\s*"
_BLANKED = re.escape(BLANK)
_WORD = r"[^\s,;&\"'\\}\])]+"
_KEY = r"(?:api|access|private|signing|encryption|account|shared)[_-]?key"
_NAMES = (
    rf"[a-z0-9_-]{{0,40}}(?:{_KEY}|secret(?:[_-]?key)?|passw(?:or)?d|pwd|passphrase|token|credentials?|webhook[_-]?url)"
)
_QUOTED = r"\\{1,4}\"(?:(?!\\{1,4}\").)*\\{1,4}\"|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'"
_ASSIGNED = re.compile(rf"(?is)(\b{_NAMES}\b{_IS})(?:{_BLANKED}|{_QUOTED}|(?:{_QUOTE})?{_WORD})")
_COOKIE = re.compile(rf"(?i)(\b(?:set-)?cookie\b{_IS}(?:{_QUOTE})?)[^\r\n\"']+")
# Schemes that we know are kept; of others not even that is certain. Some go on to the end of the line.
_HEADER = re.compile(
    rf"(?i)(\b(?:proxy-)?authorization\b{_IS}(?:{_QUOTE})?(?:(?:bearer|basic)\s+)?)"
    rf"(?:{_BLANKED}|(?:digest|aws4-hmac-sha256|signature|hawk)\s[^\r\n]*|(?:[a-z][\w-]*\s+)?{_WORD})"
)
_PATTERNS = (
    (re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}"), rf"\1 {BLANK}"),
    (re.compile(r"\b(sk-ant-|sk-|ghp_|gho_|github_pat_|xox[abpr]-|glpat-|AIza)[A-Za-z0-9_-]{8,}"), BLANK),
    (re.compile(r"\bS[UAOCN][A-Z2-7]{54,}\b"), BLANK),
    (re.compile(r"\beyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]*"), BLANK),
    (re.compile(r"(?s)-----BEGIN [A-Z ]*(?:KEY|SEED|JWT)-----.*?(?:-----END [A-Z ]*-----|\Z)"), BLANK),
    (re.compile(r"\b([a-zA-Z][a-zA-Z0-9+.-]{0,20}://)[^\s/\"'<>]{1,500}@"), rf"\1{BLANK}@"),
    (SIGNED_URL, rf"\1{BLANK}"),
    (_HEADER, rf"\1{BLANK}"),
    (_COOKIE, rf"\1{BLANK}"),
    (_ASSIGNED, rf"\1{BLANK}"),
)
_MAY_HOLD = re.compile(r"(?i)[:=@]|sk-|bearer|basic|gh[po]_|github_pat|xox|glpat|aiza|eyj|-----|\bs[uaocn][a-z2-7]{54}")

_known: set[str] = set()


def learn(secrets: Iterable[str]) -> None:
    """Blank out these very values from now on, wherever they turn up."""
    for secret in secrets:
        if len(secret) >= SHORTEST:
            _known.update({secret, quote(secret, safe="")})


def forget() -> None:
    """Know no secrets any more."""
    _known.clear()


def redacted(text: str) -> str:
    """The text without what is a secret, or looks like one."""
    for secret in sorted(_known, key=len, reverse=True):
        if secret in text:
            text = text.replace(secret, BLANK)
    text = BARE_SECRET.sub(BLANK, text)
    if not _MAY_HOLD.search(text):
        return text
    for pattern, instead in _PATTERNS:
        text = pattern.sub(instead, text)
    return text


def is_secret(name: str) -> bool:
    """Whether a name says that its value is a secret."""
    return name.lower().endswith(SECRET_NAMES)
