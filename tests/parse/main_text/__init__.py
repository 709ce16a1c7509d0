"""Tests of crawler/parse/main_text."""
