from tests.contract.scheduler.test_cancel import *  # noqa: F403 - the same suite
