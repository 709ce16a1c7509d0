"""What the user has set for a crawl: on the command line, and in the file crawl.toml of its directory.

A name that is misspelled would silently do nothing, so it is refused, with the name that was probably meant. In other
people's projects, whose extensions read settings of their own, it is only a warning.
"""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings, default_settings
from scrapy.utils.project import ENVVAR

import crawler.settings as ours
from crawler.errors import DiskTrouble, Misconfigured

CRAWL_FILE = "crawl.toml"
FILE_PRIORITY = 35  # above a project's settings and a spider's `custom_settings`, below -s
_NEAR = 0.75  # likeness of a name to the one that was probably meant
# Settings of Scrapy's own downloader, which is not used, with what to set instead.
_NOT_USED = {
    "CLOSESPIDER_PAGECOUNT": "CRAWL_MAX_PAGES",
    "CLOSESPIDER_TIMEOUT": "CRAWL_MAX_SECONDS",
    "CONCURRENT_REQUESTS_PER_DOMAIN": "POLITENESS_MIN_DELAY",
    "DEPTH_LIMIT": "CRAWL_MAX_DEPTH",
    "DOWNLOAD_DELAY": "POLITENESS_MIN_DELAY",
    "DOWNLOAD_MAXSIZE": "FETCH_MAX_BODY",
    "DOWNLOAD_TIMEOUT": "FETCH_TIMEOUT",
    "JOBDIR": "CRAWL_DIR",
    "RETRY_TIMES": "RETRY_DELAY",
    "URLLENGTH_LIMIT": "URL_MAX_LENGTH",
    "USER_AGENT": "CONTACT",
}
_PROXY_VARIABLES = ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
# They are used before the file can be read, or say where it is.
_NOT_IN_FILE = ("ADDONS", "ASYNCIO_EVENT_LOOP", "COMMANDS_MODULE", "CRAWL_DIR", "SPIDER_MODULES", "TWISTED_REACTOR")


def apply_given(settings: BaseSettings) -> None:
    """Check the names that were given with -s, and set what the crawl's file has; raises `Misconfigured`."""
    check_names([name for name in settings if settings.getpriority(name) == SETTINGS_PRIORITIES["cmdline"]], "-s")
    apply_crawl_file(settings)


def apply_crawl_file(settings: BaseSettings) -> None:
    """Set what the file of the crawl has, above all other settings but -s."""
    for name, value in read_crawl_file(crawl_file(settings)).items():
        settings.set(name, value, priority=FILE_PRIORITY)


def crawl_file(settings: BaseSettings) -> Path:
    return Path(str(settings.get("CRAWL_DIR") or ours.CRAWL_DIR)) / CRAWL_FILE


def read_crawl_file(path: Path) -> Mapping[str, Any]:
    """Return the settings of a crawl's file, none if there is none; raises `Misconfigured` if they cannot be used."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise DiskTrouble(f"{path}: cannot be read ({error.strerror}); check its permissions.") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise Misconfigured(
            f'{path}: not a TOML file ({error}). Nothing was done; write lines such as SCOPE = "hosts".'
        ) from error
    check_names(values, str(path))
    for name, value in values.items():
        if name in _NOT_IN_FILE:
            raise Misconfigured(
                f"{path}: {name} cannot be set here, where it comes too late; use -s or the project's settings."
            )
        if isinstance(value, Mapping):
            raise Misconfigured(f'{path}: [{name}] is a table; write settings as lines such as SCOPE = "hosts".')
    return values


def check_names(names: Iterable[str], where: str) -> None:
    """Refuse names that look like those of settings and are none; warn of others that are not known."""
    for name in names:
        if name in _NOT_USED:
            _warn(f"{where} {name}: not used here; {_NOT_USED[name]} does that.")
        if name in known_names():
            continue
        meant = nearest_name(name)
        if meant is not None and not _is_project_of_others():
            raise Misconfigured(f"{where} {name}: there is no such setting. Did you mean {meant}? Nothing was done.")
        guess = f"did you mean {meant}?" if meant else "it does something only if an extension reads it."
        _warn(f"{where} {name}: no setting of Orbweaver or Scrapy; {guess}")


def nearest_name(name: str) -> str | None:
    """Return the setting that was probably meant by a name that is none; None if it is like no other.

    >>> nearest_name("CRAWLDIR"), nearest_name("URL_EXCLUDES"), nearest_name("MONGO_URI")
    ('CRAWL_DIR', 'URL_EXCLUDE', None)
    """
    upper = name.upper()
    group = upper.partition("_")[0] + "_"
    of_group = [known for known in vars(ours) if known.startswith(group) and not hasattr(default_settings, known)]
    if upper.startswith(group) and of_group:  # surely meant for us
        return get_close_matches(upper, of_group, n=1, cutoff=0.0)[0]
    return next(iter(get_close_matches(upper, known_names(), n=1, cutoff=_NEAR)), None)


@cache
def known_names() -> frozenset[str]:
    """Return the names of all settings of ours, of Scrapy's and of the project's settings module."""
    modules = [ours, default_settings]
    if module := os.environ.get(ENVVAR):
        modules.append(import_module(module))
    return frozenset(name for module in modules for name in dir(module) if name.isupper())


def warn_of_ignored_proxies(settings: BaseSettings) -> None:
    """Say that proxies of the environment are not used: other programs do, so their users expect it."""
    names = [name for name in _PROXY_VARIABLES if os.environ.get(name)]
    if names and not settings.get("PROXY_URL"):
        _warn(f"{', '.join(names)} of the environment: not used; PROXY_URL sets a proxy for the crawl.")


def _is_project_of_others() -> bool:
    return os.environ.get(ENVVAR) != ours.__name__


def _warn(text: str) -> None:
    """Print a warning: commands that log nothing have one, too."""
    print(f"orbweaver: warning: {text}", file=sys.stderr)
