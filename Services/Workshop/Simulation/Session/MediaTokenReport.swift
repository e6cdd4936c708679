internal import Clocks
internal import Foundation
package import MediaTokenVerifier

/// The result of a check, for people and for programs.
package struct MediaTokenReport {
    package let verdict: MediaTokenVerdict
    let rows: [(name: String, value: String)]

    package init(_ check: MediaTokenCheck) {
        verdict = check.verdict
        rows = check.facts.map(Self.rows) ?? []
    }

    package func text(asJSON: Bool) throws -> String {
        guard asJSON else {
            let width = (rows.map(\.name.count).max() ?? 0) + 2
            return ([verdict.rawValue] + rows.map { "  \($0.name.padding(toLength: width, withPad: " ", startingAt: 0))\($0.value)" })
                .joined(separator: "\n")
        }
        let facts = Dictionary(uniqueKeysWithValues: rows.map { ($0.name, $0.value) })
        let content = try JSONSerialization.data(
            withJSONObject: facts.merging(["verdict": verdict.rawValue]) { first, _ in first }, options: [.sortedKeys, .prettyPrinted])
        return String(decoding: content, as: UTF8.self)
    }

    private static func rows(_ facts: MediaTokenFacts) -> [(name: String, value: String)] {
        var rows = [("requestor", facts.requestor), ("resource", facts.resource), ("mvpd", facts.mvpd)]
        if let proxy = facts.proxyMvpd, !proxy.isEmpty { rows.append(("proxyMvpd", proxy)) }
        return rows + [("user", facts.sessionGUID), ("issued", text(facts.issuedAt)), ("expires", text(facts.expiresAt))]
    }

    private static func text(_ moment: Timestamp) -> String {
        Date(timeIntervalSince1970: Double(moment.milliseconds) / 1000).formatted(.iso8601)
    }
}
