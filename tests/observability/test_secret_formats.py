"""Secrets without a name beside them: the formats of providers are blanked out, and ordinary log lines stay."""

import random
import string

import pytest

from observability.redaction import BLANK, redacted
from observability.secret_formats import FORMATS

WORD = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits


def chars(alphabet: str, length: int) -> str:
    """Characters of a made-up secret: the same in every run, and never written out in this file."""
    return "".join(random.Random(f"{alphabet}{length}").choices(alphabet, k=length))


RUN, DIGEST = chars(HEX, 32), chars(HEX, 64)
UUID = f"{RUN[:8]}-{RUN[8:12]}-{RUN[12:16]}-{RUN[16:20]}-{RUN[20:]}"

SECRETS = {
    "AWS access key": "AKIA" + chars(UPPER, 16),
    "AWS temporary key": "ASIA" + chars(UPPER, 16),
    "Airtable": "pat" + chars(WORD, 14) + "." + chars(HEX, 64),
    "Alibaba": "LTAI" + chars(WORD, 20),
    "Anthropic": "sk-ant-api03-" + chars(WORD, 80),
    "Atlassian": "ATATT3xFf" + chars(WORD, 80),
    "Brevo": "xkeysib-" + chars(HEX, 64) + "-" + chars(WORD, 16),
    "Databricks": "dapi" + chars(HEX, 32),
    "DigitalOcean": "dop_v1_" + chars(HEX, 64),
    "Discord bot": "M" + chars(WORD, 23) + "." + chars(WORD, 6) + "." + chars(WORD, 27),
    "Discord webhook": "https://discord.com/api/webhooks/123456789012345678/" + chars(WORD, 68),
    "Docker": "dckr_pat_" + chars(WORD, 27),
    "Doppler": "dp.pt." + chars(WORD, 43),
    "Figma": "figd_" + chars(WORD, 40),
    "GitHub app": "ghs_" + chars(WORD, 36),
    "GitHub classic": "ghp_" + chars(WORD, 36),
    "GitHub fine-grained": "github_pat_" + chars(WORD, 22) + "_" + chars(WORD, 59),
    "GitHub oauth": "gho_" + chars(WORD, 36),
    "GitHub refresh": "ghr_" + chars(WORD, 36),
    "GitHub user": "ghu_" + chars(WORD, 36),
    "GitLab": "glpat-" + chars(WORD, 20),
    "GitLab runner": "glrt-" + chars(WORD, 20),
    "Google access": "ya29." + chars(WORD, 60),
    "Google API": "AIza" + chars(WORD, 35),
    "Google client": "GOCSPX-" + chars(WORD, 28),
    "Google refresh": "1//0" + chars(WORD, 60),
    "Grafana": "glsa_" + chars(WORD, 32) + "_" + chars(HEX, 8),
    "Groq": "gsk_" + chars(WORD, 52),
    "Hugging Face": "hf_" + chars(string.ascii_letters, 34),
    "LangSmith": "lsv2_pt_" + chars(HEX, 32) + "_" + chars(HEX, 10),
    "Linear": "lin_api_" + chars(WORD, 40),
    "Mailchimp": chars(HEX, 32) + "-us12",
    "Mailgun": "key-" + chars(HEX, 32),
    "NVIDIA": "nvapi-" + chars(WORD, 64),
    "Netlify": "nfp_" + chars(WORD, 40),
    "New Relic": "NRAK-" + chars(UPPER, 27),
    "Notion": "ntn_" + chars(WORD, 46),
    "OpenAI": "sk-" + chars(WORD, 48),
    "OpenAI project": "sk-proj-" + chars(WORD, 80),
    "Perplexity": "pplx-" + chars(WORD, 48),
    "Pinecone": "pcsk_" + chars(WORD, 60),
    "PlanetScale": "pscale_tkn_" + chars(WORD, 43),
    "Postman": "PMAK-" + chars(HEX, 24) + "-" + chars(HEX, 34),
    "Pulumi": "pul-" + chars(HEX, 40),
    "PyPI": "pypi-AgEIcHlwaS5vcmc" + chars(WORD, 120),
    "Replicate": "r8_" + chars(WORD, 37),
    "RubyGems": "rubygems_" + chars(HEX, 48),
    "SendGrid": "SG." + chars(WORD, 22) + "." + chars(WORD, 43),
    "Sentry": "sntrys_" + chars(WORD, 80),
    "Shopify": "shpat_" + chars(HEX, 32),
    "Slack app": "xapp-1-A012345-678-" + chars(HEX, 64),
    "Slack bot": "xoxb-123456789012-" + chars(WORD, 24),
    "Slack webhook": "https://hooks.slack.com/services/T0123/B4567/" + chars(WORD, 24),
    "Square": "sq0atp-" + chars(WORD, 22),
    "Stripe live": "sk_live_" + chars(WORD, 24),
    "Stripe restricted": "rk_live_" + chars(WORD, 24),
    "Stripe webhook": "whsec_" + chars(WORD, 32),
    "Supabase": "sbp_" + chars(HEX, 40),
    "Tailscale": "tskey-auth-" + chars(WORD, 17) + "-" + chars(WORD, 32),
    "Tavily": "tvly-" + chars(WORD, 32),
    "Teams webhook": "https://acme.webhook.office.com/webhookb2/"
    + chars(HEX, 36)
    + "/IncomingWebhook/"
    + chars(HEX, 32),
    "Telegram": "1234567890:AA" + chars(WORD, 33),
    "Terraform": chars(WORD, 14) + ".atlasv1." + chars(WORD, 60),
    "Twilio": "SK" + chars(HEX, 32),
    "Vault": "hvs." + chars(WORD, 90),
    "Vercel": "vcp_" + chars(WORD, 40),
    "Zapier webhook": "https://hooks.zapier.com/hooks/catch/1234567/" + chars(WORD, 8),
    "age": "AGE-SECRET-KEY-1" + chars(UPPER, 58),
    "crates.io": "cio" + chars(WORD, 32),
    "npm": "npm_" + chars(WORD, 36),
    "xAI": "xai-" + chars(WORD, 80),
    "Azure signed address": "https://acme.blob.core.windows.net/box/file.csv?sv=2026&sig=" + chars(WORD, 43) + "%3D",
    "AWS signed address": "https://acme.s3.amazonaws.com/file.csv?X-Amz-Signature=" + chars(HEX, 64),
}

ORDINARY = [
    f"run {RUN} of team research finished in 3.2 s",
    f"key {RUN} was used by call {UUID}",
    f"HANDOFF_RUNS handoff.run.research.{RUN}.task.t-1",
    f"sha256:{DIGEST}",
    f"--hash=sha256:{DIGEST}",
    f"artifact {DIGEST} (1,234 bytes) of {UUID}",
    f"traceparent 00-{RUN}-{DIGEST[:16]}-01",
    f"commit {DIGEST[:40]} is the base of the branch",
    "the token count is 1234",
    "model pplx-embed-context-v1-4b answered",
    "tokens 1234, budget 20000, key figures for 2025",
    "npm_config_registry and npm_lifecycle_script_of_the_package are not set",
    "hf_hub_download_of_a_whole_repository failed after 3 attempts",
    "task-summarise-the-customer-feedback-of-2025 waits for research-of-the-third-quarter",
    "secret_name_of_the_configuration_file is missing",
    "a patient pattern of patched paths: patterns.py:123",
    "https://docs.example.com/api/webhooks/how-to-make-one-of-your-own",
    "see https://discord.com/developers/docs and https://hooks.slack.com/",
    "worker-7f9c6d5b4-x2x7k on host-1-4711-0a1b2c3d is alive",
    "1763591695:handoff.worker_started:research-analyst-of-the-north",
    "SKILLS, ASIA-PACIFIC and AKIACHAK are words",
    "actors.toolservers.keeper.Keeper.keep was cancelled",
    "dapper, dp.pt, glossary-of-the-business-terms-we-use, pulse-of-the-market-in-numbers",
    "/home/someone/.local/share/handoff/jetstream/$G/streams/HANDOFF_RUNS/msgs/1.blk",
    "2026-11-19T10:00:00.123456Z [info] handoff.sent attempt=2 kind=task of=research",
]


@pytest.mark.parametrize("kind", SECRETS)
@pytest.mark.parametrize("line", ["{}", "got {} from the tool", '{{"text": "{}"}}', "KEY_{}.", "(see {})\n"])
def test_a_bare_secret_is_blanked_out(kind: str, line: str) -> None:
    secret = SECRETS[kind]
    assert secret[-16:] not in redacted(line.format(secret))


@pytest.mark.parametrize("line", ORDINARY)
def test_an_ordinary_line_stays_as_it_is(line: str) -> None:
    assert redacted(line) == line


def test_the_words_around_a_secret_stay() -> None:
    assert redacted(f"got {SECRETS['npm']} from it") == f"got {BLANK} from it"


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "part", ["SG.", "hf_", "pat", "0", "M.", "webhook.office.com/webhookb2/", "1:AA", "key-", "?sig="]
)
def test_a_long_text_of_beginnings_takes_little_time(part: str) -> None:
    redacted(part * (100_000 // len(part)))


def test_formats_are_in_order() -> None:
    assert sorted(FORMATS) == list(FORMATS)
