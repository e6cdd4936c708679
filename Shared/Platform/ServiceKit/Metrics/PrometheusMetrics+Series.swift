internal import Telemetry

extension PrometheusMetrics {
    /// All series, those of one metric together: what `text` prints, for those who take it in another form.
    func series() -> [MetricSeries] {
        all().map { name, instrument in
            MetricSeries(
                name.name, help: MetricHelp.text(name.name) ?? "", labels: name.dimensions.map { MetricSeries.Label($0.name, $0.value) },
                instrument.value)
        }
    }
}
