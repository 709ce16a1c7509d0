"""What the user has set for a crawl: on the command line, and in the file crawl.toml of its directory.

A name that is misspelled would silently do nothing, so it is refused, with the name that was probably meant. In other
people's projects, whose extensions read settings of their own, it is only a warning.
"""

from __future__ import annotations

import os
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from difflib import SequenceMatcher, get_close_matches
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings, default_settings
from scrapy.utils.misc import load_object
from scrapy.utils.project import ENVVAR

import crawler.settings as ours
from crawler.errors import DiskTrouble, Misconfigured

CRAWL_FILE = "crawl.toml"
FILE_PRIORITY = 35  # above a project's settings and a spider's `custom_settings`, below -s
_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
_CLASS = re.compile(r"scrapy(\.\w+)+")  # the path of one of Scrapy's
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
_ARGUMENTS = {"SEEDS": "-a seeds=FILE-or-URLs", "WORKERS": "--workers N", "PAGES": "-s CRAWL_MAX_PAGES=N"}
_PROXY_VARIABLES = ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
# They are used before the file can be read, or say where it is.
_NOT_IN_FILE = ("ADDONS", "ASYNCIO_EVENT_LOOP", "COMMANDS_MODULE", "CRAWL_DIR", "SPIDER_MODULES", "TWISTED_REACTOR")


def apply_given(settings: BaseSettings) -> None:
    """Check the names that were given with -s, and set what the crawl's file has; raises `Misconfigured`."""
    given = [name for name in settings if settings.getpriority(name) == SETTINGS_PRIORITIES["cmdline"]]
    check_names(given, "-s")
    apply_crawl_file(settings)
    check_values(settings)


def apply_crawl_file(settings: BaseSettings) -> None:
    """Set what the file of the crawl has, above all other settings but -s."""
    file = crawl_file(settings)
    for name, value in read_crawl_file(file).items():
        try:
            settings.set(name, value, priority=FILE_PRIORITY)
        except (TypeError, ValueError) as error:  # of settings that are dicts
            raise Misconfigured(f"{file}: {name} = {value!r} must be a JSON object. Nothing was done.") from error


def crawl_file(settings: BaseSettings) -> Path:
    return Path(str(settings.get("CRAWL_DIR") or ours.CRAWL_DIR)) / CRAWL_FILE


def read_crawl_file(path: Path) -> Mapping[str, Any]:
    """Return the settings of a crawl's file, none if there is none; raises `Misconfigured` if they cannot be used."""
    try:
        if path.exists() and not path.is_file():
            raise Misconfigured(f"{path}: not a file. Nothing was done.")
        values = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise DiskTrouble(f"{path}: cannot be read ({error.strerror}); check its permissions.") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise Misconfigured(
            f'{path}: not a TOML file ({error}). Nothing was done; write lines such as SCOPE = "hosts".'
        ) from error
    for name, value in values.items():
        if name in _NOT_IN_FILE:
            raise Misconfigured(
                f"{path}: {name} cannot be set here, where it comes too late; use -s or the project's settings."
            )
        if isinstance(value, Mapping):
            raise Misconfigured(f'{path}: [{name}] is a table; write settings as lines such as SCOPE = "hosts".')
    check_names(values, str(path))
    for name, value in values.items():
        check_type(name, value, str(path))
    return values


@contextmanager
def with_origin(settings: BaseSettings) -> Iterator[None]:
    """Name the file of the crawl in errors about settings that come from it."""
    try:
        yield
    except Misconfigured as error:
        name = str(error).partition("=")[0]
        if name.isupper() and settings.getpriority(name) == FILE_PRIORITY:
            raise Misconfigured(f"{crawl_file(settings)}: {error}") from error
        raise


def check_names(names: Iterable[str], where: str) -> None:
    """Refuse names that look like those of settings and are none; warn of others that are not known."""
    for name in names:
        if name in _NOT_USED:
            _warn(f"{where} {name}: not used here; {_NOT_USED[name]} does that.")
        if name in known_names():
            continue
        if name in _ARGUMENTS and not _is_project_of_others():
            raise Misconfigured(
                f"{where} {name}: there is no such setting; give it as {_ARGUMENTS[name]}. Nothing was done."
            )
        meant = nearest_name(name)
        if meant is not None and not _is_project_of_others():
            raise Misconfigured(f"{where} {name}: there is no such setting. Did you mean {meant}? Nothing was done.")
        guess = f"did you mean {meant}?" if meant else "it does something only if an extension reads it."
        _warn(f"{where} {name}: no setting of Orbweaver or Scrapy; {guess}")


def check_type(name: str, value: Any, where: str) -> None:
    """Refuse a value of another type than a setting of ours has; raises `Misconfigured`. Its text is read elsewhere."""
    default = getattr(ours, name, None)
    if isinstance(default, bool):
        expected = "true or false" if not isinstance(value, bool) else ""
    elif isinstance(default, int | float):
        expected = "a number" if isinstance(value, bool) or not isinstance(value, int | float | str) else ""
    elif isinstance(default, str | list | tuple):
        parts = value if isinstance(value, list) else [value]
        kinds = str if isinstance(default, str) else str | int
        expected = "a text in quotes, or a list of such" if not all(isinstance(part, kinds) for part in parts) else ""
    else:
        return
    if expected:
        raise Misconfigured(f"{where}: {name} = {value!r} must be {expected}. Nothing was done.")


def check_values(settings: BaseSettings) -> None:
    """Refuse values of Scrapy's settings by which it would fail with a traceback."""
    for name in settings:
        priority = settings.getpriority(name) or 0
        if priority < FILE_PRIORITY or not hasattr(default_settings, name):
            continue
        expected = _expected(settings, name)
        if expected:
            where = f"{crawl_file(settings)}: " if priority == FILE_PRIORITY else "-s "
            raise Misconfigured(f"{where}{name}={settings.get(name)!r}: must be {expected}. Nothing was done.")


def _expected(settings: BaseSettings, name: str) -> str:
    """Say what the value of one of Scrapy's settings must be, if it is not that."""
    value, default = settings.get(name), getattr(default_settings, name)
    if name == "LOG_LEVEL":
        return "" if value in _LEVELS else f"one of {', '.join(_LEVELS)}"
    if name == "SPIDER_MODULES":
        return next((problem for module in settings.getlist(name) if (problem := _import_problem(module))), "")
    if name == "LOG_FILE":
        if value and not (isinstance(value, str) and Path(value).absolute().parent.is_dir()):
            return "a file in a directory that there is"
        return ""
    try:
        if isinstance(default, bool):
            settings.getbool(name)
        elif isinstance(default, dict):
            settings.getdict(name)
        elif isinstance(default, int):
            settings.getint(name)
        elif isinstance(default, float):
            settings.getfloat(name)
        elif isinstance(default, list):
            return "" if isinstance(value, list | tuple | str) else "a list"
        elif isinstance(default, str) and _CLASS.fullmatch(default):
            load_object(value)
    except (ValueError, TypeError, NameError, ImportError, AttributeError):
        kinds = {bool: "True or False", dict: "a JSON object", int: "a whole number", float: "a number"}
        return next((text for kind, text in kinds.items() if isinstance(default, kind)), "the path of a class")
    return ""


def _import_problem(module: str) -> str:
    try:
        import_module(module)
    except Exception as error:
        return f"packages with spiders, and {module} cannot be imported ({type(error).__name__}: {error})"
    return ""


def nearest_name(name: str) -> str | None:
    """Return the setting that was probably meant by a name that is none; None if it is like no other.

    >>> nearest_name("CRAWLDIR"), nearest_name("URL_EXCLUDES"), nearest_name("MONGO_URI")
    ('CRAWL_DIR', 'URL_EXCLUDE', None)
    """
    upper = name.upper()
    first = upper.partition("_")[0]
    group = f"{first}_"
    of_group = [known for known in vars(ours) if known.startswith(group) and not hasattr(default_settings, known)]
    if upper.startswith(group) and of_group:  # surely meant for us
        return get_close_matches(upper, of_group, n=1, cutoff=0.0)[0]
    near = get_close_matches(upper, known_names(), n=5, cutoff=_NEAR)
    return next((known for known in near if _begin_alike(first, known) or known.endswith(f"_{upper}")), None)


def _begin_alike(word: str, name: str) -> bool:
    """Whether a name begins with about this word: names of extensions share their ends with ours, such as _ENABLED."""
    other = name.partition("_")[0]
    return word.startswith(other) or other.startswith(word) or SequenceMatcher(None, word, other).ratio() >= _NEAR


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


@cache
def _warn(text: str) -> None:
    """Print a warning, once: commands that log nothing have one, too."""
    print(f"orbweaver: warning: {text}", file=sys.stderr)
