from tests.contract.quarantine.test_quarantine import *  # noqa: F403 - the same suite
