"""Promises of monitor."""
