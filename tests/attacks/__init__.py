"""The attack suite: each attack named for what it tries, run in one jail for each policy, account and bwrap."""
