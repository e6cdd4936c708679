internal import SandboxKit
internal import Clocks
internal import Synchronization

/// A simulated Apple account's facts about its TV provider.
struct PlatformAccount: Sendable, Equatable {
    /// The app's permission to ask for the person's subscription (`VSAccountAccessStatus`).
    enum Access: String, Sendable, Codable {
        case notDetermined, restricted, denied, granted
    }

    var access = Access.notDetermined
    /// The platform's own name of the provider at which the person is signed in; nil: at none.
    var provider: String?
    /// The provider's subscriber.
    var person = "ada"
    /// The provider's login ends at this time.
    var authenticatedUntil: Timestamp?
    /// The person's choice when the platform may ask: a provider's name; nil: nothing, or "other provider".
    var pick: String?
    /// The error code with which every request for metadata ends (`VSError.Code`); nil: none.
    var error: Int?
    var flaw: PlatformFlaw?

    /// A login made in the platform's settings lasts for this long.
    static let loginLifetime = Duration.seconds(30 * 24 * 3600)
}

extension PlatformAccount {
    /// Reads the state of an account; each key is optional and has the value above without it.
    /// - Parameter now: From when `authenticationSeconds` counts; they may be negative.
    init(json: [UInt8], now: Timestamp) throws(SettingsFault) {
        let message = try SettingsFault.decode(Message.self, from: json)
        access = message.access ?? .notDetermined
        provider = message.provider
        person = message.person ?? "ada"
        let seconds = message.authenticationSeconds ?? 86_400
        guard (-31_536_000...31_536_000).contains(seconds) else { throw SettingsFault(key: "authenticationSeconds", problem: "is more than a year") }
        authenticatedUntil = provider == nil ? nil : now + .seconds(seconds)
        pick = message.pick
        error = message.error
        flaw = message.flaw
    }

    private struct Message: Decodable {
        let access: Access?
        let provider: String?
        let person: String?
        let authenticationSeconds: Int?
        let pick: String?
        let error: Int?
        let flaw: PlatformFlaw?
    }
}

/// The simulated Apple accounts by name.
final class PlatformAccounts: Sendable {
    /// Most accounts that are kept; the oldest goes first.
    static let limit = 10_000

    private struct State {
        var accounts: [String: PlatformAccount] = [:]
        var order: [String] = []
    }

    private let state = Mutex(State())

    /// - Returns: A new account for a name that was never set.
    func account(_ name: String) -> PlatformAccount { state.withLock { $0.accounts[name] ?? PlatformAccount() } }

    func set(_ account: PlatformAccount, for name: String) {
        state.withLock { state in
            if state.accounts.updateValue(account, forKey: name) == nil { state.order.append(name) }
            if state.order.count > Self.limit { state.accounts[state.order.removeFirst()] = nil }
        }
    }
}

/// The flaws between a platform and an MVPD, on demand (mvpd §2.8, §5 item 2).
enum PlatformFlaw: String, Sendable, Decodable {
    /// A new login has already expired.
    case expiredLogin
    /// Metadata without the MVPD's answer.
    case noAnswer
    /// The account turns out to be another provider's.
    case otherProvider
    /// The MVPD's answer is a refusal.
    case declined
    case unsigned
    /// Signed by another MVPD's key.
    case foreignSigner
    /// An hour old.
    case stale
    /// It answers a request that was never made.
    case foreignRequest
    /// It is meant for another service provider.
    case foreignAudience
    /// One of the attributes that were asked for is left out.
    case missingAttribute
    /// Line breaks and blanks inside the signed content: valid, unless an app collapses white space.
    case prettyPrinted
    /// Line breaks between the attributes of an element: no well-formed XML after an app removes them.
    case brokenAttributes
    /// White space around the message only: an app may remove it.
    case surroundingSpace
}
