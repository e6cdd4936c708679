internal import SandboxKit
internal import Clocks

/// The authentication sessions by their codes.
struct VendorSessions: Sendable {
    private struct Owner: Hashable {
        let client: String
        let device: DeviceIdentifier
        let serviceProvider: String
    }

    private var byCode = BoundedTable<String, VendorSession>(limit: 50_000)
    /// The newest code of each.
    private var newest = BoundedTable<Owner, String>(limit: 50_000)

    /// A new session replaces the unfinished one of the same client, device and service provider (rest-v2 D7).
    mutating func add(_ session: VendorSession) {
        let owner = Owner(client: session.client, device: session.device, serviceProvider: session.serviceProvider)
        if let old = newest[owner], byCode[old]?.finishedAt == nil { byCode[old] = nil }
        newest[owner] = session.code
        byCode[session.code] = session
    }

    mutating func change(_ session: VendorSession) { if byCode[session.code] != nil { byCode[session.code] = session } }

    /// The client of the device's newest session.
    func lastClient(of device: DeviceIdentifier) -> String? { byCode.values.last { $0.device == device }?.client }

    /// A code that nobody has.
    func freshCode() -> String {
        var code = RandomText.code()
        while byCode[code] != nil { code = RandomText.code() }
        return code
    }

    /// The session of a code in a path.
    /// - Throws: `invalid_parameter_code` when it cannot be a code, `invalid_authentication_session` when no session has it, or one that ended.
    func session(_ code: String, of serviceProvider: String, at now: Timestamp) throws(VendorRefusal) -> VendorSession {
        guard (6...8).contains(code.utf8.count), code.utf8.allSatisfy(Self.isLetterOrDigit) else { throw VendorRefusal(.invalidCode) }
        guard let session = byCode[code.uppercased()], session.serviceProvider == serviceProvider,
            session.finishedAt != nil || now < session.notAfter
        else { throw VendorRefusal(.invalidSession) }
        return session
    }

    private static func isLetterOrDigit(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
        default: false
        }
    }
}

/// An authentication session (rest-v2 §2.2).
struct VendorSession: Sendable {
    enum State: Sendable, Equatable {
        case open
        /// A login has ended well.
        case finished(at: Timestamp)
    }

    let code: String
    /// For tracking only.
    let id: String
    let serviceProvider: String
    /// The creator's, to which the profile will belong.
    let client: String
    let device: DeviceIdentifier
    let info: DeviceInfo
    let address: String
    let identities: [SsoIdentity]
    let notBefore: Timestamp
    let notAfter: Timestamp
    var mvpd: String?
    var domainName: String?
    var redirectURL: String?
    var state = State.open

    /// Names of what a login still needs.
    func missing(_ behaviour: VendorBehaviour) -> [String] {
        [("mvpd", mvpd), (behaviour.missingDomainName, domainName), ("redirectUrl", redirectURL)].filter { $0.1 == nil }.map(\.0)
    }

    var finishedAt: Timestamp? { if case .finished(let moment) = state { moment } else { nil } }
}
