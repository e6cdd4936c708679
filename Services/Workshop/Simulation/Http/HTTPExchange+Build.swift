package import CommandKit
package import LoadReporting

extension HTTPExchange {
    /// Asks a program how it was built.
    /// - Parameter metricsURL: Its Prometheus text; `nil` when the address is unknown.
    /// - Returns: `unknown` when it does not answer, or does not say.
    package func build(metricsURL: String?) async -> ServiceBuild {
        guard let metricsURL, let answer = try? await send("GET", metricsURL), answer.status == 200 else { return .unknown }
        return ServiceBuild(metrics: answer.text)
    }
}
