internal import ArgumentParser
internal import ClusterCommands
internal import CommandKit
internal import Foundation
internal import TextEncodings

/// `boxoffice upstream try`: the sandbox's stand-in vendor as an upstream of a channel.
struct UpstreamTryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "try",
        abstract: "Make the sandbox's stand-in vendor an upstream of the channel ACME1: its TV providers appear beside the cluster's own.",
        discussion: """
            Keeps the stand-in's software statement as a secret, gives the channel the upstream, takes in what it offers, and pushes. Your draft must be \
            empty, as everything in it is pushed. What is there already stays: the command may be run again.
            """)

    static let upstream = "sandbox"
    private static let statement = "acme-v2"
    /// The one channel that the stand-in knows by the id that it has in the demo catalogue.
    private static let channel = "ACME1"

    @Option(help: "Base URL of the stand-in for browsers. Default: where the cluster itself finds it.")
    var browsers: String?

    @Option(help: "Seconds to wait for the services to work with what is pushed, 1 to 600.")
    var wait = 30

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard (1...600).contains(wait) else { throw ValidationError("--wait is from 1 to 600.") }
        if let browsers, !ContainerNetwork.isBase(browsers) {
            throw ValidationError("--browsers takes scheme, host and port, such as http://localhost:8092; it is '\(browsers)'.")
        }
    }

    func run() async throws {
        let console = Console(isQuiet: json)
        let home = ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: Checkout.current)
        let cluster = try ClusterFile.required(home)
        guard let address = cluster.sandbox.upstream else {
            throw CommandFailure("the cluster runs no stand-in upstream", advice: "start it with its sandbox, in this release", exit: .usage)
        }
        try await OpenDraft.requireEmpty()
        if try await use(address, gateway: cluster.gateway) { try await push("The sandbox's stand-in vendor as an upstream") }
        let comparison = try await offered()
        try await comparison.draft()
        if !comparison.isComplete { try await push("What the sandbox's stand-in vendor offers") }
        try UpstreamCluster.trustStandIn(home)
        let bridged = try await bridged()
        console.line("\(Self.channel) has the TV providers of \(address) beside its own: \(bridged.joined(separator: ", "))")
        if json { try JsonOutput.show(["upstream": Self.upstream, "baseUrl": address, "requestor": Self.channel, "mvpds": bridged]) }
    }

    /// Puts what is missing into the draft.
    /// - Returns: True when anything was.
    private func use(_ address: String, gateway: String) async throws -> Bool {
        let entry = try await AdministrationCall.send("GET", "/requestors/\(FormEncoding.encode(Self.channel))")
        guard var channel = entry.object["entity"] as? [String: Any] else { throw CommandFailure("the cluster tells nothing of '\(Self.channel)'") }
        if let bridge = channel["upstream"] as? [String: Any] {
            guard bridge["upstream"] as? String == Self.upstream else {
                throw CommandFailure(
                    "\(Self.channel) uses the upstream '\(bridge["upstream"] as? String ?? "")' already",
                    advice: "a channel has one upstream at most",
                    exit: .usage)
            }
            return false
        }
        let reference = "\(Self.upstream)-\(Self.statement)"
        let secret = try AdministrationCall.json(["secret": try await statement(at: address)])
        _ = try await AdministrationCall.send("POST", "/secrets/\(reference)", body: secret)
        let client: [String: Any] = ["id": Self.upstream, "statementReference": reference, "requestors": "all", "platforms": "all"]
        var record: [String: Any] = ["id": Self.upstream, "baseUrl": address, "clients": [client]]
        record["userAgentBaseUrl"] = browsers
        _ = try await AdministrationCall.send("POST", "/upstreams", body: try AdministrationCall.json(record))
        channel["upstream"] = ["upstream": Self.upstream, "returnOrigin": gateway]
        _ = try await AdministrationCall.send(
            "PUT", "/requestors/\(FormEncoding.encode(Self.channel))", body: try AdministrationCall.json(channel), ifMatch: entry.header("etag"))
        return true
    }

    /// The stand-in's own statement, which it shows to whoever may control it.
    private func statement(at address: String) async throws -> String {
        let answer = try await HTTPExchange.once { try await $0.send("GET", "\(address)/control/statements") }
        let list = try? JSONSerialization.jsonObject(with: Data(answer.body)) as? [[String: Any]]
        guard let text = list?.first(where: { $0["id"] as? String == Self.statement })?["text"] as? String else {
            throw CommandFailure("what answers at \(address) shows no statement '\(Self.statement)'", advice: "it must be the sandbox's stand-in")
        }
        return text
    }

    private func push(_ description: String) async throws {
        guard try await AdministrationCall.push(description) != nil else {
            throw CommandFailure("the push waits for a second person's approval", advice: "run the command again once it is approved")
        }
    }

    /// The stand-in's offers that the channel lacks, once the services know it as an upstream.
    private func offered() async throws -> UpstreamComparison {
        let end = ContinuousClock.now + .seconds(wait)
        while true {
            do {
                let offers = try await UpstreamOffers.read(Self.upstream, requestor: Self.channel, platforms: [])
                return UpstreamComparison(
                    offers, try await OwnEntries.read(requestor: Self.channel, upstream: Self.upstream), requestor: Self.channel)
            } catch is CommandFailure where ContinuousClock.now < end {
                try await Task.sleep(for: .milliseconds(500))
            }
        }
    }

    /// Ids of the MVPDs that the upstream serves there.
    private func bridged() async throws -> [String] {
        let items = try await AdministrationCall.send("GET", "/integrations?requestor=\(FormEncoding.encode(Self.channel))&size=200").object["items"]
        return (items as? [[String: Any]] ?? []).compactMap { item in
            guard let entity = item["entity"] as? [String: Any], entity["upstream"] != nil else { return nil }
            return entity["mvpd"] as? String
        }.sorted()
    }
}
