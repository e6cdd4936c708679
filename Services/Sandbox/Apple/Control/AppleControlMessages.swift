internal import SandboxKit

/// Messages of the routes `/_control/…`; an unknown key is refused.
enum AppleControlMessages {
    struct Clock: Decodable {
        let offsetSeconds: Int64
    }

    struct Behaviour: Decodable {
        let keysMaxAgeSeconds: Int?
        /// 0: no limit.
        let validationsPerDay: Int?
        let syncDelaySeconds: Int64?
    }

    struct Keys: Decodable {
        enum Action: String, Decodable {
            case add, promote, drop, signUnpublished, publish
        }

        let action: Action
        /// For `promote`, `drop` and `publish`.
        let kid: String?
    }

    struct KeyState: Encodable {
        let kid: String
        let published: Bool
        let signing: Bool
    }

    struct Group: Decodable {
        struct Service: Decodable {
            let id: String
            let redirectURLs: [String]
        }

        let team: String
        let bundleIDs: [String]
        let servicesIDs: [Service]?
        let notificationURL: String?
    }

    struct Faults: Decodable {
        let endpoint: AppleEndpoint
        let faults: [AppleFault]
    }

    struct Token: Decodable {
        let account: String
        let bundleID: String
        let environment: AppleStore?
        let value: String?
        let authorization: AutoSignInAuthorization

        enum CodingKeys: String, CodingKey {
            case account, environment, value, authorization
            case bundleID = "bundleId"
        }
    }

    struct TokenState: Encodable {
        let account: String
        let bundleId: String
        let environment: AppleStore
        let value: String?
        let authorization: AutoSignInAuthorization
    }

    struct Transfer: Decodable {
        let group: String
        let team: String
        let acceptedSecondsAgo: Int64?
    }

    struct RefreshState: Encodable {
        let refreshToken: String
        let account: String
        let clientId: String
        let revoked: Bool
        /// It was validated or tried to be this often.
        let validations: Int
    }

    struct Person: Encodable {
        let account: String
        /// `sub` by team.
        let subjects: [String: String]
        let relayAddresses: [String: String]
    }

    struct Sent: Encodable {
        let jti: String
        let payload: String
        /// The statuses of the answers to the posts; 0: no answer.
        let statuses: [Int]
    }

    static let longestSpan: Int64 = 315_360_000

    /// A span of at most ten years, either way.
    static func span(_ seconds: Int64, _ key: String) throws(SettingsFault) -> Duration {
        guard (-longestSpan...longestSpan).contains(seconds) else { throw SettingsFault(key: key, problem: "is more than ten years") }
        return .seconds(seconds)
    }
}

extension AppleGroup {
    init(_ id: String, _ message: AppleControlMessages.Group) {
        self.init(
            id: id, team: message.team, bundleIDs: Set(message.bundleIDs),
            services: Dictionary((message.servicesIDs ?? []).map { ($0.id, $0.redirectURLs) }) { $1 }, notificationURL: message.notificationURL)
    }
}
