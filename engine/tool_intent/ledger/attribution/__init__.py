"""Who wrote each line of a text: algorithms over texts and contents, without files or processes."""
