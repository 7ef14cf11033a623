"""The rule language: grammar, checking, functions. Policy files share its diagnostics."""
