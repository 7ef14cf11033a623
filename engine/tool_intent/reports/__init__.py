"""What a ledger says, for people: the page, the comment for a pull request."""
