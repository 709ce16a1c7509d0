"""What others rely on does not change by accident."""

from __future__ import annotations

from tests.surfaces import LIST, surfaces, text_of


def test_the_names_that_others_rely_on_are_those_that_are_listed() -> None:
    found = surfaces()
    assert all(found.values())
    assert text_of(found) == LIST.read_text(encoding="utf-8"), "meant? then: python -m tests.surfaces"
