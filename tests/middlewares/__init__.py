"""Tests of the downloader middlewares."""
