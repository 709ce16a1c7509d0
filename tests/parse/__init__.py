"""Tests of crawler/parse."""
