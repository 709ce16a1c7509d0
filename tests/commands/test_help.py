"""The help of each command can be read."""

from __future__ import annotations

import pytest
from scrapy.commands import ScrapyCommand

from tests.generated_docs import documented_commands, own_options


@pytest.mark.parametrize("command", documented_commands().values(), ids=documented_commands())
def test_no_line_of_an_options_help_is_taken_for_a_heading(command: ScrapyCommand) -> None:
    """Scrapy prints every line that ends with a colon as a heading; where lines end depends on the terminal."""
    assert [action.help for action in own_options(command) if ": " in (action.help or "")] == []
