internal import Foundation
internal import Octets

/// The answers of rest-v2, as far as the library reads them.
enum V2Answers {
    /// §2.2, §2.12.
    struct Session: Decodable {
        struct AuthenticationRequest: Decodable {
            let request: String
            let attributesNames: [String]?
        }

        let actionName: String
        let reasonType: String?
        let url: String?
        let code: String?
        let notBefore: ServerAnswers.Milliseconds?
        let notAfter: ServerAnswers.Milliseconds?
        let authenticationRequest: AuthenticationRequest?
    }

    /// §2.6 to §2.8, §2.13.
    struct Profiles: Decodable {
        /// By provider.
        let profiles: [OctetText: Profile]
    }

    struct Profile: Decodable {
        let notBefore: ServerAnswers.Milliseconds?
        let notAfter: ServerAnswers.Milliseconds
        let type: String?
        let attributes: [String: Attribute]?
    }

    struct Attribute: Decodable {
        let value: JSONValue?
        let state: String?

        /// The reference writes it in two ways.
        var isEncrypted: Bool { state == "enc" || state == "encrypted" }
    }

    /// §2.9, §2.10.
    struct Decisions: Decodable {
        struct Token: Decodable {
            let notAfter: ServerAnswers.Milliseconds?
            let serializedToken: String
        }

        struct Item: Decodable {
            let resource: String
            let authorized: Bool
            let mvpd: String?
            let source: String?
            let notAfter: ServerAnswers.Milliseconds?
            let token: Token?
            let error: ServerAnswers.Failure?
        }

        let decisions: [Item]
    }

    /// §2.11.
    struct Logouts: Decodable {
        struct Logout: Decodable {
            let actionName: String
            let url: String?
        }

        /// By provider.
        let logouts: [OctetText: Logout]
    }
}

extension V2Answers.Profile {
    var source: Session.Source {
        switch type {
        case "appleSSO": .apple
        case "temporary": .tempPass
        case "degraded": .degraded
        default: .regular
        }
    }

    /// The device takes a session without the provider as good for this long, from when the server showed it. Its profile is good for a minute or so,
    /// and not needed for a decision (§5 K). The first refusal ends it.
    private static let degradedLifetime: TimeInterval = 3600

    /// The session ends at this time.
    var end: Date {
        guard source == .degraded, let start = notBefore?.date else { return notAfter.date }
        return max(notAfter.date, start.addingTimeInterval(Self.degradedLifetime))
    }

    /// The person at a provider. The ids of trials and of sessions without the provider are the server's own.
    func userID(at provider: String) -> String {
        let id =
            switch attributes?["userID"]?.value {
            case .string(let text): text
            case .integer(let number): "\(number)"
            default: ""
            }
        guard !id.isEmpty, source == .regular || source == .apple else { return id }
        return ScrambledID.make(provider, id)
    }

    var metadata: UserMetadata {
        let attributes = attributes ?? [:]
        return UserMetadata(values: attributes.compactMapValues(\.value), encrypted: Set(attributes.filter(\.value.isEncrypted).keys))
    }
}

/// Names a person for analytics without the provider's own id, which profiles of rest-v2 hold in clear (client-sdk §1.5: any stable hash).
enum ScrambledID {
    /// - Returns: SHA-256 of both ids, in hex.
    static func make(_ provider: String, _ person: String) -> String {
        let text = Data(provider.utf8) + Data([0]) + Data(person.utf8)
        return Hashes.sha256(text).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0\(digits)" : digits
        }.joined()
    }
}
