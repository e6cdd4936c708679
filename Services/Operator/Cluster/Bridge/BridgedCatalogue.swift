internal import Cryptography
internal import Foundation
internal import TextEncodings
internal import Tokens

/// The catalogues of two clusters of which one is to be the other's upstream (bridge §3.1).
struct BridgedCatalogue {
    /// The id that the other cluster gets in the catalogue.
    static let upstreamID = "upstream"

    /// An application of the upstream, by whose statement requestors are served.
    struct Client: Equatable {
        let application: String
        /// Its software statement.
        let statement: String
        let requestors: [String]

        /// The name under which the statement is a secret: another one for each software id, as secrets that are in use are not overwritten.
        var reference: String { "upstream-\(application)-\(Hex.encode(SHA256.hash(softwareID)).prefix(12))" }

        /// `software_id` of the statement; all of it where it has none.
        private var softwareID: String {
            guard let form = CompactForm(statement, largest: 65_536),
                let claims = try? JSONSerialization.jsonObject(with: Data(form.payload)) as? [String: Any], let id = claims["software_id"] as? String
            else { return statement }
            return id
        }
    }

    private let theirs: [String: Any]

    /// - Parameter theirs: The upstream's catalogue as JSON.
    init(of theirs: [String: Any]) { self.theirs = theirs }

    /// The catalogue of a cluster whose sign-ins and decisions come from the upstream: every integration that both have is bridged.
    /// - Parameters:
    ///   - ours: As it is.
    ///   - upstream: Origin of the upstream's public API.
    ///   - gateway: Origin of our own, where browsers come back to.
    ///   - clients: From `clients(for:)`.
    func bridging(_ ours: [String: Any], upstream: String, gateway: String, clients: [Client]) -> [String: Any] {
        var changed = ours
        let served = Set(clients.flatMap(\.requestors).map(OctetName.init))
        let record: [String: Any] = [
            "id": Self.upstreamID, "kind": "boxoffice", "baseUrl": upstream,
            "clients": clients.map {
                ["id": $0.application, "statementReference": $0.reference, "requestors": $0.requestors, "platforms": "all"] as [String: Any]
            },
        ]
        changed["upstreams"] = Self.entries(ours, "upstreams").filter { $0["id"] as? String != Self.upstreamID } + [record]
        changed["requestors"] = Self.entries(ours, "requestors").map { entry in
            guard served.contains(OctetName(entry["id"])) else { return entry }
            // Whoever verifies media tokens here knows both certificates: degradation may let people play by tokens of ours.
            let members: [String: Any] = ["upstream": Self.upstreamID, "returnOrigin": gateway, "localMediaTokens": true]
            return entry.merging(["upstream": members]) { $1 }
        }
        let there = Set(Self.entries(theirs, "integrations").filter { $0["enabled"] as? Bool != false }.map(Pair.init))
        changed["integrations"] = Self.entries(ours, "integrations").map { entry in
            guard served.contains(OctetName(entry["requestor"])), there.contains(Pair(entry)), entry["enabled"] as? Bool != false else {
                return entry
            }
            // What only a cluster can do that signs people in itself (bridge §3.3).
            let kept = entry.filter { !["autoSignIn", "platformSso", "oauthClient"].contains($0.key) }
            return kept.merging(["upstream": true]) { $1 }
        }
        return changed
    }

    /// The upstream's catalogue with this machine among the places where sign-ins at these requestors may end.
    func accepting(host: String, at clients: [Client]) -> [String: Any] {
        let served = Set(clients.flatMap(\.requestors).map(OctetName.init))
        var changed = theirs
        changed["requestors"] = Self.entries(theirs, "requestors").map { entry in
            guard served.contains(OctetName(entry["id"])), let domains = entry["domains"] as? [Any] else { return entry }
            let isThere = domains.contains { $0 as? String == host || ($0 as? [String: Any])?["name"] as? String == host }
            return isThere ? entry : entry.merging(["domains": domains + [["name": host, "development": true] as [String: Any]]]) { $1 }
        }
        return changed
    }

    /// The application that serves each requestor which both catalogues have: the first of the upstream's that may use REST v2 there and has a statement;
    /// rather one that is an app's.
    /// - Parameter statements: Of the upstream, by application.
    func clients(for ours: [String: Any], statements: [String: String]) -> [Client] {
        let requestors = Self.entries(ours, "requestors").compactMap { $0["id"] as? String }
        let usable = Self.entries(theirs, "applications").filter { application in
            (application["scopes"] as? [String] ?? []).contains("api:client:v2") && statements[application["id"] as? String ?? ""] != nil
        }
        let apps = usable.filter { ($0["scopes"] as? [String] ?? []).contains("api:client:v1") } + usable
        let chosen: [(String, String)] = requestors.compactMap { requestor in
            let fitting = apps.first { ($0["requestors"] as? [String] ?? []).contains(requestor) }
            return (fitting?["id"] as? String).map { ($0, requestor) }
        }
        var clients: [Client] = []
        for (application, _) in chosen where !clients.contains(where: { $0.application == application }) {
            clients.append(
                Client(
                    application: application, statement: statements[application] ?? "",
                    requestors: chosen.filter { $0.0 == application }.map(\.1)))
        }
        return clients
    }

    private static func entries(_ catalogue: [String: Any], _ section: String) -> [[String: Any]] { catalogue[section] as? [[String: Any]] ?? [] }

    /// An id by its octets.
    private struct OctetName: Hashable {
        private let octets: [UInt8]
        init(_ text: String) { octets = Array(text.utf8) }
        init(_ value: Any?) { self.init(value as? String ?? "") }
    }

    /// The ends of an integration.
    private struct Pair: Hashable {
        private let requestor: OctetName
        private let mvpd: OctetName
        init(_ entry: [String: Any]) { (requestor, mvpd) = (OctetName(entry["requestor"]), OctetName(entry["mvpd"])) }
    }
}
