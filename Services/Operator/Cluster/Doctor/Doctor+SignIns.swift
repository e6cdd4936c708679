internal import CommandKit
internal import Foundation

extension Doctor {
    /// Whether sign-ins begin at the host where their answers come, as the settings of all programs have it: a cookie belongs to one host. Each program can judge its own
    /// settings alone.
    func signIns() -> [Finding] {
        guard isMade, let gateway = ownSettings(.gateway), let home = gateway["publicOrigin"] as? String else { return [] }
        let origin = gateway["signInOrigin"] as? String ?? home
        let places: [(service: ClusterService, key: String)] = [
            (.authentication, "acsURL"), (.authentication, "oauthCallbackURL"), (.autosignin, "callbackURL"),
        ]
        var findings = places.compactMap { service, key -> Finding? in
            guard let address = ownSettings(service)?[key] as? String, Self.host(address) != Self.host(origin) else { return nil }
            return .wrong(
                .settings, "\(service.rawValue).\(key) brings people back to \(address), and sign-ins begin at \(origin): their cookies stay there",
                advice: "set gateway.signInOrigin to the origin of \(key), or \(key) to an address at \(origin), if MVPDs and Apple have it so")
        }
        // Where the gateway's own pages end a sign-in.
        let names = gateway["hosts"] as? [[String: Any]] ?? []
        let entry = names.first { ($0["name"] as? String)?.lowercased() == Self.host(origin) }
        let end = entry.map { $0["origin"] as? String ?? "https://\(Self.host(origin))" } ?? home
        if let allowed = ownSettings(.authentication)?["activationOrigins"] as? [String],
            !allowed.contains(where: { $0.lowercased() == end.lowercased() })
        {
            findings.append(
                .wrong(
                    .settings, "authentication.activationOrigins lacks \(end), where sign-ins of the gateway's own pages end",
                    advice: "add it; Services/Authentication/README.md has the settings"))
        }
        return findings
    }

    /// The object of the service itself; `nil`: they are not here, or cannot be read, which others tell.
    private func ownSettings(_ service: ClusterService) -> [String: Any]? {
        guard services.contains(service), let content = FileManager.default.contents(atPath: home.settings(of: service).path),
            let settings = try? JSONSerialization.jsonObject(with: content) as? [String: Any]
        else { return nil }
        return settings[service.rawValue] as? [String: Any]
    }

    private static func host(_ address: String) -> String { URL(string: address)?.host?.lowercased() ?? "" }
}
