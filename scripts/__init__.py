"""What a contributor runs: test, bench, demo."""
