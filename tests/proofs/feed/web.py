"""A generated web that changes between crawls in all the ways that an index must follow."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.crawl.pages import Answer

WORDS = [
    "water",
    "stone",
    "light",
    "river",
    "garden",
    "winter",
    "market",
    "bridge",
    "letter",
    "window",
    "summer",
    "forest",
    "island",
    "harbour",
    "engine",
    "paper",
    "copper",
    "silver",
    "morning",
    "evening",
    "thunder",
    "valley",
    "mountain",
    "captain",
    "baker",
    "teacher",
    "singer",
    "painter",
    "doctor",
    "village",
]
LOST = 404, 410, 500, 503


class ChangingWeb:
    """Hosts with pages; `pages` is what the server currently answers."""

    def __init__(self, *, hosts: int, pages: int, seed: int) -> None:
        self._random = random.Random(seed)
        self._hosts = [f"h{number}.test" for number in range(hosts)]
        self._count = 0
        self.pages: dict[str, dict[str, bytes | str | Answer]] = {host: {} for host in self._hosts}
        self._texts: dict[tuple[str, str], str] = {}
        for host in self._hosts:
            for _ in range(pages):
                self._add(host)
        self._link()

    def change(self, share: float = 0.3) -> None:
        """Change a share of the pages: new text, deletion, redirect, copy, noindex or error; and add new pages."""
        known = sorted(self._texts)
        for host, path in self._random.sample(known, int(share * len(known))):
            self._random.choice(self._acts())(host, path)
        for host in self._hosts:
            self._add(host)
        self._link()

    def _acts(self) -> list[Callable[[str, str], None]]:
        return [
            self._rewrite,
            self._rewrite,
            self._lose,
            self._move,
            self._copy,
            self._almost_copy,
            self._hide,
            self._show_again,
        ]

    def _add(self, host: str) -> None:
        self._count += 1
        self._rewrite(host, f"/page{self._count}")

    def _rewrite(self, host: str, path: str) -> None:
        words = self._random.choices(WORDS, k=self._random.randint(30, 200))
        self._show(host, path, f"{path} {' '.join(words)}")

    def _show(self, host: str, path: str, text: str) -> None:
        self._texts[host, path] = text
        title = " ".join(text.split()[:4])
        body = f"<html lang=en><title>{title}</title><article><h1>{title}</h1><p>{text}</article>"
        # Half of the pages have an ETag, so that unchanged ones are answered with 304.
        tag = {"ETag": f'"{hash(text)}"'} if self._random.random() < 0.5 else {}
        self.pages[host][path] = Answer(body, headers=tag)

    def _lose(self, host: str, path: str) -> None:
        self.pages[host][path] = Answer("<p>sorry", status=self._random.choice(LOST))

    def _move(self, host: str, path: str) -> None:
        self._count += 1
        self._show(host, f"/moved{self._count}", self._texts[host, path])
        status = self._random.choice((301, 302, 308))
        self.pages[host][path] = Answer(status=status, headers={"Location": f"/moved{self._count}"})

    def _copy(self, host: str, path: str) -> None:
        self._show(host, path, self._random.choice(sorted(self._texts.values())))

    def _almost_copy(self, host: str, path: str) -> None:
        words = self._random.choice(sorted(self._texts.values())).split()
        words[self._random.randrange(len(words))] = self._random.choice(WORDS)
        self._show(host, path, " ".join(words))

    def _hide(self, host: str, path: str) -> None:
        self.pages[host][path] = Answer(f"<meta name=robots content=noindex><p>{self._texts[host, path]}")

    def _show_again(self, host: str, path: str) -> None:
        self._show(host, path, self._texts[host, path])

    def _link(self) -> None:
        """Link the home page of each host to all its pages, and with new anchor texts to some pages of other hosts."""
        for host in self._hosts:
            own = "".join(f'<li><a href="{path}">{path}</a>' for path in sorted(self.pages[host]) if path != "/")
            others = self._random.sample(sorted(key for key in self._texts if key[0] != host), 5)
            elsewhere = "".join(
                f'<li><a href="http://{name}:PORT{path}">{self._random.choice(WORDS)} {self._random.choice(WORDS)}</a>'
                for name, path in others
            )
            self.pages[host]["/"] = f"<title>{host}</title><ul>{own}{elsewhere}</ul>"

    def on(self, port: object) -> None:
        """Put the server's port into the links to other hosts."""
        for host in self._hosts:
            home = self.pages[host]["/"]
            assert isinstance(home, str)
            self.pages[host]["/"] = home.replace(":PORT", f":{port}")
