package import CommandKit
internal import Cryptography
internal import Foundation
internal import TextEncodings
internal import Tokens

/// Makes a cluster of this machine the upstream of another one (`up --upstream`).
package struct UpstreamCluster: Sendable {
    /// Home of the cluster that is to be the upstream.
    let home: ClusterHome
    let file: ClusterFile

    /// - Parameter place: A home of a cluster, or its `cluster.json`.
    /// - Throws: `CommandFailure` when no cluster that can be an upstream runs there.
    init(at place: String, besides own: ClusterHome) throws {
        let url = URL(fileURLWithPath: place)
        home = ClusterHome(root: url.lastPathComponent == "cluster.json" ? url.deletingLastPathComponent() : url)
        guard home.root != own.root else {
            throw CommandFailure("a cluster cannot be its own upstream", advice: "name the home of another one with --upstream")
        }
        file = try ClusterFile.required(home, advice: "name the home of a cluster that runs with --upstream")
        guard file.lan == nil else {
            throw CommandFailure(
                "the cluster in \(home.root.path) is open to its network, under a certificate of its own", advice: "start it without --lan")
        }
        guard file.replacements.isEmpty || !file.softwareStatements.isEmpty else {
            throw CommandFailure("the cluster in \(home.root.path) issues no software statements", advice: "start it without --replace config=…")
        }
    }

    /// Where its certificate is kept with ours, for those who verify media tokens.
    static func certificate(in pki: LocalPki) -> String { pki.path("upstream-media-token.crt") }

    /// Where the one of the sandbox's stand-in is, once that is an upstream.
    static func standInCertificate(in pki: LocalPki) -> String { pki.path("stand-in-media-token.crt") }

    /// The file with our certificate and those of the upstreams; ours alone where there is none.
    /// - Throws: `CommandFailure`.
    static func verifiers(_ pki: LocalPki) throws -> String {
        let own = pki.path("media-token.crt")
        let theirs = [certificate(in: pki), standInCertificate(in: pki)].filter { FileManager.default.fileExists(atPath: $0) }
        guard !theirs.isEmpty else { return own }
        let all = URL(fileURLWithPath: pki.path(ClusterFile.verifiersName))
        try WrittenFiles.replace(all, with: Data(try ([own] + theirs).map { try TextFile.read($0) }.joined().utf8))
        return all.path
    }

    /// Lets those who verify media tokens of the cluster take those of the sandbox's stand-in, too.
    /// - Throws: `CommandFailure`.
    package static func trustStandIn(_ home: ClusterHome) throws {
        let pki = LocalPki(folder: home.pki)
        let certificate = Data(try TextFile.read(pki.path("sandbox-upstream.crt")).utf8)
        try WrittenFiles.replace(URL(fileURLWithPath: standInCertificate(in: pki)), with: certificate)
        var told = try ClusterFile.required(home)
        told.mediaTokenCertificate = try verifiers(pki)
        try told.write(home)
    }

    /// Tells both clusters of each other: the statements become secrets of ours, and each catalogue file gets what it lacks and is taken in.
    /// - Parameters:
    ///   - own: The cluster that asks the upstream from now on.
    ///   - exchange: For the administration of both.
    /// - Throws: `CommandFailure`.
    /// - Returns: The requestors that are served so.
    func serve(_ own: ClusterHome, pki: LocalPki, exchange: HTTPExchange) async throws -> [String] {
        let cluster = try ClusterFile.required(own)
        let (ours, theirs) = (try Self.catalogue(of: own), try Self.catalogue(of: home))
        let bridged = BridgedCatalogue(of: theirs)
        let clients = bridged.clients(for: ours, statements: file.softwareStatements)
        guard !clients.isEmpty else {
            throw CommandFailure(
                "the catalogue in \(home.root.path) has no application with the scope api:client:v2 for a requestor of this cluster",
                advice: "the two catalogues must have requestors of the same id")
        }
        for client in clients { try await keep(client.statement, as: client.reference, cluster, exchange) }
        let host = URLComponents(string: cluster.gateway)?.host ?? "127.0.0.1"
        try await change(home, to: bridged.accepting(host: host, at: clients), file, exchange)
        let changed = bridged.bridging(ours, upstream: file.gateway, gateway: cluster.gateway, clients: clients)
        try await change(own, to: changed, cluster, exchange)
        try WrittenFiles.replace(URL(fileURLWithPath: Self.certificate(in: pki)), with: Data(try TextFile.read(file.mediaTokenCertificate).utf8))
        var told = cluster
        told.mediaTokenCertificate = try Self.verifiers(pki)
        try told.write(own)
        return clients.flatMap(\.requestors)
    }

    /// A secret that a version names already is not overwritten: it is the statement of an earlier run then, which goes on being good.
    private func keep(_ statement: String, as reference: String, _ cluster: ClusterFile, _ exchange: HTTPExchange) async throws {
        let answer = try await exchange.send(
            "POST", "\(cluster.administration)/admin/v1/secrets/\(reference)",
            headers: [("Authorization", "Bearer \(cluster.adminToken)"), ("Content-Type", "application/json")],
            body: try AdministrationCall.json(["secret": statement]))
        guard (200...201).contains(answer.status) || answer.status == 409 else {
            let error = answer.object["error"] as? [String: Any]
            throw CommandFailure("the statement for the upstream cannot be kept", advice: error?["message"] as? String ?? "status \(answer.status)")
        }
    }

    private static func catalogue(of home: ClusterHome) throws -> [String: Any] {
        let content = Data(try TextFile.read(home.catalogue.path).utf8)
        guard let object = try? JSONSerialization.jsonObject(with: content) as? [String: Any] else {
            throw CommandFailure("\(home.catalogue.path) is not a JSON object", advice: "correct it")
        }
        return object
    }

    /// Writes the catalogue file and has it taken in; what was there, if it was somebody's, is kept beside it.
    private func change(_ home: ClusterHome, to catalogue: [String: Any], _ cluster: ClusterFile, _ exchange: HTTPExchange) async throws {
        let now = try Self.catalogue(of: home)
        guard !(now as NSDictionary).isEqual(to: catalogue) else { return }
        let content = try JSONSerialization.data(withJSONObject: catalogue, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
        var written = WrittenFiles(record: home.writtenFiles)
        let former = try Data(contentsOf: home.catalogue)
        let place = try written.giveWay(home.catalogue)
        try WrittenFiles.replace(home.catalogue, with: content)
        do {
            let brought = try await CatalogueImporter(cluster).bring(try OwnCatalogue(file: home.catalogue.path, home: home), isForced: false)
            _ = try brought.told(of: home.catalogue.path)
            if case .version(let version) = brought.outcome { try await wait(for: version.version, in: home, cluster, exchange) }
        } catch {
            try WrittenFiles.replace(home.catalogue, with: former)
            if let place { try? FileManager.default.removeItem(at: place) }
            throw error
        }
        try written.save()
    }

    /// Until every program of the cluster works with that version.
    private func wait(for version: UInt64, in home: ClusterHome, _ cluster: ClusterFile, _ exchange: HTTPExchange) async throws {
        let end = ContinuousClock.now + .seconds(20)
        let reader = StatusReader(home: home, cluster: cluster, exchange: exchange)
        while ContinuousClock.now < end {
            let versions = await reader.status().programs.compactMap(\.catalogueVersion)
            if versions.allSatisfy({ $0 >= version }) { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw CommandFailure("the cluster in \(home.root.path) does not take in version \(version) of its catalogue", advice: "its logs say why")
    }
}

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
            // A program that verifies media tokens here knows both certificates: degradation may let people play by tokens of ours.
            let members: [String: Any] = ["upstream": Self.upstreamID, "returnOrigin": gateway, "localMediaTokens": true]
            return entry.merging(["upstream": members]) { $1 }
        }
        let there = Set(Self.entries(theirs, "integrations").filter { $0["enabled"] as? Bool != false }.map(Pair.init))
        changed["integrations"] = Self.entries(ours, "integrations").map { entry in
            guard served.contains(OctetName(entry["requestor"])), there.contains(Pair(entry)), entry["enabled"] as? Bool != false else {
                return entry
            }
            // These members are for a cluster that signs people in itself (bridge §3.3).
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

    /// The application that serves each requestor which both catalogues have. It is the first of the upstream's that may use REST v2 there and has a
    /// statement; an app's own goes first.
    /// - Parameter statements: The upstream's statements, by application.
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
