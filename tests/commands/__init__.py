"""Promises of commands."""
