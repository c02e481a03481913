"""What perturbs: exact noise, and the sensitivities and shifts that it is scaled by."""
