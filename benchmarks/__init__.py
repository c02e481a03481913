"""Speed and memory as ratios to peers or to a limit, measured side by side in one run."""
