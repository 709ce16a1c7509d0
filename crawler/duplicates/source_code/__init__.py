"""Tokenize source code so that copies are found even if names, comments and layout were changed."""
