"""Colours of the charts that commands draw with matplotlib, and how they are saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from crawler.errors import DiskTrouble
from crawler.files import write_atomically

CHART_TYPES: Final = (".png", ".svg", ".pdf")
INK, SOFT, LIMIT = "#1b4965", "#8ab6d6", "#c8553d"


def save_chart(figure: Any, path: Path) -> None:
    """Write a matplotlib figure in the format that the file's ending names."""
    try:
        with write_atomically(path, is_durable=False) as file:
            figure.savefig(file, format=path.suffix.removeprefix(".") or "png", dpi=120)
    except OSError as error:
        raise DiskTrouble(f"{path}: cannot be written ({error.strerror}).") from error
