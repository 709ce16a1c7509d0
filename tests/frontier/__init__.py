"""Promises of frontier."""
