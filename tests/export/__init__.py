"""Promises of export."""
