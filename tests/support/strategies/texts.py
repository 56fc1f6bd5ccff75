"""Texts that hurt: quotes, brackets and blanks where nobody expects them."""

from __future__ import annotations

from hypothesis import strategies as st

from lakeguard.registry.text.characters import forbidden_character
from lakeguard_sdk.security.secret_values import holds_secret, looks_secret

HOSTILE = "'\"`,;:#{}[]|>&*!%@\\- \t"
CHARACTERS = st.one_of(
    st.sampled_from(HOSTILE), st.characters(exclude_categories=["Cs", "Cc", "Co", "Cn"])
)


def harmless(text: str) -> bool:
    return not (forbidden_character(text) or looks_secret(text) or holds_secret(text))


TEXTS = (
    st.text(CHARACTERS, max_size=12)
    .map(str.strip)
    .filter(lambda text: harmless(text) and text.isprintable())
)
LONG_TEXTS = st.lists(TEXTS, max_size=3).map(lambda lines: "\n".join(lines).strip())
SOME_TEXTS = TEXTS.filter(bool)
