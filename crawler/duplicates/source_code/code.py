"""Normalize source code to tokens that stay the same when a copied program is renamed, reformatted or recommented.

All names become one token, and so do all strings and all numbers; comments and spacing are dropped. Keywords stay, and
so do operators and punctuation, one character each, since white space must not decide where an operator ends. N-grams
of these tokens are a program's fingerprints.
"""

from __future__ import annotations

from collections.abc import Iterator

from crawler.duplicates.source_code.syntax import Syntax, syntax_of

# Limits for one source: this many characters take 0.1 s if they are a program, and at most half a second otherwise.
MAX_CHARACTERS = 100_000  # what follows is not read
MAX_DISTINCT_WORDS = 3_000  # every new word after these counts as a name. A program of that length has some 1,000
NAME, STRING, NUMBER = "name", '""', "0"  # no keyword or operator is written like the latter two


def tokens_of(source: str, language: str = "", filename: str = "") -> list[str]:
    """The normalized tokens of a source; the language is the named one, or that of the file's name, or a generic one.

    >>> tokens_of("total = price * 3  # in all", "python") == tokens_of("x=y*17", filename="a.py")
    True
    >>> " ".join(tokens_of('while (left < 10) { print("x", left++); }', "c"))
    'while ( name < 0 ) { name ( "" , name + + ) ; }'
    """
    tokens: list[str] = []
    for token in _tokens(source[:MAX_CHARACTERS], syntax_of(language, filename)):
        if token != STRING or not tokens or tokens[-1] != STRING:  # adjacent strings are one that was split
            tokens.append(token)
    return tokens


def _tokens(source: str, syntax: Syntax) -> Iterator[str]:
    words: dict[str, str] = {}
    end = 0
    for part in syntax.parts.finditer(source):
        begins_line = end == 0 or "\n" in source[end : part.start()]
        end = part.end()
        match part.lastgroup:
            case "word":
                if part[0] not in words:
                    is_keyword = len(words) < MAX_DISTINCT_WORDS and syntax.is_keyword(part[0])
                    words[part[0]] = part[0].lower() if is_keyword else NAME
                yield words[part[0]]
            case "sign":
                yield part[0]
            case "number":
                yield NUMBER
            case "string":
                yield STRING
            case "long" if not (syntax.has_docs and begins_line):
                yield STRING
