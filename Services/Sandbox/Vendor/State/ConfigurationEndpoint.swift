internal import Clocks
internal import SandboxKit
internal import Synchronization

/// `GET /api/v2/{sp}/configuration` (rest-v2 §2.1).
struct ConfigurationEndpoint: Sendable {
    let memory: VendorMemory

    private struct Domain: Encodable {
        let name: String
        let mvpdInitiated = false
    }

    private struct Mvpd: Encodable {
        let id: String
        let displayName: String
        let logoUrl: String
        let isTempPass: Bool
        let isProxy: Bool
        let authPerAggregator = false
        let passiveAuthnEnabled = false
        let authPerBrowserSession = false
        var boardingStatus: String?
        var platformMappingId: String?
        var enablePlatformServices: Bool?
        var displayInPlatformPicker: Bool?
        var enforcePlatformPermissions: Bool?
    }

    private struct Requestor: Encodable {
        let id: String
        let name: String
        let domains: [Domain]
        let mvpds: [Mvpd]
    }

    private struct Body: Encodable {
        let device: String
        let clientType: String
        let os: String
        /// Milliseconds.
        let time: Int64
        let requestor: Requestor
    }

    func answer(_ call: VendorCall) throws -> VendorAnswer {
        let body: Body = try memory.access { state in
            let serviceProvider = try VendorCaller(call, state).serviceProvider
            let info = try DeviceInfo(header: call.header("x-device-info"))
            return Body(
                device: info["primaryHardwareType"] ?? "Unknown", clientType: "unknown", os: info["osName"] ?? "unknown",
                time: call.now.milliseconds,
                requestor: Requestor(
                    id: serviceProvider.id, name: serviceProvider.name, domains: serviceProvider.domains.map { Domain(name: $0) },
                    mvpds: state.catalogue.offered(by: serviceProvider.id).map { Self.listed($0, isApple: info.isApple) }))
        }
        return try .json(body, outcome: "configuration")
    }

    /// Apple's platform alone is told what it signs in to.
    private static func listed(_ mvpd: VendorCatalogue.Mvpd, isApple: Bool) -> Mvpd {
        var listed = Mvpd(
            id: mvpd.id, displayName: mvpd.displayName, logoUrl: mvpd.logoUrl ?? "https://img.sandbox.example/\(mvpd.id).png",
            isTempPass: mvpd.tempPass != nil, isProxy: mvpd.isProxy)
        guard isApple, let platformID = mvpd.platformMappingId else { return listed }
        listed.boardingStatus = mvpd.boardingStatus
        listed.platformMappingId = platformID
        listed.enablePlatformServices = mvpd.boardingStatus == "SUPPORTED"
        listed.displayInPlatformPicker = mvpd.boardingStatus != nil
        listed.enforcePlatformPermissions = false
        return listed
    }
}

/// The whole state of the stand-in vendor, changed as one value.
struct VendorState: Sendable {
    var catalogue = VendorCatalogue.demo
    var behaviour = VendorBehaviour()
    var registry = ClientRegistry()
    var throttle = VendorThrottle()
    var sessions = VendorSessions()
    var profiles = VendorProfiles()
    var trials = TempPassTrials()
    var permits = VendorPermits()
    var rules: [DegradationRule] = []
    var scripted: [ScriptedDecision] = []
    var identities = SsoIdentities()
    var partnerRequests = PartnerRequests()
    /// Questions to the MVPDs' decision points.
    var mvpdQuestions = 0

    init() {}
}

/// Holds the state; each access sees and leaves it whole.
final class VendorMemory: Sendable {
    private let content: Mutex<VendorState>
    private let start: VendorState

    init(_ state: VendorState) {
        start = state
        content = Mutex(state)
    }

    func access<Value>(_ body: (inout VendorState) throws -> Value) rethrows -> Value {
        try content.withLock { state in try body(&state) }
    }

    /// Everything as at the start: clients, profiles and settings are forgotten.
    func reset() { content.withLock { $0 = start } }
}

/// Ids and secrets of the stand-in vendor.
enum RandomText {
    /// Without characters that people mistake for others.
    private static let letters = Array("ABCDEFGHJKMNPQRSTUVWXYZ23456789")

    /// An authentication code: 7 letters and digits (rest-v2 D7).
    static func code() -> String { String((0..<7).map { _ in letters[Int.random(in: letters.indices)] }) }

    /// Hexadecimal digits of so many random octets.
    static func hexadecimal(octets: Int) -> String { Hexadecimal.text((0..<octets).map { _ in UInt8.random(in: .min ... .max) }) }
}
