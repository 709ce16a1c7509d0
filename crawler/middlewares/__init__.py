"""Downloader middlewares: they refuse or annotate a visit, and never download anything."""
