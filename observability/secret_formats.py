"""Formats of secrets that can be recognised without a name beside them.

Each provider marks its keys with a prefix of its own. A format is as strict as the provider's: prefixes that are also
beginnings of ordinary words ask for a tail without `_` or `-`, so `npm_config_registry` or `hf_hub_download` pass.
"""

import re

_ANY = r"[A-Za-z0-9_-]{16,}"
_SOLID = r"[A-Za-z0-9]{20,}"
_PATH = r"[^\s\"'<>]{8,}"

FORMATS = {
    "AWS": r"A(?:KIA|SIA|BIA|CCA)[0-9A-Z]{16}\b",
    "Airtable": r"pat[A-Za-z0-9]{14}\.[0-9a-f]{40,}",
    "Alibaba": r"LTAI[A-Za-z0-9]{16,26}\b",
    "Atlassian": r"AT(?:ATT3|CTT3|BB)[A-Za-z0-9_=-]{20,}",
    "Brevo, PlanetScale, Doppler": r"(?:xkeysib-|pscale_(?:tkn|pw|oauth)_|dp\.(?:pt|st|ct|sa|scim|audit)\.)" + _ANY,
    "Databricks": r"dapi[0-9a-f]{32}",
    "DigitalOcean": r"do[opr]_v1_[0-9a-f]{32,}",
    "Discord bot": r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}",
    "Discord webhook": r"discord(?:app)?\.com/api/(?:v[0-9]{1,2}/)?webhooks/" + _PATH,
    "Docker": r"dckr_(?:pat|oat)_" + _ANY,
    "Figma, Postman, New Relic": r"(?:figd_|PMAK-|NRAK-)" + _ANY,
    "GitHub": r"(?:gh[pousr]|github_pat)_" + _ANY,
    "GitLab": r"gl(?:pat|dt|rt|ptt|cbt|soat|ft|imt|agent)-" + _ANY,
    "Google": r"(?:AIza|ya29\.|GOCSPX-|1//0)" + _ANY,
    "Grafana": r"gl(?:sa|c)_[A-Za-z0-9_+/=]{20,}",
    "Groq": r"gsk_" + _SOLID,
    "HashiCorp Vault": r"hv[sbr]\.[A-Za-z0-9_-]{20,}",
    "Hugging Face": r"(?:hf|api_org)_" + _SOLID,
    "LangSmith": r"lsv2_(?:pt|sk)_[0-9a-f_]{32,}",
    "Linear, Notion": r"(?:lin_(?:api|oauth)_|ntn_|secret_)[A-Za-z0-9]{30,}",
    "Mailchimp": r"[0-9a-f]{32}-us[0-9]{1,2}\b",
    "Mailgun": r"key-[0-9a-f]{32}\b",
    "NVIDIA, Pinecone, Tavily": r"(?:nvapi-|pcsk_|tvly-)" + _ANY,
    "Netlify, Pulumi": r"(?:nfp_|pul-)[A-Za-z0-9]{36,}",
    "OpenAI and others": r"sk-(?:(?:proj|svcacct|admin|or|ant)-" + _ANY + r"|[A-Za-z0-9]{32,})",
    "Perplexity": r"pplx-" + _SOLID,
    "PyPI": r"pypi-[A-Za-z0-9_-]{32,}",
    "Replicate, Vercel": r"(?:r8|vc[piakr])_" + _SOLID,
    "RubyGems, crates.io": r"(?:rubygems_[0-9a-f]{32,}|cio[A-Za-z0-9]{32}\b)",
    "SendGrid": r"SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,}",
    "Sentry": r"sntry[su]_[A-Za-z0-9_+/=-]{20,}",
    "Shopify": r"shp(?:at|ss|ca|pa)_[0-9a-fA-F]{32}",
    "Slack": r"(?:xox[abeoprs]-|xapp-|xoxe\.xox[bp]-)" + _ANY,
    "Slack webhook": r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/" + _PATH,
    "Square": r"sq0[a-z]{3}-" + _ANY,
    "Stripe": r"(?:(?:sk|rk)_(?:live|test|prod)|whsec)_[A-Za-z0-9+/=]{16,}",
    "Supabase": r"(?:sbp_[0-9a-f]{32,}|sb_secret_" + _ANY + ")",
    "Tailscale": r"tskey-[a-z]+-" + _ANY,
    "Teams webhook": r"webhook\.office\.com/webhookb2/" + _PATH,
    "Telegram": r"[0-9]{8,10}:AA[A-Za-z0-9_-]{32,34}(?![A-Za-z0-9_-])",
    "Terraform Cloud": r"[A-Za-z0-9]{14}\.atlasv1\." + _ANY,
    "Twilio": r"SK[0-9a-f]{32}\b",
    "Zapier webhook": r"hooks\.zapier\.com/hooks/catch/" + _PATH,
    "age": r"AGE-SECRET-KEY-1[0-9A-Z]{30,}",
    "npm": r"npm_" + _SOLID,
    "xAI": r"xai-" + _SOLID,
}

# The shortest secret has 18 characters: the look ahead skips ordinary words, which makes the search twice as fast.
BARE_SECRET = re.compile(rf"(?<![A-Za-z0-9])(?=[^\s\"'<>]{{18}})(?:{'|'.join(FORMATS.values())})")

SIGNED_URL = re.compile(r"([?&;](?:sig|[Xx]-(?:[Aa]mz|[Gg]oog)-[Ss]ignature)=)[A-Za-z0-9%/+_=-]{16,}")
"""The signature in an address that grants access, as Azure, AWS and Google write it; group 1 stays."""
