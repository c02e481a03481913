"""What an intruder could still find out: disclosure risk, measured."""
