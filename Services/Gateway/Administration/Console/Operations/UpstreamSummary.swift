internal import Contracts
internal import GatewayEdge

/// How upstreams are, in a line each, for the pages that show what stands on them (bridge §14.1).
struct UpstreamSummary: Sendable {
    /// On one page.
    private static let most = 20

    let console: Console

    /// For the home of an operator: those that fail first, then those with the latest alarm. Nothing where there is none, or nobody can say.
    static func home(_ states: [UpstreamState]) -> [String: Any] {
        guard !states.isEmpty else { return [:] }
        func rank(_ state: UpstreamState) -> (Int, UInt64) { (state.openBreakers.isEmpty ? 0 : 1, state.alarms.first?.atMilliseconds ?? 0) }
        let shown = states.sorted { rank($0) > rank($1) }.prefix(most)
        var section: [String: Any] = ["upstreamRows": shown.map(row)]
        if states.count > shown.count { section["moreUpstreams"] = "\(states.count - shown.count)" }
        return ["upstreams": section]
    }

    /// For a page about what stands on one upstream.
    /// - Returns: `nil`: there is none, or nobody can say.
    func tag(_ upstream: String?, _ exchange: Exchange) async -> [String: Any]? {
        guard let upstream, !upstream.isEmpty, let state = await states(upstream, exchange)?.first(where: { $0.upstream == upstream }) else {
            return nil
        }
        return ["upstreamName": upstream, "upstreamFails": !state.openBreakers.isEmpty]
    }

    private func states(_ upstream: String, _ exchange: Exchange) async -> [UpstreamState]? {
        let request = ListUpstreamStatesRequest(upstream: upstream)
        return try? await console.dependencies.operations.listUpstreamStates(request, context: exchange.call).states
    }

    private static func row(_ state: UpstreamState) -> [String: Any] {
        var row: [String: Any] = [
            "upstreamName": state.upstream, "upstreamFails": !state.openBreakers.isEmpty, "upstreamRests": state.openBreakers.joined(separator: ", "),
            "upstreamLogouts": "\(state.openLogouts)",
        ]
        if let alarm = state.alarms.first { row["upstreamAlarm"] = UpstreamAlarmText(alarm: alarm).content }
        return row
    }
}
