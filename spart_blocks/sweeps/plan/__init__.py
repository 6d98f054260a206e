"""Plans of sweeps: what varies, its draws, and its places among a program's parameters."""
