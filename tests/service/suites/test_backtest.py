from tests.contract.insight.test_backtest import *  # noqa: F403 - the same suite
