"""Downloads documentation packages and unpacks them beside the project; nothing is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.crawl.runner import ROOT
from tests.proofs.docs.site import Site

CACHE = ROOT / ".cache" / "docs"
_SYSTEM = Path("/")
_TIMEOUT = 120  # seconds for one step of apt or dpkg


class Unavailable(Exception):
    """The package cannot be obtained on this machine; the message gives the reason."""


def site_of(package: str) -> Site:
    """Return the html folder of a package as a site; from the system if it is installed there."""
    home = Path("usr/share/doc") / package / "html"
    tree = _SYSTEM if (_SYSTEM / home).is_dir() else _unpacked(package)
    if not (tree / home).is_dir():
        raise Unavailable(f"{package} has no folder /{home}, which this proof serves.")
    return Site(host=f"{package}.test", home=(tree / home).resolve(), tree=(tree / "usr/share").resolve())


def _unpacked(package: str) -> Path:
    """Return a tree with the package and its dependencies: symbolic links lead from one to the other."""
    tree = CACHE / package
    if tree.is_dir():
        return tree
    _need_debian()
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as name:
        work = Path(name)
        _download(package, work)
        for archive in work.glob("*.deb"):
            _run("dpkg-deb", "-x", archive.name, "tree", folder=work)
        _keep_links_inside(work / "tree")
        _move(work / "tree", tree)
    return tree


def _need_debian() -> None:
    for program in ("apt-get", "apt-cache", "dpkg-deb"):
        if shutil.which(program) is None:
            raise Unavailable(f"This is not a Debian machine: it has no {program} to get documentation packages with.")


def _download(package: str, work: Path) -> None:
    """Download with the machine's package lists or, if these are missing or stale, with new ones of our own."""
    try:
        _fetch(package, work, ())
    except Unavailable:
        own = _own_lists(work / "apt")
        _run("apt-get", *own, "update", folder=work)
        _fetch(package, work, own)


def _own_lists(folder: Path) -> Sequence[str]:
    """Return options that keep apt's lists in our own folder, so that it needs no root and changes nothing."""
    (folder / "lists" / "partial").mkdir(parents=True)
    (folder / "cache" / "archives" / "partial").mkdir(parents=True)
    return ("-o", f"Dir::State::Lists={folder / 'lists'}", "-o", f"Dir::Cache={folder / 'cache'}")


def _fetch(package: str, work: Path, options: Sequence[str]) -> None:
    needed = _run("apt-cache", *options, "depends", "--recurse", "--important", package, folder=work)
    # Dependents are indented, virtual packages stand in angle brackets.
    names = [line for line in needed.splitlines() if line and line[0] not in " <|"]
    _run("apt-get", *options, "download", *names, folder=work)


def _run(*words: str, folder: Path) -> str:
    what = f"The package cannot be obtained: `{words[0]} … {words[-1]}`"
    try:
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, timeout=_TIMEOUT)
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"{what} was not done after {_TIMEOUT} s.") from error
    if done.returncode:
        raise Unavailable(f"{what} failed: {(done.stderr.strip() or 'no reason given').splitlines()[-1]}")
    return done.stdout


def _keep_links_inside(tree: Path) -> None:
    """Make absolute symbolic links relative, so that they lead into the tree and not to this machine's files."""
    for path in tree.rglob("*"):
        if path.is_symlink() and path.readlink().is_absolute():
            target = tree / path.readlink().relative_to("/")
            path.unlink()
            path.symlink_to(os.path.relpath(target, path.parent))


def _move(made: Path, tree: Path) -> None:
    try:
        made.rename(tree)
    except OSError:
        if not tree.is_dir():  # else another process was quicker, and its tree is the same
            raise
