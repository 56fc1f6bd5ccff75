"""``/metrics`` in the format of Prometheus: requests of this process, and figures of the State.

Names end with the unit, counters with ``_total``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from http import HTTPStatus

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from lakeguard.services.service_figures import ServiceFigures

DECISION = "runs.submit_evidence"
"""The operation that is answered with a decision."""
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class ServiceMetrics:
    """Of one application."""

    def __init__(self, figures: Callable[[], ServiceFigures] | None) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "lakeguard_requests", "Requests.", ["operation", "status"], registry=self.registry
        )
        self._seconds = Histogram(
            "lakeguard_request_seconds",
            "Time to answer a request.",
            ["operation"],
            registry=self.registry,
        )
        self._decisions = Histogram(
            "lakeguard_decision_seconds",
            "Time from evidence to its decision.",
            registry=self.registry,
        )
        if figures is not None:
            self.registry.register(_StateFigures(figures))

    def ended(self, operation: str, status: int, seconds: float) -> None:
        name = operation or "other"
        self._requests.labels(name, str(status)).inc()
        self._seconds.labels(name).observe(seconds)
        if name == DECISION and status == HTTPStatus.OK:
            self._decisions.observe(seconds)

    def text(self) -> bytes:
        return generate_latest(self.registry)


class _StateFigures(Collector):
    def __init__(self, figures: Callable[[], ServiceFigures]) -> None:
        self._figures = figures

    def describe(self) -> list[Metric]:
        """Nothing is read when it is registered."""
        return []

    def collect(self) -> Iterator[Metric]:
        found = self._figures()
        runs = CounterMetricFamily("lakeguard_runs", "Runs that ended.", labels=["status"])
        for status, count in found.runs.items():
            runs.add_metric([status], count)
        yield runs
        yield CounterMetricFamily(
            "lakeguard_lost_leases",
            "Runs that lost their lease before they ended.",
            found.lost_leases,
        )
        yield GaugeMetricFamily(
            "lakeguard_expired_leases",
            "Running tasks with an expired lease.",
            found.expired_leases,
        )
        yield _gauges("lakeguard_tasks", "Unfinished tasks.", "state", found.tasks)
        yield GaugeMetricFamily(
            "lakeguard_queue_age_seconds", "Age of the oldest queued task.", found.queue_age
        )
        yield GaugeMetricFamily(
            "lakeguard_outbox_rows", "Rows not yet in the ledger.", found.outbox_rows
        )
        yield GaugeMetricFamily(
            "lakeguard_outbox_age_seconds", "Age of the oldest of them.", found.outbox_age
        )
        yield _gauges("lakeguard_quarantined_rows", "Rows waiting.", "dataset", found.quarantined)
        yield _gauges(
            "lakeguard_published_age_seconds",
            "Age of the published version.",
            "dataset",
            found.published_age,
        )


def _gauges(
    name: str, text: str, label: str, values: dict[str, int] | dict[str, float]
) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, text, labels=[label])
    for key, value in values.items():
        family.add_metric([key], value)
    return family
