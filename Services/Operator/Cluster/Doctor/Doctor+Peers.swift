internal import BridgeClient
internal import Clocks
internal import CommandKit
internal import Foundation
internal import OutboundHttp
internal import ServiceKit

/// MVPDs and upstreams: whether they can be reached, by clocks and certificates that hold, and whether what we show them is there.
extension Doctor {
    private static let day: Duration = .seconds(86_400)
    private static let mostNames = 5
    private static let atOnce = 16
    /// No look begins after it.
    private static let longest: Duration = .seconds(12)
    /// Servers whose clocks all differ one way are hardly wrong alike.
    private static let fewestWitnesses = 3
    static let guide = "Shared/Documents/Operations/WhenItFails.md#an-upstream-fails"

    func peers(_ cluster: ClusterFile) async -> [Finding] {
        guard let mvpds = await items("mvpds", cluster), let upstreams = await items("upstreams", cluster) else {
            return [.note(.peers, "nobody tells which servers of others the catalogue names", advice: "see what is wrong with programs, above")]
        }
        let entities = (mvpds: mvpds.compactMap(Self.entity), upstreams: upstreams.compactMap(Self.entity))
        var findings = Self.conditions(upstreams, now: now)
        findings += Self.credentials(
            mvpds: entities.mvpds, upstreams: entities.upstreams, secrets: await secrets(cluster),
            shown: Shown(mvpds: certificates(of: .authorization), upstreams: certificates(of: .authentication)))
        findings += Self.signingCertificates(entities.mvpds, now: now)
        let servers = PeerServer.all(mvpds: entities.mvpds, upstreams: entities.upstreams)
        let probe = PeerProbe(OutboundOptions(settingsFile: home.settings(of: .authentication).path) ?? OutboundOptions())
        let sights = await Self.look(at: servers.map(\.server)) { await probe.look($0) }
        await probe.shutdown()
        findings += Self.findings(servers, sights, now: now)
        guard findings.isEmpty else { return findings }
        return [
            servers.isEmpty
                ? .fine(.peers, "the catalogue names no server of an MVPD or upstream")
                : .fine(.peers, "\(servers.count == 1 ? "the server" : "all \(servers.count) servers") of MVPDs and upstreams can be reached")
        ]
    }

    /// Looks at each server, some at a time.
    /// - Returns: What was seen; servers whose turn did not come in time are missing.
    static func look(
        at servers: [PeerServer], within limit: Duration = longest, _ look: @escaping @Sendable (PeerServer) async -> PeerSight
    ) async -> [PeerServer: PeerSight] {
        let end = ContinuousClock.now + limit
        var waiting = servers[...]
        var sights: [PeerServer: PeerSight] = [:]
        await withTaskGroup(of: (PeerServer, PeerSight).self) { group in
            func startNext() {
                guard ContinuousClock.now < end, let server = waiting.popFirst() else { return }
                group.addTask { (server, await look(server)) }
            }
            for _ in 0..<atOnce { startNext() }
            for await (server, sight) in group {
                sights[server] = sight
                startNext()
            }
        }
        return sights
    }

    // MARK: What was seen

    static func findings(
        _ servers: [(server: PeerServer, owners: [String])], _ sights: [PeerServer: PeerSight], now: Timestamp
    ) -> [Finding] {
        let clock = ownClock(sights.values.compactMap(\.clockOffset))
        var findings = clock.map { [$0] } ?? []
        var unseen: [String] = []
        for (server, owners) in servers {
            let name = names(owners)
            guard let sight = sights[server] else {
                unseen.append(server.origin)
                continue
            }
            if let failure = sight.failure, !isReached(server, failure) {
                findings.append(unreachable(server, name, failure, sight.certificateEnd, now))
                continue
            }
            if let status = sight.status, [502, 503, 504].contains(status) {
                findings.append(
                    .note(.peers, "\(server.origin), of \(name), answers \(status)", advice: "ask its operator, or see what stands before it"))
            }
            if let end = sight.certificateEnd, end < now + day * 30 {
                let left = Int((end - now) / day)
                findings.append(
                    .note(
                        .peers, "the certificate of \(server.origin), of \(name), ends in \(left) days, at \(text(end))",
                        advice: "tell its operator: afterwards nobody can call there"))
            }
            if clock == nil, let offset = sight.clockOffset, isOff(offset) {
                findings.append(
                    .wrong(
                        .peers, "the clock of \(server.origin), of \(name), is \(ahead(offset)) ours",
                        advice:
                            "compare both with a time server ('chronyc tracking' here), and tell its operator: its answers may be refused for their time"
                    ))
            }
        }
        if !unseen.isEmpty {
            findings.append(
                .note(
                    .peers, "there was no time to look at \(unseen.count) servers, such as \(unseen[0])",
                    advice: "too many of the others hang: see to those first"))
        }
        return findings
    }

    /// A server that wants a client certificate ends the connection of a caller without one.
    private static func isReached(_ server: PeerServer, _ failure: OutboundFailure) -> Bool {
        server.asksForCertificate && [.resetBeforeAnswer, .unusable].contains(failure.kind) && !isCertificate(failure)
    }

    private static func isCertificate(_ failure: OutboundFailure) -> Bool { failure.cause.contains("CERTIFICATE_VERIFY_FAILED") }

    private static func unreachable(
        _ server: PeerServer, _ name: String, _ failure: OutboundFailure, _ certificateEnd: Timestamp?, _ now: Timestamp
    ) -> Finding {
        let place = "\(server.origin), of \(name),"
        if let end = certificateEnd, end < now {
            return finding(
                server, "\(place) shows a certificate that ended at \(text(end))",
                "its operator must renew it; until then \(victims(server))")
        }
        if isCertificate(failure) {
            return finding(
                server, "\(place) shows a certificate that does not verify",
                server.caller == .services
                    ? "it must be the name's, and its chain known: compare it with trustAnchors of the entry"
                    : "it must be the name's, and its chain known to browsers: tell its operator")
        }
        let reason =
            switch failure.kind {
            case .connectTimeout: "does not answer in time"
            case .responseTimeout, .budgetSpent, .cancelled: "takes connections and does not answer"
            case .resetBeforeAnswer: "ends connections without an answer"
            default:
                failure.cause.isEmpty ? "cannot be reached" : "cannot be reached: \(TerminalText.printable(failure.cause))"
            }
        return finding(
            server, "\(place) \(reason)",
            "look at the address in the catalogue, the network and its firewalls; the server itself may be away. Until then \(victims(server))")
    }

    /// This machine need not reach what browsers open.
    private static func finding(_ server: PeerServer, _ what: String, _ advice: String) -> Finding {
        server.caller == .services ? .wrong(.peers, what, advice: advice) : .note(.peers, what, advice: advice)
    }

    private static func victims(_ server: PeerServer) -> String {
        server.caller == .services ? "what needs it fails" : "people who are sent there see the same, if their networks do"
    }

    // MARK: Clocks

    static func isOff(_ offset: Duration) -> Bool { offset > UpstreamClock.tolerance || offset < .zero - UpstreamClock.tolerance }

    static func ahead(_ offset: Duration) -> String {
        "\(abs(offset.components.seconds)) s \(offset < .zero ? "behind" : "ahead of")"
    }

    private static func ownClock(_ offsets: [Duration]) -> Finding? {
        guard offsets.count >= fewestWitnesses, offsets.allSatisfy(isOff),
            offsets.allSatisfy({ $0 > .zero }) || offsets.allSatisfy({ $0 < .zero })
        else { return nil }
        let middle = offsets.sorted()[offsets.count / 2]
        return .wrong(
            .clock, "all \(offsets.count) servers of others that answered have clocks \(ahead(middle)) ours",
            advice: "it is this host's clock: set it ('chronyc makestep'), and have chrony or systemd-timesyncd keep it")
    }

    private static func names(_ owners: [String]) -> String {
        let more = owners.count > mostNames ? " and \(owners.count - mostNames) more" : ""
        return owners.prefix(mostNames).joined(separator: ", ") + more
    }
}

extension Doctor {
    // MARK: Questions to the cluster

    private static func entity(_ item: [String: Any]) -> [String: Any]? { item["entity"] as? [String: Any] }

    /// - Returns: `nil`: it does not answer, or not as it should.
    private func answer(_ path: String, _ cluster: ClusterFile) async -> [String: Any]? {
        let answer = try? await HTTPExchange.once(trusting: cluster.authority) { exchange in
            var exchange = exchange
            exchange.timeout = .seconds(5)
            return try await exchange.send(
                "GET", "\(cluster.administration)/admin/v1/\(path)", headers: [("Authorization", "Bearer \(cluster.adminToken)")])
        }
        guard let answer, answer.status == 200 else { return nil }
        return answer.object
    }

    /// All entries of a section, with the state of those that have one.
    private func items(_ section: String, _ cluster: ClusterFile) async -> [[String: Any]]? {
        var found: [[String: Any]] = []
        for page in 1...50 {
            guard let items = await answer("\(section)?size=200&page=\(page)", cluster)?["items"] as? [[String: Any]] else { return nil }
            found += items
            if items.count < 200 { break }
        }
        return found
    }

    private func secrets(_ cluster: ClusterFile) async -> Set<String>? {
        guard let list = await answer("secrets", cluster)?["secrets"] as? [[String: Any]] else { return nil }
        return Set(list.compactMap { $0["reference"] as? String })
    }

    /// The names of client certificates of a service; `nil`: its settings are not here.
    private func certificates(of service: ClusterService) -> Set<String>? {
        ownSettings(service).map { Set(($0["clientCertificates"] as? [String: Any] ?? [:]).keys) }
    }
}
