"""What writers of rules work with: examples run, decisions explained, costs, the functions' page."""
