"""Promises of parse."""
