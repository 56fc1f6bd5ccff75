from tests.contract.scheduler.test_workers import *  # noqa: F403 - the same suite
