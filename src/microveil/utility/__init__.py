"""What the protected data are still good for: information loss and moments."""
