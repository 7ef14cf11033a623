def fee(cents: int) -> int:
    return cents // 100
