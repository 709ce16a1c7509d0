"""Comparison of parsers and URL rules with the tests of standards and of other projects."""
