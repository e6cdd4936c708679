internal import SandboxKit
internal import Synchronization

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
