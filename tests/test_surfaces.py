"""Public names do not change by accident."""

from __future__ import annotations

from tests.surfaces import LIST, surfaces, text_of


def test_public_names_are_those_that_are_listed() -> None:
    found = surfaces()
    assert all(found.values())
    assert text_of(found) == LIST.read_text(encoding="utf-8"), "if intended, run: python -m tests.surfaces"
