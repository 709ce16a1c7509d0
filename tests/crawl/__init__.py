"""Tests of whole crawls, run as a user runs them."""
