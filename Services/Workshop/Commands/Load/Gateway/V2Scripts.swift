internal import Foundation
internal import LoadTool
internal import Simulation
internal import TextEncodings

/// Flow B of rest-v2 §5: a TV makes a session and polls its code; a person signs in on a second screen; the TV polls, and gets a decision.
final class V2SecondScreenScript: SecondScreenScript {
    override class var steps: [String] { ["session", "poll in vain", "authenticate", "SAML response", "poll", "decision of a new device"] }

    override func codeRequest(_ visit: Visit) -> [UInt8] {
        let form = [("mvpd", ground.mvpdID), ("domainName", ground.domain), ("redirectUrl", "https://\(ground.domain)/signed-in")]
        return ground.calls.post(v2: "sessions", ground.client(of: visit), device: visit.newDevice(ground.run), form: form)
    }

    override func poll(_ visit: Visit) -> [UInt8] {
        ground.calls.get(v2: "profiles/code/\(visit.code)", ground.client(of: visit), device: visit.newDevice(ground.run))
    }

    override var vainCodes: [String] { [] }

    override var readsPolls: Bool { true }

    override func isSignedIn(_ answer: Answer) -> Bool { answer.body.count > #"{"profiles":{}}"#.utf8.count }

    override func address(_ visit: Visit) -> String {
        "/api/v2/authenticate/\(FormEncoding.encode(ground.calls.requestor))/\(FormEncoding.encode(visit.code))"
    }

    override func last(_ visit: Visit) -> [UInt8] {
        ground.calls.decide("authorize", ground.mvpdID, ground.resource, ground.client(of: visit), device: visit.newDevice(ground.run))
    }
}

/// Flow H: a device whose platform has signed in: a partner session, the partner's answer, the profile that came of it.
final class V2PartnerScript: TokenExchangeScript {
    override class var steps: [String] { ["partner session", "partner profile", "profile of the partner"] }

    private lazy var status = V2PartnerStatus.header(provider: ground.platformID)

    override func request(_ visit: Visit) -> [UInt8] {
        let form = [("domainName", ground.domain), ("redirectUrl", "https://\(ground.domain)/signed-in")]
        return ground.calls.post(
            v2: "sessions/sso/Apple", ground.client(of: visit), device: visit.newDevice(ground.run), status: status, form: form)
    }

    override func profileRequest(_ answer: Answer) -> String {
        (try? JSONDecoder().decode(V2.Session.self, from: Data(answer.body)))?.authenticationRequest?.request ?? ""
    }

    override func exchange(_ visit: Visit, _ response: String) -> [UInt8] {
        ground.calls.post(
            v2: "profiles/sso/Apple", ground.client(of: visit), device: visit.newDevice(ground.run), status: status,
            form: [("SAMLResponse", response)])
    }

    override func session(_ visit: Visit) -> [UInt8] {
        ground.calls.get(
            v2: "profiles/\(FormEncoding.encode(ground.mvpdID))", ground.client(of: visit), device: visit.newDevice(ground.run), status: status)
    }
}

/// Flows D and F: a signed-in user starts playback: the profile, a decision with its media token.
///
/// As in v1's playback, decisions are cached, and no MVPD is asked.
final class V2PlaybackScript: PreparedScript {
    static let steps = ["profile", "decision"]
    let requests: [[[UInt8]]]

    init(_ ground: GatewayGround) {
        requests = ground.devices.map { device in
            let client = ground.clients[device.client]
            return [
                ground.calls.get(v2: "profiles/\(FormEncoding.encode(ground.mvpdID))", client, device: device.id),
                ground.calls.decide("authorize", ground.mvpdID, ground.resource, client, device: device.id),
            ]
        }
    }
}

/// Flows D and E: a signed-in user opens the app: the configuration, the profiles, which channels are open.
final class V2AppStartScript: PreparedScript {
    static let steps = ["configuration", "profiles", "preauthorization"]
    let requests: [[[UInt8]]]

    init(_ ground: GatewayGround) {
        requests = ground.devices.map { device in
            let client = ground.clients[device.client]
            return [
                ground.calls.get(v2: "configuration", client, device: device.id), ground.calls.get(v2: "profiles", client, device: device.id),
                ground.calls.decide("preauthorize", ground.mvpdID, ground.resource, client, device: device.id),
            ]
        }
    }
}
