internal import Foundation
internal import Octets

/// Answers that both versions of the API give in one form, as far as the library reads them.
enum ServerAnswers {
    /// rest-v1 §3.3, rest-v2 §2.1.
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

    /// rest-v1 §2.8, plain and enhanced; rest-v2 §3.
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

extension ServerAnswers.Failure {
    /// The code by the name that apps of the original SDK know: rest-v2 has new names for some (rest-v2 §6).
    var sdkCode: String? { code.map { Self.sdkNames[$0] ?? $0 } }

    private static let sdkNames = [
        "invalid_parameter_service_provider": "invalid_requestor", "invalid_integration": "unknown_integration",
        "invalid_header_device_info": "invalid_device_info", "invalid_header_device_identifier": "invalid_device_id",
        "invalid_parameter_resources": "missing_resource", "internal_server_error": "internal_error",
        "authenticated_profile_missing": "authentication_session_missing",
        "authenticated_profile_expired": "authentication_session_expired",
        "authenticated_profile_invalidated": "authentication_session_invalidated",
    ]
}

extension HTTPResponse {
    /// The body as an answer of these servers; `nil` when it is something else, for example a captive portal's page.
    func decoded<Answer: Decodable>(_ type: Answer.Type) -> Answer? { try? JSONDecoder().decode(type, from: body) }
}

/// A call to the servers has no usable answer for one of these reasons.
enum ServerFailure: Error, Sendable, Hashable {
    /// No connection, or it broke off.
    case unreachable(String)
    /// TLS cannot be trusted.
    case insecure(String)
    /// The software statement is invalid or revoked; the server's code.
    case statementRefused(String)
    /// The registration or token call failed in another way.
    case noAccessToken(String)
    /// Too many calls.
    case throttled
    /// HTTP 5xx.
    case unavailable(status: Int)
    /// A response that is not from these servers, for example a captive portal's page.
    case unexpectedAnswer(String)

    init(_ failure: TransportFailure) {
        self =
            switch failure.kind {
            case .unreachable: .unreachable(failure.reason)
            case .insecure: .insecure(failure.reason)
            }
    }

    /// For developers.
    var details: String {
        switch self {
        case .unreachable(let reason), .insecure(let reason), .unexpectedAnswer(let reason), .noAccessToken(let reason): reason
        case .statementRefused(let code): code
        case .throttled: "429"
        case .unavailable(let status): "\(status)"
        }
    }
}

extension PreauthorizationStatus {
    init(_ failure: ServerFailure) {
        switch failure {
        case .noAccessToken, .statementRefused: self = .noAccessToken
        case .unreachable, .insecure: self = .networkError
        case .unexpectedAnswer: self = .unknownFormat
        case .throttled: self.init(status: 429, code: "too_many_requests", action: .retryAfter)
        case .unavailable(let status): self.init(status: status, code: "internal_error", action: .retry)
        }
    }

    /// - Parameter answer: An answer of another status than 200.
    init(_ answer: HTTPResponse) {
        if answer.status == 429 {
            self.init(ServerFailure.throttled)
        } else if let failure = answer.decoded(ServerAnswers.Failure.self) {
            self.init(failure, httpStatus: answer.status)
        } else {
            self.init(
                status: answer.status, code: answer.status >= 500 ? "internal_error" : "server_response_format_unknown", action: .none)
        }
    }

    init(_ failure: ServerAnswers.Failure, httpStatus: Int) {
        self.init(
            status: failure.status ?? httpStatus, code: failure.sdkCode ?? "",
            action: failure.action.flatMap(PreauthorizationStatus.Action.init) ?? .none,
            message: failure.message, details: failure.details, helpURL: failure.helpUrl, trace: failure.trace)
    }
}
