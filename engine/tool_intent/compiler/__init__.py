"""From a flat policy to what judges calls: a typed IR, Python source, a cache; and the walker that
evaluates the same IR, to explain decisions and to check the compiler."""
