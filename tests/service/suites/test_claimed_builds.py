from tests.contract.promotion.test_claimed_builds import *  # noqa: F403 - the same suite
