"""What a run says of itself: counts, summary, live view, Prometheus, text for people."""
