"""Tests of crawler/parse/encodings."""
