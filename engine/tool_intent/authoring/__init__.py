"""What writers of rules work with: examples run, decisions explained, costs, functions listed."""
