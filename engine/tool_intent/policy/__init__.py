"""Policy files: reading them with positions, checking them, flattening them."""
