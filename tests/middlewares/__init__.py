"""Promises of middlewares."""
