internal import CommandKit
internal import EntitlementClient
internal import Foundation

extension DeviceCommand {
    /// Does what the options say.
    func run(_ exchange: HTTPExchange) async throws {
        let ground = try await ground(exchange)
        if api == "v2" { return try await playV2(on: ground) }
        if let script { return try await play(script: script, on: ground) }
        if let count { return try await playFleet(count, on: ground) }
        if !command.isEmpty { return try await playCommand(on: ground) }
        if let kind = person.flatMap(FormerClient.Kind.init) { return try await play(kind, on: ground) }
        if isTv { return try await playTv(on: ground) }
        try await session(ground).play(deviceID: deviceID ?? UUID().uuidString)
    }

    private func play(_ kind: FormerClient.Kind, on ground: DeviceGround) async throws {
        try await FormerClient(
            kind: kind, ground: ground, cluster: try ClusterFile.read(home), person: "ada", mvpd: mvpd ?? "NorthCable", resource: resource,
            deviceID: deviceID ?? UUID().uuidString, console: Console()
        ).play()
    }

    private func session(_ ground: DeviceGround) throws -> DeviceSession {
        let viewer: DeviceSession.Viewer =
            if usesPlatform {
                .platform(person: person ?? "ada")
            } else if let person {
                .simulated(name: person, mvpd: mvpd ?? "NorthCable")
            } else {
                .person(mvpd: mvpd ?? "NorthCable")
            }
        let console = Console()
        return DeviceSession(
            console: console, ground: ground, resource: resource, viewer: viewer, hasQrCode: !hidesQrCode, pollInterval: .seconds(poll),
            appleAccount: appleAccount.map { name in
                DeviceSession.AppleAccountUse(name: name, approves: approval(console), endsEverything: signsOutEverywhere)
            }, folder: state.map { URL(fileURLWithPath: $0) })
    }

    /// What is answered to the sheet of Automatic Sign-In.
    func approval(_ console: Console) -> @Sendable () async -> Bool {
        let fixed = optIn ?? (person != nil || usesPlatform ? true : nil)
        return {
            if let fixed { return fixed }
            console.line("\n  Sign in by yourself on the other devices of this Apple Account? [y/N] ")
            return readLine()?.lowercased().hasPrefix("y") ?? false
        }
    }

    // MARK: - The cluster

    private func ground(_ exchange: HTTPExchange) async throws -> DeviceGround {
        let cluster = try ClusterFile.read(home)
        guard let gateway = gateway ?? cluster?.gateway else {
            throw CommandFailure(
                "no cluster runs here", advice: "start one with ./Services/up, or name a gateway with --gateway URL", exit: .unreachable)
        }
        return DeviceGround(
            exchange: exchange, gateway: gateway, requestor: requestor, statement: try await softwareStatement(cluster),
            apple: cluster?.sandbox.apple, bundleID: bundleID ?? (isOfBravo ? "example.bravo.tv" : "example.acme.tv"),
            certificates: try certificate.map(TextFile.read),
            upstreamCertificates: self.gateway == nil ? try cluster?.upstreamCertificates() : nil)
    }

    var home: ClusterHome { ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: Checkout.current) }

    var isOfBravo: Bool { requestor.hasPrefix("BRAVO") }

    private func softwareStatement(_ cluster: ClusterFile?) async throws -> String {
        if let statement {
            let text = FileManager.default.fileExists(atPath: statement) ? try TextFile.read(statement) : statement
            return text.trimmingCharacters(in: .whitespacesAndNewlines)
        }
        let statements = try await SoftwareStatements.all(of: cluster)
        guard let found = statements[isOfBravo ? "bravo-tv" : "acme-tv"] ?? statements.first?.value else {
            throw CommandFailure("there is no software statement for \(requestor)", advice: "pass --statement JWT or a file that holds it")
        }
        return found
    }
}
