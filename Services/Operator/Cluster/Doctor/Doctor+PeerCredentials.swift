internal import Clocks
internal import CommandKit
internal import Cryptography
internal import Foundation

/// What the cluster itself knows of MVPDs and upstreams.
extension Doctor {
    /// An alarm that is older was looked at, or is history.
    private static let lately: Duration = .seconds(3600)
    /// Events that say that an upstream does not take what we show it, and what to do.
    private static let refusals = [
        "bridge.statement_refused":
            "get a new statement, keep it under a new name ('boxoffice secret set'), and name that as statementReference; 'boxoffice upstream check' tries it",
        "bridge.scope_missing": "the statement's application lacks the scope of clients[].scope: ask for one that has it",
        "bridge.access_refused": "the application does not cover the channel, the platform or the scope: ask the upstream's operator",
        "bridge.clients_lost": "the upstream has forgotten our clients: ask its operator whether the statement was replaced",
    ]

    /// Upstreams as the services find them.
    /// - Parameter items: Of `GET /admin/v1/upstreams`.
    static func conditions(_ items: [[String: Any]], now: Timestamp) -> [Finding] {
        items.flatMap { item -> [Finding] in
            guard let id = item["id"] as? String, let state = item["state"] as? [String: Any] else { return [] }
            var findings: [Finding] = []
            let open = state["openBreakers"] as? [String] ?? []
            if !open.isEmpty {
                findings.append(
                    .wrong(
                        .peers, "calls to the upstream \(id) fail, so that those of \(open.joined(separator: ", ")) rest",
                        advice: "'boxoffice upstream check \(id)' tries each step; \(guide)"))
            }
            if let offset = (state["clockOffsetMs"] as? NSNumber).map({ Duration.milliseconds($0.int64Value) }), isOff(offset) {
                findings.append(
                    .wrong(
                        .peers, "the clock of the upstream \(id) is \(ahead(offset)) ours",
                        advice:
                            "compare both with a time server ('chronyc tracking' here), and tell its operator; its times are read by its clock meanwhile"
                    ))
            }
            for alarm in state["alarms"] as? [[String: Any]] ?? [] {
                guard let event = alarm["event"] as? String, let at = (alarm["at"] as? NSNumber).map({ Timestamp(milliseconds: $0.int64Value) }),
                    event != "bridge.clock_skew", at > now - lately
                else { continue }
                let details = (alarm["details"] as? String).map { ": \(TerminalText.printable($0))" } ?? ""
                let what = "upstream \(id): \(event) \(max(0, (now - at).components.seconds / 60)) min ago\(details)"
                findings.append(
                    refusals[event].map { Finding.wrong(.peers, what, advice: $0) }
                        ?? Finding.note(.peers, what, advice: "'boxoffice upstream status \(id)' has all of its alarms; \(guide)"))
            }
            return findings
        }
    }

    /// The names of the client certificates that servers are shown: those of decision points and of upstreams; `nil`: nobody can tell.
    struct Shown {
        let mvpds: Set<String>?
        let upstreams: Set<String>?
    }

    /// Secrets and certificates that entries name, and nobody has.
    /// - Parameters:
    ///   - secrets: The references that there are; `nil`: nobody can tell.
    static func credentials(mvpds: [[String: Any]], upstreams: [[String: Any]], secrets: Set<String>?, shown: Shown) -> [Finding] {
        var findings: [Finding] = []
        func need(_ reference: Any?, _ owner: String, _ member: String) {
            guard let secrets, let reference = reference as? String, !reference.isEmpty, !secrets.contains(reference) else { return }
            findings.append(
                .wrong(
                    .peers, "\(owner): there is no secret '\(reference)', which \(member) names",
                    advice:
                        "'boxoffice secret set \(reference) < FILE' writes it, or a file \(reference).secret in the folder of authentication.clientSecrets"
                ))
        }
        func show(_ name: Any?, _ known: Set<String>?, _ owner: String, _ member: String, _ service: ClusterService) {
            guard let known, let name = name as? String, !name.isEmpty, !known.contains(name) else { return }
            findings.append(
                .wrong(
                    .peers, "\(owner): \(service.rawValue) has no client certificate '\(name)', which \(member) names",
                    advice: "add it to clientCertificates in the settings of \(service.rawValue)"))
        }
        for mvpd in mvpds {
            let owner = "MVPD \(mvpd["id"] as? String ?? "")"
            need((mvpd["oauth"] as? [String: Any])?["clientSecretReference"], owner, "oauth.clientSecretReference")
            need((mvpd["testSignIn"] as? [String: Any])?["passwordReference"], owner, "testSignIn.passwordReference")
            show(
                (mvpd["authorization"] as? [String: Any])?["clientCertificate"], shown.mvpds, owner, "authorization.clientCertificate", .authorization
            )
        }
        for upstream in upstreams {
            let owner = "upstream \(upstream["id"] as? String ?? "")"
            for client in upstream["clients"] as? [[String: Any]] ?? [] {
                need(client["statementReference"], owner, "statementReference of the client '\(client["id"] as? String ?? "")'")
            }
            show(upstream["clientCertificate"], shown.upstreams, owner, "clientCertificate", .authentication)
        }
        return findings
    }

    /// MVPDs whose answers are checked by certificates that have all ended: they count all the same (mvpd §1.2), and mostly the MVPD has others by now.
    static func signingCertificates(_ mvpds: [[String: Any]], now: Timestamp) -> [Finding] {
        mvpds.compactMap { mvpd in
            let texts = (mvpd["saml"] as? [String: Any])?["signingCertificates"] as? [String] ?? []
            let ends = texts.compactMap { try? Certificate(pem: $0).notAfter }
            guard let last = ends.max(), last < now else { return nil }
            return .note(
                .peers, "MVPD \(mvpd["id"] as? String ?? ""): the certificates of its signatures ended, the last at \(text(last))",
                advice: "they count all the same; ask it for its metadata, and import that (Shared/Documents/Operations/ConnectAnMvpd.md)")
        }
    }
}
