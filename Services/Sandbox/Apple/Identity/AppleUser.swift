internal import SandboxKit

/// A person with an Apple Account, and what tokens say about them.
struct AppleUser: Sendable, Equatable {
    /// What tokens say about mail.
    enum Mail: String, Sendable, Decodable {
        case real
        /// The address that Apple forwards from.
        case relay
        case missing
        /// The claim is there and empty, as for Work & School.
        case empty
    }

    /// How flags of mail are written.
    enum Flags: String, Sendable, Decodable {
        case boolean
        /// As `"true"` and `"false"`.
        case text
    }

    enum NonceSupport: String, Sendable, Decodable {
        case supported
        /// `nonce_supported` is false, and the nonce does not come back.
        case unsupported
        /// No claim about nonces at all.
        case unstated
        /// `nonce_supported` is true, and yet the nonce does not come back.
        case dropped
    }

    /// What a device reports about the person's authorization.
    enum CredentialState: String, Sendable, Codable {
        case authorized, revoked, notFound, transferred
    }

    let account: String
    var email: String
    var mail = Mail.real
    var isVerified = true
    var flags = Flags.boolean
    /// 0 to 2, told on the first use in an app.
    var realUserStatus = 2
    var nonce = NonceSupport.supported
    var givenName: String?
    var familyName: String?
    /// nil: as it is.
    var credentialState: CredentialState?

    init(account: String) {
        self.account = account
        email = "\(account)@example.com"
        givenName = account.prefix(1).uppercased() + account.dropFirst()
        familyName = "Sandbox"
    }
}

extension AppleUser {
    /// Reads how a person is to be; each key is optional.
    init(account: String, json: [UInt8]) throws(SettingsFault) {
        self.init(account: account)
        let message = try SettingsFault.decode(Message.self, from: json)
        email = message.email ?? email
        mail = message.mail ?? mail
        isVerified = message.verified ?? isVerified
        flags = message.flags ?? flags
        realUserStatus = message.realUserStatus ?? realUserStatus
        nonce = message.nonce ?? nonce
        givenName = message.givenName ?? givenName
        familyName = message.familyName ?? familyName
        credentialState = message.credentialState
        guard (0...2).contains(realUserStatus) else { throw SettingsFault(key: "realUserStatus", problem: "is not from 0 to 2") }
    }

    private struct Message: Decodable {
        let email: String?
        let mail: Mail?
        let verified: Bool?
        let flags: Flags?
        let realUserStatus: Int?
        let nonce: NonceSupport?
        let givenName: String?
        let familyName: String?
        let credentialState: CredentialState?
    }
}
