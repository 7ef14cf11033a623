"""Who wrote each line of a text: algorithms over texts, that know no files and no records."""
