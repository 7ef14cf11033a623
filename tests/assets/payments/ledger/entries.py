def book(account: str, cents: int) -> tuple[str, int]:
    return account, cents
