from tests.contract.insight.test_run_events import *  # noqa: F403 - the same suite
