extension LoadReport {
    /// The step that the headline of a ramp is about. It is the last one before the first that was not served well; where the first was bad, that
    /// one. Steps of different loads make no one figure. `nil`: there are no steps.
    var headlineStep: StepResult? { steps.prefix { $0.failure == nil }.last ?? steps.first }

    /// The totals that the headline is about.
    var headline: RunTotals { headlineStep?.totals ?? totals }

    /// `200 iterations/s`.
    func name(of step: StepResult, _ number: (Double) -> String) -> String {
        "\(number(step.level)) \(settings.loop == .open ? "iterations/s" : "users")"
    }
}
