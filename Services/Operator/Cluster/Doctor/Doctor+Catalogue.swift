internal import Clocks
internal import CommandKit
internal import Foundation
internal import TextEncodings

extension Doctor {
    /// What may stay in the live catalogue, and somebody should change. A cluster that does not answer is told of elsewhere.
    func liveCatalogue(_ cluster: ClusterFile) async -> [Finding] {
        guard let mvpds = await entries("mvpds", cluster), let requestors = await entries("requestors", cluster) else { return [] }
        return Self.findings(mvpds: mvpds, requestors: requestors)
    }

    static func findings(mvpds: [[String: Any]], requestors: [[String: Any]]) -> [Finding] {
        let shared = mvpds.filter { ($0["oauth"] as? [String: Any])?["callback"] as? String == "shared" }.compactMap { $0["id"] as? String }
        let unconfirmed = requestors.filter { requestor in
            guard let upstream = requestor["upstream"] as? [String: Any], requestor["confirmsSignIn"] as? Bool == true else { return false }
            return (upstream["returnOrigin"] as? String ?? "").isEmpty
        }.compactMap { $0["id"] as? String }
        var findings: [Finding] = []
        if !shared.isEmpty {
            findings.append(
                .note(
                    .catalogue, "MVPDs share a callback: \(shared.joined(separator: ", ")); a hostile one may have people sign in for others",
                    advice: "register each one's own address, then oauth.callback 'own'; Shared/Documents/Operations/ConnectAnMvpd.md"))
        }
        let elsewhere = mvpds.filter { mvpd in
            guard let oauth = mvpd["oauth"] as? [String: Any], !(oauth["logoutUrl"] as? String ?? "").isEmpty else { return false }
            return oauth["logoutReturn"] as? String != "own"
        }.compactMap { $0["id"] as? String }
        if !elsewhere.isEmpty {
            findings.append(
                .note(
                    .catalogue,
                    "logouts at MVPDs send browsers straight to apps: \(elsewhere.joined(separator: ", ")); providers of OpenID that know no such address ask the person, or keep the session",
                    advice: "register our address after a logout there, then oauth.logoutReturn 'own'; Shared/Documents/Operations/ConnectAnMvpd.md"))
        }
        if !unconfirmed.isEmpty {
            findings.append(
                .note(
                    .catalogue, "sign-ins at upstreams are not confirmed, though confirmsSignIn is on: \(unconfirmed.joined(separator: ", "))",
                    advice: "give the requestor a returnOrigin; Shared/Documents/SECURITY.md"))
        }
        return findings
    }

    /// Software statements that ended lately because another programmer has their application's id (decision 0090).
    func endedStatements(_ cluster: ClusterFile) async -> [Finding] {
        let answer = try? await HTTPExchange.once(trusting: cluster.authority) {
            try await $0.send(
                "GET", "\(cluster.administration)/admin/v1/audit?size=200", headers: [("Authorization", "Bearer \(cluster.adminToken)")])
        }
        guard let answer, answer.status == 200 else { return [] }
        return Self.endedStatements(answer.object, now: now)
    }

    /// - Parameter page: As `GET /admin/v1/audit` answers it.
    static func endedStatements(_ page: [String: Any], now: Timestamp) -> [Finding] {
        let since = (now - .seconds(7 * 86_400)).milliseconds
        let texts = (page["records"] as? [[String: Any]] ?? []).filter { record in
            record["action"] as? String == "statements_revoked" && record["author"] as? String == "time"
                && (record["createdAt"] as? NSNumber).map { $0.int64Value >= since } == true
        }.compactMap { $0["text"] as? String }
        return texts.map {
            .note(
                .catalogue, $0,
                advice: "apps with these statements register no more: give their application another id, and its new statement")
        }
    }

    /// All entries of a section, as an administrator without a draft of his own sees them; `nil`: nobody can tell.
    private func entries(_ section: String, _ cluster: ClusterFile) async -> [[String: Any]]? {
        var found: [[String: Any]] = []
        for page in 1...50 {
            let address = "\(cluster.administration)/admin/v1/\(section)?size=200&page=\(page)"
            let answer = try? await HTTPExchange.once(trusting: cluster.authority) { exchange in
                try await exchange.send("GET", address, headers: [("Authorization", "Bearer \(cluster.adminToken)")])
            }
            guard let answer, answer.status == 200, let items = answer.object["items"] as? [[String: Any]] else { return nil }
            found += items.compactMap { $0["entity"] as? [String: Any] }
            if items.count < 200 { break }
        }
        return found
    }
}
