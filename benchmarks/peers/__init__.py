"""`dp-synthetic` beside MST and AIM of OpenDP, which need an environment of their own."""
