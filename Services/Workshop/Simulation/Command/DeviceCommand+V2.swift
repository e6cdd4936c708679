internal import ArgumentParser
internal import CommandKit
internal import Foundation

extension DeviceCommand {
    /// Plays an app on REST v2: one flow, all of them, or those that a person chooses with a remote.
    func playV2(on ground: DeviceGround) async throws {
        let console = Console()
        let player = try await player(on: ground, V2Lines(console: console, gateway: ground.gateway, hasQrCode: !hidesQrCode))
        if flow == nil, isTv { return try await show(V2Tv(player)) }
        let flows = flow == "all" ? V2Flow.allCases : [flow.flatMap { V2Flow($0) } ?? .a]
        for flow in flows {
            if flows.count > 1 { console.line(console.bold("\n\(flow.name)  \(flow.title)")) }
            do {
                try await player.play(flow)
            } catch let failure as CommandFailure {
                throw DeviceFailure(.refused, nil, "flow \(flow.name): \(failure)")
            } catch {
                let failure = DeviceFailure(error)
                throw DeviceFailure(failure.exit, failure.code, "flow \(flow.name): \(failure)")
            }
        }
    }

    private func player(on ground: DeviceGround, _ stage: some V2Stage) async throws -> V2Player {
        let cluster = try ClusterFile.read(home)
        // Offices and services of the demo catalogue belong to one programmer each.
        let (programmer, statements) = (isOfBravo ? "bravo" : "acme", try await SoftwareStatements.all(of: cluster))
        let office = statements["\(programmer)-ops"].flatMap { statement in
            cluster.map { V2Player.Office(administration: $0.administration, statement: statement, company: programmer) }
        }
        return V2Player(
            ground: ground, stage: stage, person: person, mvpd: mvpd ?? "NorthCable", resource: resource, channels: listedChannels,
            deviceID: deviceID,
            pollInterval: .seconds(poll), office: office, backendStatement: statements["\(programmer)-backend"],
            identity: V2App.Identity(platformToken: platformToken, serviceToken: serviceToken))
    }
}
