"""What sites tell a crawler, and whether it listens: judged by the log of the server alone."""
