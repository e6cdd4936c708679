internal import CommandKit
internal import Foundation
internal import LoadTool
internal import Simulation
internal import TextEncodings

/// What the scenarios in front of an upstream need (bridge §15.3).
extension GatewayPreparation {
    /// A TV provider of the sandbox's stand-in vendor, and somebody who may watch everything there.
    private static let bridged = (mvpd: "CoastCable", person: "ada")

    /// - Throws: `CommandFailure` unless an upstream serves the channel, and the stand-in's provider is one of it.
    func requireUpstream() async throws {
        let path = "/admin/v1/integrations?requestor=\(FormEncoding.encode(requestor))&size=200"
        let answer = try await exchange.send(
            "GET", "\(cluster.admin ?? cluster.gateway)\(path)", headers: [("Authorization", "Bearer \(cluster.adminToken)")])
        let entries = (answer.object["items"] as? [[String: Any]] ?? []).compactMap { $0["entity"] as? [String: Any] }
        guard entries.contains(where: { $0["upstream"] != nil && $0["mvpd"] as? String == Self.bridged.mvpd }) else {
            throw CommandFailure(
                "no upstream signs people of \(Self.bridged.mvpd) in at \(requestor)",
                advice: "make the sandbox's stand-in vendor one: boxoffice upstream try", exit: .unreachable)
        }
    }

    /// Signs a device in through the upstream's login page, and gets it a permit.
    func signInUpstream(_ owner: StreamingApp, _ number: Int, client: Int, _ run: String) async throws -> GatewaySetup.Device {
        var exchange = exchange
        exchange.headers.append(("X-Forwarded-For", Self.address(number)))
        let app = StreamingApp(
            exchange: exchange, gateway: gateway, requestor: requestor, deviceID: "load-\(run)-tv-\(number)", hardware: .appleTV,
            accessToken: owner.accessToken)
        let code = try await app.requestCode().code
        let end = "\(gateway)/activate/done"
        let query = FormEncoding.encode([
            ("reg_code", code), ("requestor_id", requestor), ("mso_id", Self.bridged.mvpd), ("domain_name", try await domain()), ("noflash", "true"),
            ("no_iframe", "true"), ("redirect_url", "\(end)?code=\(code)"),
        ])
        var person = SimulatedPerson(exchange: exchange)
        _ = try await person.signIn(
            at: "\(gateway)/api/v1/authenticate?\(query)", name: Self.bridged.person, password: Self.bridged.person, until: end)
        try await app.authorize(resource)
        return GatewaySetup.Device(id: app.deviceID, client: client)
    }

    /// Televisions that nobody has signed in on.
    func waitingDevices(_ run: String, clients: Int) -> [GatewaySetup.Device] {
        (0..<deviceCount).map { GatewaySetup.Device(id: "load-\(run)-tv-\($0)", client: $0 % clients) }
    }

    /// The public address of a device, as a trusted proxy tells it: each has its own, as each has a budget of its own here and upstream.
    static func address(_ number: Int) -> String { "151.\(20 + number / 62_500 % 200).\(number / 250 % 250).\(1 + number % 250)" }
}

/// Playback by viewers whom an upstream has signed in: session check, authorization, media token. Upstream is asked once in each visit.
final class BridgeScript: PreparedScript {
    static let steps = ["bridged checkauthn", "bridged authorize", "bridged media token"]
    let requests: [[[UInt8]]]

    init(_ setup: GatewaySetup) {
        requests = setup.devices.enumerated().map { number, device in
            let client = setup.clients[device.client].from(GatewayPreparation.address(number))
            let watched = setup.calls.device(device.id, [("resource", setup.resource)])
            return [
                setup.calls.get("/api/v1/checkauthn?\(setup.calls.device(device.id))", client),
                setup.calls.get("/api/v1/authorize?\(watched)", client), setup.calls.get("/api/v1/mediatoken?\(watched)", client),
            ]
        }
    }
}

/// Televisions that wait for somebody to sign in: each asks in its turn, so that all do at the same distance.
final class PollingScript: GatewayScript {
    static let steps = ["poll in vain of a television"]
    /// How often a television asks.
    static let seconds = 5.0

    private let requests: [[UInt8]]

    init(_ setup: GatewaySetup) {
        requests = setup.devices.enumerated().map { number, device in
            let client = setup.clients[device.client].from(GatewayPreparation.address(number))
            return setup.calls.get("/api/v1/checkauthn?\(setup.calls.device(device.id))", client)
        }
    }

    func begin(_ visit: Visit) -> Step {
        visit.call(0, requests[visit.number % requests.count], wantsAnswer: true, tolerates: ["http_403"])
    }

    func proceed(_ visit: Visit, _ answer: Answer) -> Step {
        answer.failure == nil ? .failed(code: "unexpected_answer", message: "somebody is signed in on a television that nobody has used") : .done
    }
}
