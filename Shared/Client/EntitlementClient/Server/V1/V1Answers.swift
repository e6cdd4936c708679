internal import Octets

/// The answers of rest-v1, as far as the library reads them.
enum V1Answers {
    /// §3.11.
    struct Session: Decodable {
        let mvpd: String
        let userId: String?
        let expires: ServerAnswers.Milliseconds
    }

    /// §3.4.
    struct Code: Decodable {
        struct Info: Decodable { let registrationURL: String? }

        let code: String
        let generated: ServerAnswers.Milliseconds
        let expires: ServerAnswers.Milliseconds
        let info: Info?
    }

    /// §3.14.
    struct Permission: Decodable { let expires: ServerAnswers.Milliseconds }

    /// §3.18.
    struct Media: Decodable {
        let serializedToken: String
        let mvpdId: String?
        let userId: String?
        let expires: ServerAnswers.Milliseconds?
    }

    /// §3.16.
    struct Decisions: Decodable {
        struct Item: Decodable {
            let id: String
            let authorized: Bool
            let error: ServerAnswers.Failure?
        }

        let resources: [Item]
    }

    /// §3.19.
    struct UserMetadata: Decodable {
        let encrypted: [String]?
        let data: [String: JSONValue]
    }
}
