internal import Octets

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
