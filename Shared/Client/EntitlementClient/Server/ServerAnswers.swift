internal import Foundation

/// The answers of rest-v1, as far as the library reads them.
enum ServerAnswers {
    /// §3.3.
    struct Configuration: Decodable {
        struct Domain: Decodable { let name: String }

        struct Mvpd: Decodable {
            let id: String
            let displayName: String?
            let logoUrl: String?
            let enablePlatformServices: Bool?
            let boardingStatus: String?
            let displayInPlatformPicker: Bool?
            let platformMappingId: String?
            let requiredMetadataFields: [String]?
            let isTempPass: Bool?
            let requiresSafariViewController: Bool?

            var provider: Provider {
                var provider = Provider(id: Provider.ID(id), displayName: displayName ?? id)
                provider.logoURL = logoUrl.flatMap { URL(string: $0) }
                provider.enablePlatformServices = enablePlatformServices ?? false
                provider.boardingStatus = boardingStatus.flatMap(Provider.BoardingStatus.init)
                provider.displayInPlatformPicker = displayInPlatformPicker ?? false
                provider.platformMappingID = platformMappingId
                provider.requiredMetadataFields = requiredMetadataFields ?? []
                provider.isTempPass = isTempPass ?? false
                provider.requiresSafariViewController = requiresSafariViewController ?? false
                return provider
            }
        }

        struct Requestor: Decodable {
            let domains: [Domain]?
            let mvpds: [Mvpd]
        }

        let requestor: Requestor
    }

    /// §3.11.
    struct Session: Decodable {
        let mvpd: String
        let userId: String?
        let expires: Milliseconds
    }

    /// §3.4.
    struct Code: Decodable {
        struct Info: Decodable { let registrationURL: String? }

        let code: String
        let generated: Milliseconds
        let expires: Milliseconds
        let info: Info?
    }

    /// §3.14.
    struct Permission: Decodable { let expires: Milliseconds }

    /// §3.18.
    struct Media: Decodable {
        let serializedToken: String
        let mvpdId: String?
        let userId: String?
        let expires: Milliseconds?
    }

    /// §3.16.
    struct Decisions: Decodable {
        struct Item: Decodable {
            let id: String
            let authorized: Bool
            let error: Failure?
        }

        let resources: [Item]
    }

    /// §3.19.
    struct UserMetadata: Decodable {
        let encrypted: [String]?
        let data: [String: JSONValue]
    }

    /// §2.8, plain and enhanced.
    struct Failure: Decodable {
        let status: Int?
        let code: String?
        let action: String?
        let message: String?
        let details: String?
        let helpUrl: String?
        let trace: String?
    }

    /// Time since 1970 in milliseconds, as a number or in digits.
    struct Milliseconds: Decodable {
        let date: Date

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            let number = try (try? container.decode(Double.self)) ?? Double(container.decode(String.self))
            // Up to the end of the year 9999: later dates are not valid everywhere.
            guard let number, (0...253_402_300_799_999).contains(number) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "no milliseconds")
            }
            date = Date(timeIntervalSince1970: number / 1000)
        }
    }
}

extension HTTPResponse {
    /// The body as an answer of these servers; `nil` when it is something else, for example a captive portal's page.
    func decoded<Answer: Decodable>(_ type: Answer.Type) -> Answer? { try? JSONDecoder().decode(type, from: body) }
}
