internal import Clocks

/// An authentication session (rest-v2 §2.2).
struct UpstreamSession: Sendable {
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
    func missing(_ behaviour: UpstreamBehaviour) -> [String] {
        [("mvpd", mvpd), (behaviour.missingDomainName, domainName), ("redirectUrl", redirectURL)].filter { $0.1 == nil }.map(\.0)
    }

    var finishedAt: Timestamp? { if case .finished(let moment) = state { moment } else { nil } }
}
