internal import EntitlementClient
internal import Foundation
internal import LoadTool
internal import SamlResponder
internal import Simulation
internal import TextEncodings

/// A kind of use of the gateway.
enum GatewayScenario: String, CaseIterable, Sendable {
    case secondScreen = "second-screen"
    case playback
    case tokenExchange = "token-exchange"
    case mixed
    /// Playback by requests that the app signs.
    case signed
    /// Playback by tokens that the app keeps.
    case sdk
    /// Playback by viewers whom an upstream has signed in.
    case bridge
    /// Televisions in front of an upstream that wait for somebody to sign in.
    case polling

    enum Api: String, CaseIterable, Sendable { case v1, v2 }

    static let names = allCases.map(\.rawValue).joined(separator: ", ")

    /// True when devices must be signed in before.
    var needsDevices: Bool { [.playback, .mixed, .signed, .sdk, .bridge].contains(self) }

    /// True when an upstream must serve the channel.
    var needsUpstream: Bool { [.bridge, .polling].contains(self) }

    /// The number of devices, where none is given.
    func standardDevices(_ plan: RunPlan) -> Int {
        guard self == .polling else { return DeviceCount.forMediaTokens(plan) }
        let highest = plan.plan.stages.reduce(0) { max($0, $1.from, $1.to) }
        return max(DeviceCount.standard, min(DeviceCount.range.upperBound, Int((highest * PollingScript.seconds).rounded(.up))))
    }

    /// One object for each thread that makes calls.
    func workload(_ setup: GatewaySetup, worker: Int, workers: Int) -> GatewayWorkload {
        GatewayWorkload(parts(setup), worker: worker, workers: workers)
    }

    /// True when apps on that API do so.
    func isOf(_ api: Api) -> Bool { api == .v1 || ![.signed, .sdk, .bridge, .polling].contains(self) }

    private func parts(_ setup: GatewaySetup) -> [GatewayWorkload.Part] {
        let isV2 = setup.api == .v2
        let secondScreen = isV2 ? V2SecondScreenScript(setup) : SecondScreenScript(setup)
        let tokenExchange = isV2 ? V2PartnerScript(setup) : TokenExchangeScript(setup)
        return switch self {
        case .secondScreen: [.init(script: secondScreen, weight: 1)]
        case .playback: [.init(script: playback(setup), weight: 1)]
        case .tokenExchange: [.init(script: tokenExchange, weight: 1)]
        case .signed: [.init(script: PlaybackScript(setup, signed: true), weight: 1)]
        case .sdk: [.init(script: SdkScript(setup), weight: 1)]
        case .bridge: [.init(script: BridgeScript(setup), weight: 1)]
        case .polling: [.init(script: PollingScript(setup), weight: 1)]
        // The mix of 100 visits. People start streams several times a day, and open the app a little less often without watching. They sign in every
        // few weeks, with a code more often than by their platform.
        case .mixed:
            [
                .init(script: playback(setup), weight: 60),
                .init(script: isV2 ? V2AppStartScript(setup) : AppStartScript(setup), weight: 36), .init(script: secondScreen, weight: 3),
                .init(script: tokenExchange, weight: 1),
            ]
        }
    }

    private func playback(_ setup: GatewaySetup) -> any GatewayScript {
        setup.api == .v2 ? V2PlaybackScript(setup) : PlaybackScript(setup)
    }
}

/// A signed-in user starts playback in an app on the vendor's SDKs: the session's token, a permit's token, a media token (clients §3).
///
/// The tokens are made before anything is measured: an app keeps them, and here each of its calls is made in turn.
final class SdkScript: PreparedScript {
    static let steps = ["sessionDevice", "authorizeDevice", "deviceShortAuthorize"]
    let requests: [[[UInt8]]]

    init(_ setup: GatewaySetup) {
        let paths = [SdkCalls.session, SdkCalls.permit, SdkCalls.play]
        requests = setup.devices.map { device in
            zip(paths, device.forms).map { setup.calls.post($0, setup.clients[device.client], form: $1) }
        }
    }
}

/// A signed-in user starts playback: session check, authorization, media token (rest-v1 §4.5).
///
/// The devices are signed in and permitted before the measurement, so that no MVPD is asked: decisions are cached, as in real use.
final class PlaybackScript: PreparedScript {
    static let steps = ["checkauthn", "authorize", "media token"]
    let requests: [[[UInt8]]]

    /// - Parameter signed: True: the app signs its requests in place of bringing an access token; headers are made now, and good for a day.
    init(_ setup: GatewaySetup, signed: Bool = false) {
        requests = setup.devices.map { device in
            var client = setup.clients[device.client]
            if signed, let signer = setup.signer {
                client = GatewayCalls.Client(
                    authorization: signer.header("GET", "/authorize", now: Date()), host: setup.calls.host, hardware: .appleTV)
            }
            let watched = setup.calls.device(device.id, [("resource", setup.resource)])
            return [
                setup.calls.get("/api/v1/checkauthn?\(setup.calls.device(device.id))", client),
                setup.calls.get("/api/v1/authorize?\(watched)", client), setup.calls.get("/api/v1/mediatoken?\(watched)", client),
            ]
        }
    }
}

/// A signed-in user starts the app: the MVPD list, the session, the user metadata (rest-v1 §3.3, §3.11, §3.19).
final class AppStartScript: PreparedScript {
    static let steps = ["MVPD list", "session of a start", "user metadata"]
    let requests: [[[UInt8]]]

    init(_ setup: GatewaySetup) {
        requests = setup.devices.map { device in
            let (client, set) = (setup.clients[device.client], setup.calls.device(device.id))
            return [
                setup.calls.get("/api/v1/config/\(FormEncoding.encode(setup.calls.requestor))", client),
                setup.calls.get("/api/v1/tokens/authn?\(set)", client), setup.calls.get("/api/v1/tokens/usermetadata?\(set)", client),
            ]
        }
    }
}

/// Flow B of rest-v2 §5: a TV makes a session and polls its code. A person signs in on a second screen; the TV polls, and gets a decision.
final class V2SecondScreenScript: SecondScreenScript {
    override class var steps: [String] { ["session", "poll in vain", "authenticate", "SAML response", "poll", "decision of a new device"] }

    override func codeRequest(_ visit: Visit) -> [UInt8] {
        let form = [("mvpd", setup.mvpdID), ("domainName", setup.domain), ("redirectUrl", "https://\(setup.domain)/signed-in")]
        return setup.calls.post(v2: "sessions", setup.client(of: visit), device: visit.newDevice(setup.run), form: form)
    }

    override func poll(_ visit: Visit) -> [UInt8] {
        setup.calls.get(v2: "profiles/code/\(visit.code)", setup.client(of: visit), device: visit.newDevice(setup.run))
    }

    override var vainCodes: [String] { [] }

    override var readsPolls: Bool { true }

    override func isSignedIn(_ answer: Answer) -> Bool { answer.body.count > #"{"profiles":{}}"#.utf8.count }

    override func address(_ visit: Visit) -> String {
        "/api/v2/authenticate/\(FormEncoding.encode(setup.calls.requestor))/\(FormEncoding.encode(visit.code))"
    }

    override func last(_ visit: Visit) -> [UInt8] {
        setup.calls.decide("authorize", setup.mvpdID, setup.resource, setup.client(of: visit), device: visit.newDevice(setup.run))
    }
}

/// Flow H: a device whose platform has signed in: a partner session, the partner's answer, the profile that came of it.
final class V2PartnerScript: TokenExchangeScript {
    override class var steps: [String] { ["partner session", "partner profile", "profile of the partner"] }

    private lazy var status = V2PartnerStatus.header(provider: setup.platformID)

    override func request(_ visit: Visit) -> [UInt8] {
        let form = [("domainName", setup.domain), ("redirectUrl", "https://\(setup.domain)/signed-in")]
        return setup.calls.post(
            v2: "sessions/sso/Apple", setup.client(of: visit), device: visit.newDevice(setup.run), status: status, form: form)
    }

    override func profileRequest(_ answer: Answer) -> String {
        (try? JSONDecoder().decode(V2.Session.self, from: Data(answer.body)))?.authenticationRequest?.request ?? ""
    }

    override func exchange(_ visit: Visit, _ response: String) -> [UInt8] {
        setup.calls.post(
            v2: "profiles/sso/Apple", setup.client(of: visit), device: visit.newDevice(setup.run), status: status,
            form: [("SAMLResponse", response)])
    }

    override func session(_ visit: Visit) -> [UInt8] {
        setup.calls.get(
            v2: "profiles/\(FormEncoding.encode(setup.mvpdID))", setup.client(of: visit), device: visit.newDevice(setup.run), status: status)
    }
}

/// Flows D and F: a signed-in user starts playback: the profile, a decision with its media token.
///
/// As in v1's playback, decisions are cached, and no MVPD is asked.
final class V2PlaybackScript: PreparedScript {
    static let steps = ["profile", "decision"]
    let requests: [[[UInt8]]]

    init(_ setup: GatewaySetup) {
        requests = setup.devices.map { device in
            let client = setup.clients[device.client]
            return [
                setup.calls.get(v2: "profiles/\(FormEncoding.encode(setup.mvpdID))", client, device: device.id),
                setup.calls.decide("authorize", setup.mvpdID, setup.resource, client, device: device.id),
            ]
        }
    }
}

/// Flows D and E: a signed-in user opens the app: the configuration, the profiles, which channels are open.
final class V2AppStartScript: PreparedScript {
    static let steps = ["configuration", "profiles", "preauthorization"]
    let requests: [[[UInt8]]]

    init(_ setup: GatewaySetup) {
        requests = setup.devices.map { device in
            let client = setup.clients[device.client]
            return [
                setup.calls.get(v2: "configuration", client, device: device.id), setup.calls.get(v2: "profiles", client, device: device.id),
                setup.calls.decide("preauthorize", setup.mvpdID, setup.resource, client, device: device.id),
            ]
        }
    }
}

/// A visit whose calls are made before the measurement: one after the other, for a device that is signed in.
protocol PreparedScript: GatewayScript {
    /// By device, then by step.
    var requests: [[[UInt8]]] { get }
}

extension PreparedScript {
    func begin(_ visit: Visit) -> Step { next(visit) }

    func proceed(_ visit: Visit, _ answer: Answer) -> Step { visit.place < Self.steps.count ? next(visit) : .done }

    private func next(_ visit: Visit) -> Step {
        defer { visit.place += 1 }
        return visit.call(visit.place, requests[min(requests.count - 1, Int(visit.draw * Double(requests.count)))][visit.place])
    }
}

/// The clients, devices and tokens that the gateway scenarios need, made before the measurement.
struct GatewaySetup: Sendable {
    let calls: GatewayCalls
    /// Apps that registered, each with its access token; visits are dealt out to them in turn.
    let clients: [GatewayCalls.Client]
    /// Devices that are signed in.
    let devices: [Device]
    let mvpd: PlayedMvpd
    let mvpdID: String
    /// The MVPD's name on platforms.
    var platformID = "north-cable"
    /// The API that the app calls.
    var api = GatewayScenario.Api.v1
    let domain: String
    let resource: String
    /// Base URL of the gateway as apps see it.
    let gateway: String
    /// Tells the devices of this run from those of others.
    let run: String
    /// Signs requests, if a scenario needs it.
    var signer: RequestSigner?

    struct Device: Sendable {
        let id: String
        let client: Int
        /// The forms that an app on the vendor's SDK keeps: for a session's token, a permit's, and a play.
        var forms: [String] = []
    }

    func client(of visit: Visit) -> GatewayCalls.Client { clients[visit.number % clients.count] }

    /// A different person for each visit, at the same MVPD.
    func somebody(_ visit: Visit) -> PlayedMvpd.Subscriber { LoadMvpd.person("\(run)-\(visit.number)") }

    func sign(_ facts: AuthnRequestFacts, for visit: Visit) -> SignedAnswer {
        let (mvpd, somebody) = (mvpd, somebody(visit))
        return SignedAnswer { try mvpd.response(to: facts, for: somebody, now: Date()) }
    }
}
