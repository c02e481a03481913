"""What a command does, as functions: a file in, two folders out; the demonstration."""
