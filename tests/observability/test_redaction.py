from collections.abc import Iterator
from urllib.parse import quote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from observability.redaction import BLANK, SHORTEST, forget, is_secret, learn, redacted

opaque = st.text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", min_size=16, max_size=60).filter(
    lambda text: text[0].isalnum() and text[-1].isalnum()
)
around = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=60)

SHAPES = [
    "api_key={}",
    "api-key: {}",
    "ANTHROPIC_API_KEY={}",
    "x-api-key: {}",
    '"api_key": "{}"',
    "{{'password': '{}'}}",
    "password={}",
    "NATS_PASSWORD = {}",
    "token={}",
    "access_token={}&next=1",
    "client_secret: {}",
    "Authorization: Bearer {}",
    "Authorization: Basic {}",
    "authorization={}",
    "Bearer {}",
    "nats://user:{}@host:4222",
    "nats://{}@host:4222",
    "https://me:{}@example.com/path?x=1",
    "sk-ant-api03-{}",
    "ghp_{}",
    "Cookie: session={}",
    "Cookie: a=b; session={}",
    '"password": "{}',
    '"password": "a\\"b {}"',
    '\\"password\\": \\"{}\\"',
    "Authorization: Token {}",
    'Authorization: Digest username="u", response="{}"',
    "aws_secret_access_key={}",
    "private_key: {}",
    "passphrase={}",
    "pwd={}",
    "webhook_url={}",
    "nats://user:p@{}@host:4222",
    "-----BEGIN USER NKEY SEED-----\n{}\n-----END USER NKEY SEED-----",
]


@pytest.fixture(autouse=True)
def nothing_known() -> Iterator[None]:
    forget()
    yield
    forget()


@pytest.mark.parametrize("shape", SHAPES)
@given(secret=opaque, before=around, after=around)
def test_what_looks_like_a_secret_is_blanked_out_wherever_it_stands(
    shape: str, secret: str, before: str, after: str
) -> None:
    assume(secret not in before + after + shape)
    assert secret not in redacted(f"{before} {shape.format(secret)} {after}")


@given(st.text(min_size=SHORTEST, max_size=60), around, around)
def test_a_secret_that_is_known_is_blanked_out_whatever_it_looks_like(secret: str, before: str, after: str) -> None:
    forget()
    learn([secret])
    text = redacted(before + secret + after)
    assert secret not in text or secret in BLANK
    assert quote(secret, safe="") not in redacted(f"{before} {quote(secret, safe='')}") or secret in BLANK


def test_of_two_secrets_the_longer_one_goes_whole() -> None:
    learn(["hunter22", "hunter22-and-more"])
    assert redacted("it is hunter22-and-more.") == f"it is {BLANK}."


@given(around)
def test_blanking_out_twice_changes_nothing_more(text: str) -> None:
    once = redacted(text)
    assert redacted(once) == once


ORDINARY = [
    "the task took 3.2 s and 1,234 tokens",
    "tokens: input 12, output 5",
    "max_tokens=4096 is not enough",
    "the key figure is 42",
    "no worker called analyst is known yet",
    "http://127.0.0.1:4318/v1/traces answered 503",
    "see nats://127.0.0.1:4222",
    "write to me@example.com",
    "TypeError: expected str, got int at line 12: x = y",
    "the tokenizer failed; the secretary was away",
    "ratio=0.5, a:b, c == d",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_words_stay_as_they_are(text: str) -> None:
    assert redacted(text) == text


def test_short_values_are_not_learnt_because_they_would_blank_out_words() -> None:
    learn(["a", "", "the"])
    assert redacted("the answer") == "the answer"


@pytest.mark.parametrize("name", ["api_key", "Authorization", "NATS_PASSWORD", "token", "client_secret", "webhook_url"])
def test_names_of_secrets_are_known(name: str) -> None:
    assert is_secret(name)


@pytest.mark.parametrize("name", ["tokens", "keys", "key_count", "passwords_changed", "monkeys"])
def test_names_that_only_sound_like_it_are_not(name: str) -> None:
    assert not is_secret(name)


HOSTILE = [
    *("a", "x:", "token-", "-", "a_", "http://", "a.b", "-----BEGIN KEY-----", "Bearer ", "password", "a://"),
    *('password="', 'password=\\"', "\\", "token='\\", "authorization: a ", "cookie=", "api-key", "http://@"),
]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("part", HOSTILE)
@pytest.mark.parametrize("end", ["", "=", ":", "://", "@"])
def test_a_long_text_takes_little_time(part: str, end: str) -> None:
    text = part * (100_000 // len(part)) + end
    assert len(redacted(text)) <= len(text) * (1 + len(BLANK))
