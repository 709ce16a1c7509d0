"""A program is copied if it is the same under other names: what is left of source code when all that is easy is undone.

Names become one token, strings and numbers one each, comments and spacing nothing; keywords stay, and so do signs, one
by one, since white space must not tell where an operator ends. N-grams of these tokens are a program's fingerprints.
"""

from __future__ import annotations

from collections.abc import Iterator

from crawler.duplicates.source_code.syntax import Syntax, syntax_of

# Of a source; so many cost 0.1 s if they are a program, and at most half a second whatever they are.
MOST_CHARACTERS = 100_000  # what follows is not looked at
MOST_WORDS = 3_000  # different ones; those that are new after them are names. A program of that length has some 1,000
NAME, STRING, NUMBER = "name", '""', "0"  # no keyword and no sign is written like the latter two


def tokens_of(source: str, language: str = "", filename: str = "") -> list[str]:
    """The tokens of a source in a language that is named, or that its file's name tells, or else in any.

    >>> tokens_of("total = price * 3  # in all", "python") == tokens_of("x=y*17", filename="a.py")
    True
    >>> " ".join(tokens_of('while (left < 10) { print("x", left++); }', "c"))
    'while ( name < 0 ) { name ( "" , name + + ) ; }'
    """
    tokens: list[str] = []
    for token in _tokens(source[:MOST_CHARACTERS], syntax_of(language, filename)):
        if token != STRING or not tokens or tokens[-1] != STRING:  # strings in a row are one that was broken up
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
                    is_keyword = len(words) < MOST_WORDS and syntax.is_keyword(part[0])
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
