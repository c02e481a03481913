"""What a command does, as functions of files and folders; flags and the terminal are in `cli`."""
